"""What the loop does after a response: every way to go on, to ask again, or to end."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace

from sidelight.agent.state import Again, State, Stop
from sidelight.agent.stream import Response
from sidelight.core.content import (
    Document,
    Image,
    ResultBlock,
    Text,
    ToolResult,
    UserBlock,
)
from sidelight.core.errors import ModelError, ModelErrorKind
from sidelight.core.messages import AssistantMessage, Message, Place, UserMessage
from sidelight.core.model import PromptMessage
from sidelight.model.catalog import ModelCard
from sidelight.model.retry import Backoff

LARGER_OUTPUT = 64_000
MAX_CONTINUATIONS = 3
OVERLOADS = 3

CONTINUE = (
    "Your answer was cut off at the output limit. Go on exactly where it stopped, without "
    "repeating anything and without an apology. A call that was cut off was not run; make it "
    "again, in smaller parts."
)
BROKEN_OFF = (
    "The connection broke off in the middle of your answer. What had arrived is above, and the "
    "calls in it were run. Go on from there."
)
CONTEXT_FULL = (
    "The conversation no longer fits the model's window. Start a new conversation, "
    "or choose a model with a larger window."
)
SLOWER = "Fast mode is overloaded; going on at standard speed for the rest of this turn."
MAX_STRIKES = 2
LONG_TEXT = 1_000_000
"""Characters; a request may have 32 MB."""
MAY_BE_MEDIA = frozenset({"media_refused", "invalid_request", "request_too_large"})
"""Servers say in many ways that they cannot read a picture, and not always which one."""
LEFT_OUT: dict[ModelErrorKind, str] = {
    "media_refused": "The server refuses a picture or document ({0}); going on without it.",
    "invalid_request": "The server refuses the request ({0}); going on without the pictures and "
    "documents that are new in it.",
    "request_too_large": "The request is larger than the server takes ({0}); going on without its "
    "largest parts.",
}
KNOWN_ENDS = frozenset({"end_turn", "stop_sequence", "tool_use", "max_tokens", "pause_turn"})
ENDS = {
    "refusal": Stop("blocked", "The model declined to answer this. Say it in other words."),
    "model_context_window_exceeded": Stop("failed", CONTEXT_FULL, "invalid_request"),
}
CUT_TOO_OFTEN = Stop(
    "failed",
    "The answer was cut off at the output limit several times. Ask for it in smaller parts.",
    "max_output_tokens",
)
ADVICE: dict[ModelErrorKind, str] = {
    "not_found": "{0} Choose another model.",
    "request_too_large": "The request is larger than the server takes ({0}). "
    "Start a new conversation, and attach less.",
    "stalled": "{0} What had arrived is kept; another prompt goes on from there.",
    "media_refused": "The server refuses a picture or document ({0}). It is left out "
    "from now on; another prompt goes on without it.",
    "unbound_thinking": "The server does not take this conversation back ({0}). "
    "Start a new conversation.",
}
FAILURES: dict[ModelErrorKind, str] = {
    "authentication": "authentication_failed",
    "no_model": "authentication_failed",
    "billing": "billing_error",
    "permission": "authentication_failed",
    "not_found": "model_not_found",
    "rate_limit": "rate_limit",
    "overloaded": "overloaded",
    "server": "server_error",
    "connection": "server_error",
    "timeout": "server_error",
    "stalled": "server_error",
    "cut_off": "server_error",
    "invalid_request": "invalid_request",
    "context_too_long": "invalid_request",
    "request_too_large": "invalid_request",
    "unbound_thinking": "invalid_request",
    "media_refused": "invalid_request",
}
"""Our kinds of failure in the words that StopFailure hooks know; any other is `unknown`."""


def kept(state: State, response: Response, card: ModelCard) -> AssistantMessage | None:
    """What of a response joins the history; None when it is void and will be asked for again.

    Of a broken one stays what was acted on, what people read as part of a longer answer, and what
    a stalled server had said.
    """
    if response.message is not None:
        return None if _is_worth_more_room(state, response.message, card) else response.message
    reported = response.error is not None and response.error.kind == "stalled"
    if response.acted or (response.said and (state.continues or reported)):
        return response.salvage("cut_off")
    return None


def after_message(state: State, message: AssistantMessage, card: ModelCard) -> Again | Stop:
    """What follows a complete response, kept or not; `card` is that of the model that answered."""
    calm = replace(state, usage=state.usage + message.usage, retries=0, overloads=0)
    if message.stop_reason in ENDS:
        return ENDS[message.stop_reason]
    if _is_worth_more_room(state, message, card):
        return Again(replace(calm, transition="larger_output", larger_output=_larger(card)))
    if message.tool_uses:
        cut = message.stop_reason == "max_tokens"
        larger = _larger(card) if cut else state.larger_output
        return Again(
            replace(
                calm,
                transition="tools",
                continuations=0,
                continues="",
                stop_blocks=0,
                larger_output=larger,
            )
        )
    if message.stop_reason == "pause_turn":
        return Again(replace(calm, transition="pause_turn"))
    if message.stop_reason == "max_tokens":
        return _continued(calm, message)
    if message.stop_reason in KNOWN_ENDS:
        return Stop("completed")
    said = f"The model ended its answer for a reason that is not known: {message.stop_reason}."
    return Stop("completed", notice=said)


def after_failure(
    state: State, response: Response, backoff: Backoff, struck: frozenset[Place]
) -> Again | Stop:
    """What follows a response that failed; `struck` are the blocks that a refusal names."""
    error = response.error or ModelError("unknown", "The model gave no answer.")
    state = replace(state, usage=state.usage + response.spent)
    if error.kind == "context_too_long":
        return Stop("failed", CONTEXT_FULL, FAILURES[error.kind])
    repaired = _repaired(state, error, struck)
    if repaired is not None:
        return repaired
    if error.kind == "overloaded" and state.fast:
        slower = replace(state, step=state.step - 1, transition="standard_speed", fast=False)
        return Again(slower, notice=SLOWER)
    overloads = state.overloads + 1 if error.kind == "overloaded" else 0
    if overloads >= OVERLOADS and state.fallbacks:
        return _fallen_back(state)
    wait = backoff.delay(state.retries, error, random.random)
    if error.kind == "stalled" and response.said and not backoff.unattended:
        wait = None  # people have read half an answer: they are told, and decide
    if wait is None:
        return gave_up(error)
    again = replace(
        state,
        # A try without an answer is no step: the limit counts what the model did.
        step=state.step if response.acted else state.step - 1,
        transition="retry",
        retries=state.retries + 1,
        overloads=overloads,
    )
    reminder = BROKEN_OFF if response.acted or (response.said and state.continues) else None
    return Again(again, delay_s=wait, reminder=reminder, cause=error.message)


def gave_up(error: ModelError) -> Stop:
    """The end of a turn whose request failed for good, in words that say what to do."""
    words = ADVICE.get(error.kind, "{0}").format(error.message)
    return Stop("failed", words, FAILURES.get(error.kind, "unknown"))


def refused_places(
    error: ModelError | None,
    sent: tuple[PromptMessage, ...],
    history: list[Message],
    state: State,
) -> frozenset[Place]:
    """Where in the history that stands which a refusal is about, as far as it can be told.

    What a refusal names; else the pictures and documents since the last answer, for older ones
    were taken; in a request that is too large also long texts since then. At the second refusal
    of a turn all pictures and documents. They pass from the history into a request as they are,
    so identity finds them.
    """
    if error is None or error.kind not in MAY_BE_MEDIA:
        return frozenset()
    blocks = [
        (message.id, place, block, new)
        for message, new in _marked_as_new(history)
        for place, block in _blocks(message)
        if (message.id, place) not in state.repairs.struck
    ]
    media = [each for each in blocks if isinstance(each[2], Image | Document)]
    named = [found for path in error.paths if (found := _media_at(sent, path)) is not None]
    chosen = [each for each in media if any(each[2] is other for other in named)]
    if state.media_struck or not chosen:
        new = [each for each in media if each[3]]
        sure = error.kind != "invalid_request"
        chosen = media if sure and (state.media_struck or not new) else new
    if not chosen and error.kind == "request_too_large":
        chosen = [each for each in blocks if each[3] and _length(each[2]) > LONG_TEXT]
    return frozenset((name, place) for name, place, _, _ in chosen)


def _is_worth_more_room(state: State, message: AssistantMessage, card: ModelCard) -> bool:
    """Whether a cut answer is void, because a larger limit may hold it whole."""
    cut = message.stop_reason == "max_tokens" and not message.tool_uses
    return cut and not state.continues and state.larger_output is None and bool(_larger(card))


def _larger(card: ModelCard) -> int | None:
    """The larger output limit of the model, None if it has none."""
    larger = min(LARGER_OUTPUT, card.output_cap)
    return larger if larger > card.default_output else None


def _continued(calm: State, message: AssistantMessage) -> Again | Stop:
    if calm.continuations >= MAX_CONTINUATIONS:
        return CUT_TOO_OFTEN
    further = replace(
        calm,
        transition="cut_at_limit",
        continuations=calm.continuations + 1,
        continues=message.shown_as,
    )
    return Again(further, reminder=CONTINUE)


def _repaired(state: State, error: ModelError, struck: frozenset[Place]) -> Again | None:
    """The ways to ask once more, at once and differently; each is gone once a turn."""
    fewer = replace(state, step=state.step - 1)
    if error.reloaded and not state.reloaded:
        return Again(replace(fewer, transition="credentials_reloaded", reloaded=True))
    if error.kind == "unbound_thinking" and not state.repairs.without_thinking:
        repairs = state.repairs.model_copy(update={"without_thinking": True})
        said = "The server no longer takes the earlier thinking back; going on without it."
        return Again(replace(fewer, transition="thinking_dropped", repairs=repairs), notice=said)
    new = struck - state.repairs.struck
    if new and state.media_struck < MAX_STRIKES:
        repairs = state.repairs.model_copy(update={"struck": state.repairs.struck | new})
        said = LEFT_OUT[error.kind].format(error.message)
        again = replace(
            fewer,
            transition="media_struck",
            repairs=repairs,
            media_struck=state.media_struck + 1,
        )
        return Again(again, notice=said)
    return None


def _fallen_back(state: State) -> Again:
    model, *rest = state.fallbacks
    further = replace(
        state,
        step=state.step - 1,
        transition="fallback_model",
        model=model,
        fast=False,
        fallbacks=tuple(rest),
        retries=0,
        overloads=0,
    )
    said = f"{state.model} is overloaded; {model} answers for the rest of this turn."
    return Again(further, notice=said)


def _media_at(sent: tuple[PromptMessage, ...], path: str) -> Image | Document | None:
    numbers = [int(number) for number in re.findall(r"\d+", path)]
    try:
        block = sent[numbers[0]].content[numbers[1]]
        if isinstance(block, ToolResult):
            block = block.content[numbers[2]]
    except IndexError:
        return None
    return block if isinstance(block, Image | Document) else None


def _marked_as_new(history: list[Message]) -> Iterator[tuple[UserMessage, bool]]:
    """The messages of the user's side, each with whether no answer followed it."""
    answers = [at for at, message in enumerate(history) if isinstance(message, AssistantMessage)]
    last = answers[-1] if answers else -1
    for at, message in enumerate(history):
        if isinstance(message, UserMessage):
            yield message, at > last


def _blocks(message: UserMessage) -> Iterator[tuple[tuple[int, ...], UserBlock | ResultBlock]]:
    """The blocks of a message with their places, those within results too."""
    for index, block in enumerate(message.content):
        if isinstance(block, ToolResult):
            for inner, part in enumerate(block.content):
                yield (index, inner), part
        else:
            yield (index,), block


def _length(block: UserBlock | ResultBlock) -> int:
    return len(block.text) if isinstance(block, Text) else 0
