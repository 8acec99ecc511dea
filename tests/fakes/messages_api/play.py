"""Turns a reply into the bytes of its event stream, with the gates between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.script import Block, Event, Gate, Reply, compact

Wire = bytes | Gate


@dataclass(slots=True)
class Played:
    """A reply made concrete: what goes on the wire, and the blocks as a client must store them."""

    wire: list[Wire] = field(default_factory=list[Wire])  # one entry an event
    sent: list[Json] = field(default_factory=list[Json])
    complete: bool = False  # it ends with message_stop
    usage: Json = field(default_factory=dict[str, Any])  # as a client knows it at the end


@dataclass(frozen=True, slots=True)
class Context:
    """What a reply takes from the request it answers."""

    model: str
    number: int
    usage: Json  # the input side, as worked out from the request
    show_thinking: bool


def play(reply: Reply, context: Context) -> Played:
    """Lay out the whole stream of a reply."""
    played = Played()
    usage = {**context.usage, **reply.usage}
    start = _message_start(context, usage)
    played.usage = dict(start["message"]["usage"])
    played.wire.append(_encode("message_start", start))
    index = 0
    ended = False
    for step in reply.steps:
        if isinstance(step, Gate):
            played.wire.append(step)
        elif isinstance(step, Event):
            played.wire.append(_encode(step.name, step.data))
            ended = ended or step.ends
        else:
            played.wire += _block_wire(step, index, reply.chunk, context, played.sent)
            index += 1
        if ended:
            return played
    delta = _message_delta(reply, usage, played.sent)
    played.usage |= delta["usage"]
    played.wire.append(_encode("message_delta", delta))
    played.wire.append(_encode("message_stop", {"type": "message_stop"}))
    played.complete = True
    return played


def pieces(text: str, size: int) -> Iterator[str]:
    """The text in runs of `size` characters; size 0 or less leaves it whole."""
    if size <= 0:
        if text:
            yield text
        return
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _block_wire(
    block: Block, index: int, reply_chunk: int, context: Context, sent: list[Json]
) -> Iterator[Wire]:
    start = dict(block.start)
    parts = block.parts
    if start["type"] == "tool_use" and not start["id"]:
        start["id"] = f"toolu_{context.number:04d}{index:02d}"
    if start["type"] == "thinking" and not context.show_thinking:
        parts = tuple(part for part in parts if isinstance(part, Gate))
    yield _encode(
        "content_block_start",
        {"type": "content_block_start", "index": index, "content_block": start},
    )
    kind, name = block.delta
    head = f'{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{name}":'
    opening = b"event: content_block_delta\ndata: " + head.encode()
    size = reply_chunk if block.chunk is None else block.chunk
    for part in parts:
        if isinstance(part, Gate):
            yield part
            continue
        for piece in pieces(part, size):
            yield opening + _json_bytes(piece) + b"}}\n\n"
    if start["type"] == "thinking":
        start["signature"] = block.signature or f"c2lnbmF0dXJl{context.number:04d}{index:02d}=="
        delta = {"type": "signature_delta", "signature": start["signature"]}
        yield _encode(
            "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        )
    sent.append(_as_stored(start, "".join(part for part in parts if isinstance(part, str))))
    if block.closed:
        yield _encode("content_block_stop", {"type": "content_block_stop", "index": index})


def _as_stored(start: Json, content: str) -> Json:
    kind = start["type"]
    if kind == "text":
        return {**start, "text": content}
    if kind == "thinking":
        return {**start, "thinking": content}
    if kind == "tool_use":
        try:
            return {**start, "input": json.loads(content) if content else {}}
        except ValueError:
            return start
    return start


def _message_start(context: Context, usage: Json) -> Json:
    return {
        "type": "message_start",
        "message": {
            "id": f"msg_{context.number:06d}",
            "type": "message",
            "role": "assistant",
            "model": context.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "usage": {**usage, "output_tokens": 1},
        },
    }


def _message_delta(reply: Reply, usage: Json, sent: list[Json]) -> Json:
    thinking = sum(len(str(block.get("thinking", ""))) for block in sent) // 4
    total: Json = {
        "output_tokens": max(1, len(compact(sent)) // 4),
        "output_tokens_details": {"thinking_tokens": thinking},
        **{key: value for key, value in usage.items() if key in _CUMULATIVE},
    }
    delta: Json = {"stop_reason": reply.stop_reason, "stop_sequence": reply.stop_sequence}
    if reply.stop_details is not None:
        delta["stop_details"] = reply.stop_details
    return {"type": "message_delta", "delta": delta, "usage": total}


_CUMULATIVE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
    "server_tool_use",
)


def _encode(name: str, data: Json | str) -> bytes:
    body = data.encode("utf-8") if isinstance(data, str) else _json_bytes(data)
    return b"event: " + name.encode() + b"\ndata: " + body + b"\n\n"


def _json_bytes(value: Any) -> bytes:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, for instance from an emoji split in two
        return json.dumps(value, separators=(",", ":")).encode("ascii")
