"""The hooks at the end of a turn: Stop may object, StopFailure is only told."""

from collections.abc import AsyncGenerator, Iterator

from sidelight.agent.state import State, Stop
from sidelight.agent.turn import Turn
from sidelight.core.content import Json
from sidelight.core.events import Event, Notice
from sidelight.core.messages import AssistantMessage
from sidelight.hooks.outcome import HookOutcome


async def at_stop(
    turn: Turn, state: State, message: AssistantMessage | None, objections: list[str]
) -> AsyncGenerator[Event, None]:
    """Fire Stop; what the model is to hear instead of an end is put into `objections`.

    After as many objections in a row as the turn bears, with no call between them, it ends.
    """
    fields: Json = {"stop_hook_active": state.stop_blocks > 0}
    if message is not None and message.text:
        fields["last_assistant_message"] = message.text
    outcome = await turn.hooks.fire("Stop", fields, "")
    for event in told(outcome):
        yield event
    if outcome.stop is not None:
        yield Notice(severity="info", text=f"A Stop hook ended the turn: {outcome.stop}")
        return
    said = [f"A Stop hook objects to ending here: {outcome.block}"] if outcome.block else []
    said += [f"A Stop hook says: {text}" for text in outcome.contexts]
    cap = turn.bounds.stop_hook_cap
    if said and cap and state.stop_blocks >= cap:
        text = f"Stop hooks objected {cap} times in a row; the turn ends all the same."
        yield Notice(severity="warning", text=text)
        return
    objections += said


async def at_failure(turn: Turn, end: Stop) -> AsyncGenerator[Event, None]:
    """Fire StopFailure for a turn whose request failed for good."""
    if end.reason != "failed":
        return
    error = end.error or end.failure
    fields: Json = {
        "error": end.failure or "unknown",
        "error_details": error,
        "last_assistant_message": error,
    }
    outcome = await turn.hooks.fire("StopFailure", fields, end.failure)
    for event in told(outcome):
        yield event


def told(outcome: HookOutcome) -> Iterator[Event]:
    """What a person hears of hooks that ran."""
    yield from outcome.runs
    for text in outcome.messages:
        yield Notice(severity="info", text=text)
