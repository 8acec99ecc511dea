"""The loop: ask the model, run what it asks for, and decide whether to go on.

Async generators of events. They own no task and no cancel scope: the executor's tasks live in
the session's task group, and a cancel arrives here as an exception at any `await`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field, replace

from sidelight.agent.batch import after_batch
from sidelight.agent.executor import ToolExecutor
from sidelight.agent.limits import steps_reached, target_reached, target_told
from sidelight.agent.recovery import after_failure, after_message, kept, refused_places
from sidelight.agent.sampling import after_sampling, before_sampling
from sidelight.agent.state import Again, State, Stop
from sidelight.agent.stopping import at_failure, at_stop
from sidelight.agent.stream import Response, receive
from sidelight.agent.turn import Turn
from sidelight.core.events import (
    Event,
    HistoryRepaired,
    MessageAdded,
    MessageDropped,
    Notice,
    RetryScheduled,
    StepStarted,
    TurnEnded,
    TurnStarted,
)
from sidelight.core.ids import new_id
from sidelight.core.messages import Attachment, Message, Usage
from sidelight.core.model import ModelRequest
from sidelight.model.catalog import card
from sidelight.model.retry import slices


@dataclass(slots=True)
class _Step:
    """One round on its way through the stages: the state that it began with, and what came of it.

    `decision` is set by the stage that ends the round, `halts` says why hooks end the turn.
    """

    state: State
    response: Response = field(default_factory=Response)
    request: ModelRequest | None = None
    decision: Again | Stop | None = None
    halts: list[str] = field(default_factory=list[str])


async def run_turn(turn: Turn, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """Run one turn; the last event is TurnEnded unless the turn is cancelled.

    Each MessageAdded has already joined `turn.history`. To be closed by whoever iterates it.
    """
    yield TurnStarted(turn_id=turn.id, prompt_id=turn.prompt_id)
    state = State(
        model=turn.model_name,
        fallbacks=turn.bounds.fallbacks,
        repairs=turn.repairs,
        fast=turn.bounds.fast,
    )
    while True:
        step = _Step(state, Response(continues=state.continues))
        for stage in STAGES:
            if step.decision is None:
                async for event in stage(turn, step, executor):
                    yield event
        if isinstance(step.decision, Stop):
            break
        if step.decision is not None:
            state = step.decision.state
    async for event in at_failure(turn, step.decision):
        yield event
    yield TurnEnded(
        turn_id=turn.id,
        reason=step.decision.reason,
        usage=_usage_after(step),
        steps=step.state.step,
        error=step.decision.error,
    )


async def _collect(turn: Turn, step: _Step, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """What has arrived joins the history: reminders, changed files, prompts."""
    await turn.unpaused()
    if step.state.transition == "pause_turn":
        return  # a paused answer goes back as it is, with nothing behind it
    arrived = await turn.arrivals()
    for message in arrived.messages:
        yield _add(turn, message)
    if arrived.refused is not None:
        step.decision = Stop("blocked", arrived.refused)
    elif step.state.step == 0 and step.state.transition == "prompt" and turn.bounds.token_target:
        yield _remind(turn, "token_target", target_told(turn.bounds.token_target))


async def _fit(turn: Turn, step: _Step, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """The request, in the form and the size that the provider takes, if it may be paid for."""
    too_dear = await turn.may_spend()
    if too_dear is not None:
        step.decision = Stop("budget", too_dear)
        return
    step.state = state = replace(step.state, step=step.state.step + 1)
    step.request = ModelRequest(
        model=state.model,
        system=turn.system,
        tools=turn.specs,
        messages=turn.sent.messages(
            turn.history,
            struck=state.repairs.struck,
            without_thinking=state.repairs.without_thinking,
            tool_search=_searches(turn, state.model),
        ),
        max_output_tokens=state.larger_output,
        effort=turn.effort,
        fast=state.fast,
    )
    yield StepStarted(step=state.step, model=state.model, transition=state.transition)
    async for event in before_sampling(turn, step.request, step.halts):
        yield event
    if step.halts:
        step.decision = Stop("blocked", step.halts[0])


def _searches(turn: Turn, model: str) -> bool:
    """Whether the model may be referred to a tool whose definition it has not seen."""
    return "deferred_tools" in card(model).features and any(s.deferred for s in turn.specs)


async def _call(turn: Turn, step: _Step, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """The model speaks; its calls start while it does."""
    executor.begin(step.response, _receiver(turn, step, executor), turn.bounds.quiet_s)
    async for event in executor.events():
        yield event
    if step.request is not None:
        async for event in after_sampling(turn, step.request, step.response, step.halts):
            yield event


async def _recover(turn: Turn, step: _Step, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """What the answer leaves in the history, also if it broke off; the rest is void."""
    message = kept(step.state, step.response, turn.card(step.state.model))
    if message is not None:
        executor.mark_recorded()
        yield _add(turn, message)
        return
    executor.forget()
    if step.response.shown:
        yield MessageDropped(message_id=step.response.id)
    discarded = step.response.discarded()
    if discarded is not None:
        yield discarded


async def _run_tools(
    turn: Turn, step: _Step, executor: ToolExecutor
) -> AsyncGenerator[Event, None]:
    """The calls end, and their results join in the order of the calls."""
    async for event in executor.settle():
        yield event
    if executor.has_calls:
        joined: list[Message] = []
        said: list[str] = []
        for message in executor.results():
            joined.append(message)
            yield _add(turn, message)
        async for event in after_batch(turn, step.response.closed, joined, said, step.halts):
            yield event
        for text in said:
            yield _remind(turn, "hook", text)
    for text in turn.repeats.take_reminders():
        yield _remind(turn, "repeated_call", text)


async def _decide(turn: Turn, step: _Step, executor: ToolExecutor) -> AsyncGenerator[Event, None]:
    """Go on, ask again, or stop; whoever may object is heard, and the wait is in sight."""
    decision = _next(turn, step, executor)
    executor.forget()
    objections: list[str] = []
    if isinstance(decision, Stop) and decision.reason == "completed":
        async for event in at_stop(turn, step.state, step.response.message, objections):
            yield event
    for text in objections:
        yield _remind(turn, "stop_hook", text)
    if objections:
        blocks = step.state.stop_blocks + 1
        calm = replace(step.state, usage=_usage_after(step), retries=0, overloads=0, continues="")
        decision = Again(replace(calm, transition="stop_hook", stop_blocks=blocks))
    if decision.notice is not None:
        yield Notice(severity="warning", text=decision.notice)
    step.decision = decision
    if isinstance(decision, Again):
        async for event in _prepare_next(turn, step.state, decision):
            yield event


STAGES = (_collect, _fit, _call, _recover, _run_tools, _decide)
"""A step from top to bottom."""


async def _prepare_next(turn: Turn, state: State, decision: Again) -> AsyncGenerator[Event, None]:
    if decision.state.repairs != state.repairs:
        yield HistoryRepaired(repairs=decision.state.repairs)
    if decision.reminder is not None:
        yield _remind(turn, "recovery", decision.reminder)
    if decision.cause is not None:
        for left, part in slices(decision.delay_s):
            retries = decision.state.retries
            yield RetryScheduled(attempt=retries, delay_s=left, cause=decision.cause)
            await turn.sleep(part)


def _receiver(turn: Turn, step: _Step, executor: ToolExecutor) -> Callable[[], Awaitable[None]]:
    request = step.request
    assert request is not None  # the stage before made it

    async def run() -> None:
        await receive(step.response, turn.model, request, executor.emit, executor.submit)

    return run


def _next(turn: Turn, step: _Step, executor: ToolExecutor) -> Again | Stop:
    state, response = step.state, step.response
    stopped = executor.stopped
    if stopped is not None:
        return Stop("blocked", stopped or None)
    if step.halts:
        return Stop("blocked", step.halts[0])
    if response.message is None:
        sent = step.request.messages if step.request is not None else ()
        struck = refused_places(response.error, sent, turn.history, state)
        return after_failure(state, response, turn.bounds.backoff, struck)
    decision = after_message(state, response.message, turn.card(state.model))
    if isinstance(decision, Stop):
        return decision
    if state.step >= turn.bounds.max_steps:
        return Stop("max_steps", steps_reached(state.step))
    target, spent = turn.bounds.token_target, decision.state.usage.output_tokens
    if target is not None and spent >= target:
        return Stop("budget", target_reached(target, spent, state.step))
    return decision


def _usage_after(step: _Step) -> Usage:
    return step.state.usage + step.response.spent


def _add(turn: Turn, message: Message) -> MessageAdded:
    turn.history.append(message)
    return MessageAdded(message=message)


def _remind(turn: Turn, kind: str, text: str) -> MessageAdded:
    return _add(turn, Attachment(id=new_id(), kind=kind, text=text))
