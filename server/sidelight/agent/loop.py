"""The loop: ask the model, run what it asks for, and decide whether to go on.

Async generators of events. They own no task and no cancel scope: the executor's tasks live in
the session's task group, and a cancel arrives here as an exception at any `await`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

import anyio

from sidelight.agent.executor import ToolExecutor
from sidelight.agent.recovery import Again, State, Stop, after_failure, after_message
from sidelight.agent.stream import Response, receive
from sidelight.agent.turn import Turn
from sidelight.core.events import (
    Event,
    MessageAdded,
    MessageDropped,
    RetryScheduled,
    StepStarted,
    TurnEnded,
    TurnStarted,
)
from sidelight.core.ids import new_id
from sidelight.core.messages import AssistantMessage, Attachment, Message, Usage
from sidelight.core.model import ModelRequest


async def run_turn(turn: Turn, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """Run one turn; the last event is TurnEnded unless the turn is cancelled.

    Each MessageAdded has already joined `turn.history`. To be closed by whoever iterates it.
    """
    state, usage = State(), Usage()
    yield TurnStarted(turn_id=turn.id, prompt_id=turn.prompt_id)
    while True:
        for message in await turn.arrivals():
            yield _add(turn, message)
        state = replace(state, step=state.step + 1)
        yield StepStarted(step=state.step, model=turn.model_name)
        response = Response()
        async for event in _step(turn, executor, response):
            yield event
        if response.message is not None:
            usage += response.message.usage
        decision = _decide(turn, state, response, executor)
        executor.forget()
        if isinstance(decision, Stop):
            break
        state = decision.state
        if decision.reminder is not None:
            yield _add(turn, Attachment(id=new_id(), kind="recovery", text=decision.reminder))
        if decision.cause is not None:
            wait = decision.delay_s
            yield RetryScheduled(attempt=state.retries, delay_s=wait, cause=decision.cause)
            await anyio.sleep(wait)
    yield TurnEnded(
        turn_id=turn.id,
        reason=decision.reason,
        usage=usage,
        steps=state.step,
        error=decision.error,
    )


async def _step(
    turn: Turn, executor: ToolExecutor, response: Response
) -> AsyncGenerator[Event, None]:
    """One model call with its tools; the calls start while the model still speaks."""
    executor.begin(response, _receiver(turn, response, executor))
    async for event in executor.events():
        yield event
    message = response.message or _kept(response)
    if message is not None:
        executor.mark_recorded()
        yield _add(turn, message)
    elif response.shown:
        yield MessageDropped(message_id=response.id)
    async for event in executor.settle():
        yield event
    if executor.has_calls:
        for message in executor.results():
            yield _add(turn, message)


def _receiver(
    turn: Turn, response: Response, executor: ToolExecutor
) -> Callable[[], Awaitable[None]]:
    request = ModelRequest(
        model=turn.model_name,
        system=turn.system,
        tools=turn.specs,
        messages=turn.sent.messages(turn.history),
        effort=turn.effort,
    )

    async def run() -> None:
        await receive(response, turn.model, request, executor.emit, executor.submit)

    return run


def _kept(response: Response) -> AssistantMessage | None:
    """Of a broken response: what was acted on stays; mere text is asked for again."""
    if any(block.type == "tool_use" for block in response.closed):
        return response.salvage("cut_off")
    return None


def _decide(turn: Turn, state: State, response: Response, executor: ToolExecutor) -> Again | Stop:
    if executor.stopped:
        return Stop("blocked")
    if response.message is None:
        return after_failure(state, response)
    decision = after_message(state, response.message, has_calls=executor.has_calls)
    if isinstance(decision, Again) and state.step >= turn.max_steps:
        return Stop("max_steps", f"Stopped after {state.step} steps, the limit of a turn.")
    return decision


def _add(turn: Turn, message: Message) -> MessageAdded:
    turn.history.append(message)
    return MessageAdded(message=message)
