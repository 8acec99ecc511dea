"""The words a test uses to say what the model answers: replies, blocks, gates and failures.

A script is a list of replies, or one function `request -> reply`. Each request takes the first
reply not yet played whose `when` accepts it, else the first one without `when`. Functions run on
the loop of the double: they must not block.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.messages_api.request import Json, Request

When = Callable[[Request], bool]
CutHow = Literal["end", "close", "reset"]


@dataclass(frozen=True, slots=True)
class Gate:
    """A place where the stream waits until the test opens the name; once open it stays open."""

    name: str


@dataclass(frozen=True, slots=True)
class Block:
    """A content block as it is streamed: the start object, its parts, and what closes it.

    `delta` is the pair (type of delta, its field) that carries the parts.
    """

    start: Json
    delta: tuple[str, str] = ("text_delta", "text")
    parts: tuple[str | Gate, ...] = ()
    chunk: int | None = None  # characters a delta; None takes the reply's
    signature: str | None = None  # thinking only; None is made up when played
    closed: bool = True  # False leaves out content_block_stop


@dataclass(frozen=True, slots=True)
class Event:
    """A raw event between blocks; `data` given as text goes out as it is, also when not JSON."""

    name: str
    data: Json | str
    ends: bool = False  # nothing follows it, as after an error event


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the stream breaks off: after `event` events, or after `byte` bytes of the body.

    how: "end" finishes the HTTP body as if all were well, "close" closes the socket in the middle
    of the body, "reset" resets the connection.
    """

    event: int | None = None
    byte: int | None = None
    how: CutHow = "close"


Step = Block | Gate | Event


@dataclass(frozen=True, slots=True)
class Reply:
    """A streamed answer."""

    steps: tuple[Step, ...]
    stop_reason: str | None = "end_turn"
    stop_sequence: str | None = None
    stop_details: Json | None = None
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    chunk: int = 24
    cut: Cut | None = None
    hold: str | None = None  # gate before the first byte, status line included
    spread: bool = False  # one write an event, as a far server does
    pause: float = 0.0  # seconds after each event of a spread reply
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    when: When | None = None


@dataclass(frozen=True, slots=True)
class HttpError:
    """An answer with an error status; `body` replaces the JSON, as a proxy's page would."""

    status: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    details: Json | None = None
    body: bytes | None = None
    hold: str | None = None
    when: When | None = None


@dataclass(frozen=True, slots=True)
class HangUp:
    """The connection is closed without an answer."""

    hold: str | None = None
    when: When | None = None


Answer = Reply | HttpError | HangUp
Responder = Callable[[Request], Answer]
Script = Iterable[Answer | Responder] | Responder


def reply(
    *steps: Step | str,
    stop_reason: str | None = None,
    stop_sequence: str | None = None,
    stop_details: Json | None = None,
    usage: Mapping[str, Any] | None = None,
    chunk: int = 24,
    cut: Cut | None = None,
    hold: str | None = None,
    spread: bool = False,
    pause: float = 0.0,
    headers: Mapping[str, str] | None = None,
    when: When | None = None,
) -> Reply:
    """A streamed answer; plain strings are text blocks.

    Without `stop_reason` it is tool_use if a tool is used, else end_turn. `usage` overrides single
    fields of the usage that the double works out.
    """
    blocks = tuple(text(step) if isinstance(step, str) else step for step in steps)
    uses_tool = any(isinstance(step, Block) and step.start["type"] == "tool_use" for step in blocks)
    return Reply(
        steps=blocks,
        stop_reason=stop_reason or ("tool_use" if uses_tool else "end_turn"),
        stop_sequence=stop_sequence,
        stop_details=stop_details,
        usage=dict(usage or {}),
        chunk=chunk,
        cut=cut,
        hold=hold,
        spread=spread,
        pause=pause,
        headers=dict(headers or {}),
        when=when,
    )


def text(*parts: str | Gate, chunk: int | None = None, closed: bool = True) -> Block:
    """A text block; gates between its parts hold the stream in mid-sentence."""
    return Block({"type": "text", "text": ""}, ("text_delta", "text"), parts, chunk, closed=closed)


def thinking(*parts: str | Gate, signature: str | None = None, chunk: int | None = None) -> Block:
    """A thinking block; its words are left out when the request does not ask for them."""
    start = {"type": "thinking", "thinking": "", "signature": ""}
    return Block(start, ("thinking_delta", "thinking"), parts, chunk, signature)


def redacted_thinking(data: str) -> Block:
    """A thinking block whose content nobody can read."""
    return Block({"type": "redacted_thinking", "data": data})


def tool_use(
    name: str,
    input: Json | None = None,
    *,
    id: str | None = None,
    raw: str | Iterable[str | Gate] | None = None,
    chunk: int | None = None,
    closed: bool = True,
) -> Block:
    """A tool call; without `id` each playing gets a fresh one.

    `raw` gives the JSON text itself in place of `input`: in parts with gates between, or broken.
    """
    if raw is None:
        parts: tuple[str | Gate, ...] = (compact(input or {}),) if input else ()
    else:
        parts = (raw,) if isinstance(raw, str) else tuple(raw)
    start: Json = {"type": "tool_use", "id": id or "", "name": name, "input": {}}
    return Block(start, ("input_json_delta", "partial_json"), parts, chunk, closed=closed)


def unknown_block(kind: str = "holograph", **fields: Any) -> Block:
    """A block of a type that no client knows yet."""
    return Block({"type": kind, **fields})


def gate(name: str) -> Gate:
    """Hold the stream here until the test opens `name`."""
    return Gate(name)


def ping() -> Event:
    """A keep-alive event."""
    return Event("ping", {"type": "ping"})


def event(name: str, data: Json | str) -> Event:
    """Any event, for instance one of an unknown type, or one whose data is not JSON."""
    return Event(name, data)


def error_event(type: str = "overloaded_error", message: str = "Overloaded") -> Event:
    """An error in mid-stream; nothing follows it."""
    return Event("error", {"type": "error", "error": {"type": type, "message": message}}, ends=True)


def cut(
    *, after_event: int | None = None, at_byte: int | None = None, how: CutHow = "close"
) -> Cut:
    """Break the stream off after so many events or bytes of its body; see `Cut` for `how`."""
    if (after_event is None) == (at_byte is None):
        raise ValueError("cut() takes either after_event or at_byte.")
    return Cut(after_event, at_byte, how)


ERRORS: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "Invalid request."),
    401: ("authentication_error", "Invalid bearer token"),
    402: ("billing_error", "Your credit balance is too low to access the API."),
    403: ("permission_error", "Your API key does not have permission to use this resource."),
    404: ("not_found_error", "Not found"),
    408: ("timeout_error", "Request timed out"),
    409: ("conflict_error", "The request conflicts with the state of a resource."),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    500: ("api_error", "Internal server error"),
    503: ("api_error", "Service unavailable"),
    504: ("timeout_error", "Gateway timeout"),
    529: ("overloaded_error", "Overloaded"),
}


def http_error(
    status: int,
    message: str | None = None,
    *,
    type: str | None = None,
    headers: Mapping[str, str] | None = None,
    details: Json | None = None,
    body: bytes | str | None = None,
    hold: str | None = None,
    when: When | None = None,
) -> HttpError:
    """An error status with the API's own type and message unless others are given."""
    usual_type, usual_message = ERRORS.get(status, ("api_error", "Unexpected error"))
    return HttpError(
        status,
        type or usual_type,
        usual_message if message is None else message,
        dict(headers or {}),
        details,
        body.encode() if isinstance(body, str) else body,
        hold,
        when,
    )


def rate_limited(
    retry_after: float | None = 1, *, retry_after_ms: int | None = None, when: When | None = None
) -> HttpError:
    """429 with the rate-limit headers; `retry_after` in seconds, None leaves the header out."""
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-11-30T12:00:00Z",
        "anthropic-ratelimit-tokens-limit": "80000",
        "anthropic-ratelimit-tokens-remaining": "0",
        "anthropic-ratelimit-tokens-reset": "2026-11-30T12:00:00Z",
        "anthropic-ratelimit-input-tokens-limit": "60000",
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2026-11-30T12:00:00Z",
        "anthropic-ratelimit-output-tokens-limit": "20000",
        "anthropic-ratelimit-output-tokens-remaining": "0",
        "anthropic-ratelimit-output-tokens-reset": "2026-11-30T12:00:00Z",
    }
    if retry_after is not None:
        headers["retry-after"] = f"{retry_after:g}"
    if retry_after_ms is not None:
        headers["retry-after-ms"] = str(retry_after_ms)
    return http_error(429, headers=headers, when=when)


def overloaded(*, when: When | None = None) -> HttpError:
    """529 as in a busy hour."""
    return http_error(529, headers={"x-should-retry": "true"}, when=when)


def hang_up(*, hold: str | None = None, when: When | None = None) -> HangUp:
    """Close the connection without an answer."""
    return HangUp(hold, when)


def compact(value: object) -> str:
    """JSON without blanks, characters as they are."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
