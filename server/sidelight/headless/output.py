"""Three ways to print a turn: text, one JSON object, or a stream of JSON lines.

The shapes of the JSON are those of the published headless format (`result`, `assistant`, `user`,
`system/init`, `stream_event`), so that existing scripts read them.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TextIO

from sidelight.core.content import (
    Document,
    Image,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from sidelight.core.events import (
    EndReason,
    Event,
    HookEnded,
    MessageAdded,
    MessageDropped,
    Notice,
    PermissionDecided,
    RetryScheduled,
    SpendChanged,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
)
from sidelight.core.ids import new_id
from sidelight.core.messages import AssistantMessage, Usage, UserMessage
from sidelight.core.spend import Total
from sidelight.wire.visible import for_terminal

Format = Literal["text", "json", "stream-json"]


class Output(Protocol):
    """Prints events as they come and the end of the turn."""

    def event(self, event: Event) -> None:
        """One event of the turn."""
        ...

    def end(self, ended: TurnEnded) -> None:
        """The turn is over; called once."""
        ...


@dataclass(slots=True)
class Tally:
    """What the result message counts: this run alone. `window` is a model's context size.

    `asked` is when the model was asked last, None while nothing is awaited of it.
    """

    session_id: str
    window: Callable[[str], int]
    began: float = field(default_factory=time.monotonic)
    asked: float | None = None
    model_s: float = 0.0
    text: str = ""
    stop_reason: str | None = None
    total: Total = Total()
    models: dict[str, Total] = field(default_factory=dict[str, Total])
    calls: dict[str, ToolUse] = field(default_factory=dict[str, ToolUse])
    denials: list[Json] = field(default_factory=list[Json])
    held_back: dict[str, None] = field(default_factory=dict[str, None])
    summaries: dict[str, str] = field(default_factory=dict[str, str])

    def take(self, event: Event) -> None:
        """Count an event."""
        match event:
            case MessageAdded(message=AssistantMessage() as message):
                before = self.text if message.continues else ""
                self.text = before + message.text if message.text else self.text
                self.stop_reason = message.stop_reason
                self._answered()
            case StepStarted():
                self.asked = time.monotonic()
            case MessageDropped() | RetryScheduled():
                self._answered()
            case SpendChanged(spent=spent):
                self.total = self.total.plus(spent)
                self.models[spent.model] = self.models.get(spent.model, Total()).plus(spent)
            case ToolCallStarted():
                self.calls[event.call.id] = event.call
                self.summaries[event.call.id] = f"{event.call.name} {event.summary}"
            case PermissionDecided() if event.decision.behavior == "deny":
                call = self.calls.get(event.tool_use_id)
                if call is not None:
                    self.denials.append(
                        {"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input}
                    )
                if event.decision.unasked:
                    what = self.summaries.get(event.tool_use_id, "A call")
                    self.held_back[f"{what}: {event.decision.reason.detail}"] = None
            case _:
                pass

    def tell_held_back(self) -> None:
        """Say once, on standard error, what was not done since nobody could be asked."""
        if self.held_back:
            lines = "\n".join(f"  {line}" for line in self.held_back)
            print(for_terminal(f"sidelight: held back:\n{lines}"), file=sys.stderr)

    def result(self, ended: TurnEnded) -> Json:
        """The `result` message; costs are null where a price is unknown."""
        self._answered()
        outcome: Json = {
            "type": "result",
            "subtype": _subtype(ended),
            "is_error": ended.error is not None or _subtype(ended) != "success",
            "duration_ms": int((time.monotonic() - self.began) * 1000),
            "duration_api_ms": int(self.model_s * 1000),
            "num_turns": ended.steps,
            "session_id": self.session_id,
            "total_cost_usd": _dollars(self.total),
            "usage": _usage(ended.usage),
            "modelUsage": {
                name: _model_usage(total, self.window(name)) for name, total in self.models.items()
            },
            "permission_denials": self.denials,
            "uuid": new_id(),
        }
        if outcome["subtype"] == "success":
            outcome |= {"result": ended.error or self.text, "stop_reason": self.stop_reason}
        else:
            outcome["errors"] = [ended.error or ended.reason]
        if ended.reason in TERMINAL_REASONS:
            outcome["terminal_reason"] = TERMINAL_REASONS[ended.reason]
        return outcome

    def _answered(self) -> None:
        if self.asked is not None:
            self.model_s += time.monotonic() - self.asked
            self.asked = None


SUBTYPES: dict[EndReason, str] = {
    "completed": "success",
    "blocked": "success",
    "max_steps": "error_max_turns",
    "budget": "error_max_budget_usd",
}
TERMINAL_REASONS: dict[EndReason, str] = {
    "completed": "completed",
    "max_steps": "max_turns",
    "budget": "budget_exhausted",
}


def _subtype(ended: TurnEnded) -> str:
    return SUBTYPES.get(ended.reason, "error_during_execution")


def _dollars(total: Total) -> float | None:
    return None if total.cost_usd is None else round(total.cost_usd, 6)


def _usage(usage: Usage) -> Json:
    """Tokens in the Messages API's shape."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "cache_creation_input_tokens": usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m_tokens,
            "ephemeral_1h_input_tokens": usage.cache_write_1h_tokens,
        },
    }


def _model_usage(total: Total, window: int) -> Json:
    usage = total.usage
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadInputTokens": usage.cache_read_input_tokens,
        "cacheCreationInputTokens": usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
        "webSearchRequests": 0,  # no server tool is ever offered
        "costUSD": _dollars(total),
        "contextWindow": window,
    }


class TextOutput:
    """Only the final text on standard output; with `verbose` the steps on standard error."""

    def __init__(self, tally: Tally, *, verbose: bool) -> None:
        self._tally = tally
        self._verbose = verbose

    def event(self, event: Event) -> None:
        """Problems always, steps when verbose, both on standard error."""
        self._tally.take(event)
        match event:
            case Notice(severity="warning" | "error") | RetryScheduled():
                print(for_terminal(_line(event)), file=sys.stderr)
            case ToolCallStarted() | HookEnded() | ToolCallEnded() | Notice() if self._verbose:
                print(for_terminal(_line(event)), file=sys.stderr)
            case _:
                pass

    def end(self, ended: TurnEnded) -> None:
        """The answer, or the error."""
        if self._tally.text:
            text = self._tally.text.strip()
            print(for_terminal(text) if sys.stdout.isatty() else text, flush=True)
        self._tally.tell_held_back()
        if ended.error is not None:
            print(for_terminal(f"sidelight: {ended.error}"), file=sys.stderr)


class JsonOutput:
    """The `result` message alone."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def event(self, event: Event) -> None:
        """Counted, not printed; problems go to standard error."""
        self._tally.take(event)
        if isinstance(event, Notice) and event.severity != "info":
            print(for_terminal(event.text), file=sys.stderr)

    def end(self, ended: TurnEnded) -> None:
        """Print it."""
        self._tally.tell_held_back()
        _print_json(self._tally.result(ended), sys.stdout)


class StreamJsonOutput:
    """Every message as a line of JSON; with `partial` the deltas as well."""

    def __init__(self, tally: Tally, init: Json, *, partial: bool) -> None:
        self._tally = tally
        self._partial = partial
        self._data: dict[str, Json] = {}
        self._put({"type": "system", "subtype": "init", **init})

    def event(self, event: Event) -> None:
        """Print what the format has a word for."""
        self._tally.take(event)
        match event:
            case MessageAdded(message=AssistantMessage() as message):
                self._assistant(message)
            case MessageAdded(message=UserMessage() as message):
                self._results(message)
            case ToolCallEnded():
                self._data[event.result.tool_use_id] = event.data
            case TextDelta() if self._partial:
                self._delta({"type": "text_delta", "text": event.text})
            case ThinkingDelta() if self._partial:
                self._delta({"type": "thinking_delta", "thinking": event.text})
            case RetryScheduled():
                self._put(
                    {
                        "type": "system",
                        "subtype": "api_retry",
                        "attempt": event.attempt,
                        "retry_delay_ms": int(event.delay_s * 1000),
                        "error": event.cause,
                    }
                )
            case Notice():
                self._put(
                    {
                        "type": "system",
                        "subtype": "informational",
                        "text": event.text,
                        "level": event.severity,
                    }
                )
            case _:
                pass

    def end(self, ended: TurnEnded) -> None:
        """The `result` message."""
        self._tally.tell_held_back()
        _print_json(self._tally.result(ended), sys.stdout)

    def _assistant(self, message: AssistantMessage) -> None:
        for block in message.content:
            self._put(
                {
                    "type": "assistant",
                    "message": {
                        "id": message.shown_as,
                        "type": "message",
                        "role": "assistant",
                        "model": message.model,
                        "content": [_block(block)],
                        "stop_reason": None,
                        "usage": _usage(message.usage),
                    },
                    "parent_tool_use_id": None,
                }
            )

    def _results(self, message: UserMessage) -> None:
        for block in message.content:
            if isinstance(block, ToolResult):
                self._put(
                    {
                        "type": "user",
                        "message": {"role": "user", "content": [_block(block)]},
                        "parent_tool_use_id": None,
                        "tool_use_result": self._data.pop(block.tool_use_id, None),
                    }
                )

    def _delta(self, delta: Json) -> None:
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        self._put({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def _put(self, message: Json) -> None:
        message |= {"session_id": self._tally.session_id, "uuid": new_id()}
        _print_json(message, sys.stdout)


def _block(block: object) -> Json:
    """A block in the Messages API's shape."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Thinking() | Opaque():
            return block.raw
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolResult():
            parts: list[Any] = [_block(part) for part in block.content]
            return {
                "type": "tool_result",
                "tool_use_id": block.tool_use_id,
                "content": parts,
                "is_error": block.is_error,
            }
        case Image() | Document():
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
            return {"type": block.type, "source": source}
        case _:
            return {"type": "other"}


def _line(event: Event) -> str:
    match event:
        case ToolCallStarted():
            return f"> {event.call.name} {event.summary}"
        case ToolCallEnded():
            return f"  {event.outcome} ({event.duration_ms} ms)"
        case HookEnded():
            return f"  hook {event.event}: {event.outcome} {event.detail}".rstrip()
        case RetryScheduled():
            return f"asking again in {event.delay_s:.1f} s: {event.cause}"
        case Notice():
            return event.text
        case _:
            return ""


def _print_json(message: Json, file: TextIO) -> None:
    plain = (file.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(message, ensure_ascii=plain, separators=(",", ":")), file=file, flush=True)
