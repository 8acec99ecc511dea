"""What the loop does after a response: go on, end, or ask again after a failure."""

import random
from dataclasses import dataclass, replace

from sidelight.agent.stream import Response
from sidelight.core.errors import ModelError
from sidelight.core.events import EndReason
from sidelight.core.messages import AssistantMessage
from sidelight.model.retry import delay

MAX_CONTINUATIONS = 3
CONTINUE = (
    "Your answer was cut off at the output limit. Go on exactly where it stopped, without "
    "repeating anything and without an apology."
)
BROKEN_OFF = (
    "The connection broke off in the middle of your answer. What had arrived is above, and the "
    "calls in it were run. Go on from there."
)


CONTEXT_FULL = (
    "The conversation no longer fits the model's window. Start a new conversation, "
    "or choose a model with a larger window."
)


@dataclass(frozen=True, slots=True)
class State:
    """Where a turn stands; replaced whole at each step, `transition` says why."""

    step: int = 0
    transition: str = "prompt"
    retries: int = 0
    continuations: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """Ask again after `delay_s`; `reminder` is told to the model."""

    state: State
    delay_s: float = 0.0
    reminder: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The turn is over."""

    reason: EndReason
    error: str | None = None


ENDS = {
    "max_tokens": Stop("failed", "The answer was cut off at the output limit several times."),
    "refusal": Stop("blocked", "The model declined to answer this."),
    "model_context_window_exceeded": Stop("failed", CONTEXT_FULL),
}


def after_message(state: State, message: AssistantMessage, *, has_calls: bool) -> Again | Stop:
    """What follows a complete response."""
    calm = replace(state, retries=0)
    if has_calls:
        return Again(replace(calm, transition="tools", continuations=0))
    if message.stop_reason == "pause_turn":
        return Again(replace(calm, transition="paused"))
    if message.stop_reason == "max_tokens" and state.continuations < MAX_CONTINUATIONS:
        further = replace(calm, transition="cut_at_limit", continuations=state.continuations + 1)
        return Again(further, reminder=CONTINUE)
    return ENDS.get(message.stop_reason, Stop("completed"))


def after_failure(state: State, response: Response) -> Again | Stop:
    """What follows a response that failed; a part that was acted on is kept by the caller."""
    error = response.error or ModelError("unknown", "The model gave no answer.")
    if error.kind == "context_too_long":
        return Stop("failed", CONTEXT_FULL)
    wait = delay(state.retries, error, random.random)
    if wait is None:
        return Stop("failed", error.message)
    acted = any(block.type == "tool_use" for block in response.closed)
    again = replace(
        state,
        # A try without an answer is no step: the limit counts what the model did.
        step=state.step if acted else state.step - 1,
        transition=f"retry:{error.kind}",
        retries=state.retries + 1,
    )
    return Again(again, delay_s=wait, reminder=BROKEN_OFF if acted else None, cause=error.message)
