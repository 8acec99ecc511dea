"""The raw events of a streamed answer, put together again; nothing incomplete gets out."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sidelight.core.content import (
    AssistantBlock,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolUse,
    as_object,
    is_list,
    is_object,
    mended,
)
from sidelight.core.errors import ModelError
from sidelight.core.ids import new_id
from sidelight.core.messages import AssistantMessage, Usage
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ResponseBegan,
    ResponseEnded,
    TextChunk,
    ThinkingChunk,
    ToolUseStarted,
)

STOPPED_BY_LENGTH = frozenset({"max_tokens", "model_context_window_exceeded"})


@dataclass(slots=True)
class OpenBlock:
    """A block that is being streamed: what it began with, and its parts by kind of delta."""

    start: Json
    parts: list[str] = field(default_factory=list[str])
    signature: list[str] = field(default_factory=list[str])

    def close(self, writer: str) -> AssistantBlock | None:
        """The whole block; None for a call whose input is not a JSON object."""
        joined = "".join(self.parts)
        match self.start.get("type"):
            case "text":
                return Text(text=mended(self.start["text"] + joined))
            case "thinking":
                raw = {**self.start, "thinking": self.start["thinking"] + joined}
                if self.signature:
                    raw["signature"] = "".join(self.signature)
                return Thinking(raw=raw, model=writer)
            case "tool_use":
                given = as_object(self.start.get("input"))
                parsed = _parsed(joined) if joined.strip() else given
                if parsed is None:
                    return None
                return ToolUse(id=self.start["id"], name=self.start["name"], input=parsed)
            case _:
                parsed = _parsed(joined) if joined else None
                raw = self.start if parsed is None else {**self.start, "input": parsed}
                return Opaque(raw=raw, model=writer)


@dataclass(slots=True)
class Answer:
    """One answer in the making. Text is joined and tool input parsed once, when a block closes.

    `writer` is the model that was asked: its thinking goes back to no other.
    """

    writer: str = ""
    id: str = ""
    model: str = ""
    stop_reason: str | None = None
    stopped: bool = False
    usage: Json = field(default_factory=dict[str, Any])
    open: dict[int, OpenBlock] = field(default_factory=dict[int, OpenBlock])
    closed: dict[int, AssistantBlock] = field(default_factory=dict[int, AssistantBlock])
    unreadable: list[str] = field(default_factory=list[str])

    def feed(self, event: object) -> tuple[ModelEvent, ...]:
        """Take one raw event; what it means to the loop. Unknown kinds are let pass.

        Raises ModelError("server") when the event is misshapen.
        """
        fields = as_object(event)
        take = self._known.get(str(fields.get("type")))
        if take is None:
            return ()
        try:
            return take(self, fields)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelError("server", f"The server sent a misshapen event: {error!r}") from error

    def ended(self) -> ResponseEnded:
        """The last event, with the whole answer. Raises ModelError("cut_off")."""
        return ResponseEnded(message=self.message())

    def message(self) -> AssistantMessage:
        """The whole answer. Raises ModelError("cut_off") when something of it is missing.

        A call whose input broke off at the length limit is left out; the stop reason tells.
        """
        if not self.stopped:
            raise _cut_off("The answer broke off before its end.")
        if not self.stop_reason:
            raise _cut_off("The answer ended without a reason.")
        if self.open:
            raise _cut_off("The answer ended inside a block.")
        if self.unreadable and self.stop_reason not in STOPPED_BY_LENGTH:
            names = ", ".join(self.unreadable)
            raise _cut_off(f"The answer calls {names} with an input that is not a JSON object.")
        return AssistantMessage(
            id=self.id or new_id(),
            content=tuple(self.closed[index] for index in sorted(self.closed)),
            stop_reason=self.stop_reason,
            usage=usage_of(self.usage),
            model=self.model,
        )

    def _begin(self, event: Json) -> tuple[ModelEvent, ...]:
        message = as_object(event.get("message"))
        self.id = str(message.get("id") or "")
        self.model = str(message.get("model") or "")
        self._note_usage(message)
        return (ResponseBegan(model=self.model, usage=usage_of(self.usage)),)

    def _end(self, event: Json) -> tuple[ModelEvent, ...]:
        self._note_usage(event)
        reason = as_object(event.get("delta")).get("stop_reason")
        self.stop_reason = str(reason) if reason else self.stop_reason
        return ()

    def _finish(self, event: Json) -> tuple[ModelEvent, ...]:
        self.stopped = True
        return ()

    def _note_usage(self, holder: Json) -> None:
        # Numbers are totals so far, not increments; a missing one has not changed.
        usage = as_object(holder.get("usage"))
        self.usage |= {key: value for key, value in usage.items() if value is not None}

    def _start(self, event: Json) -> tuple[ModelEvent, ...]:
        block, index = as_object(event["content_block"]), int(event["index"])
        if index in self.open or index in self.closed:
            raise ValueError(f"a second block {index}")
        self.open[index] = OpenBlock(block)
        match block.get("type"):
            case "tool_use":
                return (ToolUseStarted(id=block["id"], name=block["name"]),)
            case "text" if block["text"]:
                return (TextChunk(text=mended(block["text"])),)
            case "thinking" if block["thinking"]:
                return (ThinkingChunk(text=mended(block["thinking"])),)
            case _:
                return ()

    def _delta(self, event: Json) -> tuple[ModelEvent, ...]:
        block = self.open[int(event["index"])]
        delta: Json = event["delta"]
        match delta.get("type"):
            case "text_delta":
                text = mended(delta["text"])
                block.parts.append(delta["text"])
                return (TextChunk(text=text),) if text else ()
            case "thinking_delta":
                text = mended(delta["thinking"])
                block.parts.append(delta["thinking"])
                return (ThinkingChunk(text=text),) if text else ()
            case "input_json_delta":
                block.parts.append(delta["partial_json"])
            case "signature_delta":
                block.signature.append(delta["signature"])
            case _:
                pass
        return ()

    def _stop(self, event: Json) -> tuple[ModelEvent, ...]:
        index = int(event["index"])
        block = self.open.pop(index)
        closed = block.close(self.writer)
        if closed is None:
            self.unreadable.append(str(block.start["name"]))
            return ()
        self.closed[index] = closed
        return (BlockReady(block=closed),)

    _known: ClassVar[dict[str, Callable[["Answer", Json], tuple[ModelEvent, ...]]]] = {
        "message_start": _begin,
        "content_block_start": _start,
        "content_block_delta": _delta,
        "content_block_stop": _stop,
        "message_delta": _end,
        "message_stop": _finish,
    }


def is_delta(event: object) -> bool:
    """Whether the event is a piece of a block, and neither its beginning nor its end."""
    return as_object(event).get("type") == "content_block_delta"


def _parsed(joined: str) -> Json | None:
    """The input of a call, or None when it is not a JSON object."""
    try:
        value: object = json.loads(joined)
    except ValueError:
        return None
    if not is_object(value):
        return None
    # Half a character, written as \\ud83d, can be neither stored nor sent.
    return as_object(_mended_json(value)) if "\\ud" in joined.lower() else value


def _mended_json(value: object) -> object:
    if isinstance(value, str):
        return mended(value)
    if is_list(value):
        return [_mended_json(item) for item in value]
    if is_object(value):
        return {mended(key): _mended_json(item) for key, item in value.items()}
    return value


def usage_of(raw: Json) -> Usage:
    """The tokens of an answer from the provider's own words; what is missing counts as 0."""
    creation = as_object(raw.get("cache_creation"))
    hour = int(creation.get("ephemeral_1h_input_tokens") or 0)
    written = int(raw.get("cache_creation_input_tokens") or 0)
    return Usage(
        input_tokens=int(raw.get("input_tokens") or 0),
        output_tokens=int(raw.get("output_tokens") or 0),
        cache_read_input_tokens=int(raw.get("cache_read_input_tokens") or 0),
        cache_write_5m_tokens=max(
            written - hour, int(creation.get("ephemeral_5m_input_tokens") or 0)
        ),
        cache_write_1h_tokens=hour,
        fast=raw.get("speed") == "fast",
    )


def _cut_off(message: str) -> ModelError:
    return ModelError("cut_off", message)
