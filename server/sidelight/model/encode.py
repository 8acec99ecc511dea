"""A request of ours as the body of the Messages API, and where its cache marks stand.

A message is written as JSON once; a body is put together from such pieces, and only the marks,
which move from request to request, are set anew.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import ref

from sidelight.core.content import (
    Block,
    Document,
    Image,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolReference,
    ToolResult,
    ToolUse,
    mended,
)
from sidelight.core.model import ModelRequest, PromptMessage, SystemPrompt, ToolSpec
from sidelight.model.catalog import ModelCard

# An entry of the cache is found within 20 blocks before a mark; a turn of many tool calls adds
# more than that between two requests, so a second mark follows at this distance.
SECOND_MARK_AFTER = 15
MOVING_MARKS = 2
MARKED_WITHIN = 40
"""Messages at the end of a history; the moving marks stand in them, for each has a block."""
FIXED_MARK: Json = {"type": "ephemeral", "ttl": "1h"}
MOVING_MARK = b',"cache_control":{"type":"ephemeral","ttl":"5m"}'

THINKING_BUDGETS = {"low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 31_999}
SMALLEST_BUDGET = 1_024
THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})

NO_DOCUMENT = "(a document stood here that holds no text, and this model reads only text)"

T = TypeVar("T", bound=object)
_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Piece:
    """Something of a request as JSON.

    Of a message, `ends` has for each block the place before its closing brace, or 0 if it may not
    carry a mark. `for_model` is whom it was written for; empty if that makes no difference.
    """

    data: bytes
    ends: tuple[int, ...] = ()
    for_model: str = ""


@dataclass(slots=True)
class Run:
    """The first messages of a conversation, too far from its end to be marked, joined for good."""

    for_model: str
    count: int = 0
    last: Callable[[], object] = lambda: None
    data: bytearray = field(default_factory=bytearray)


class Encoder:
    """Makes bodies of requests. What it was given before, as the same object, it does not write
    again, as long as that object lives."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[ref[object], Piece]] = {}
        self._runs: dict[int, tuple[ref[object], Run]] = {}

    def body(self, request: ModelRequest, card: ModelCard) -> bytes:
        """The body of a streamed request: two requests of one history differ by their end and
        marks, and nothing follows the messages.

        Features go only to models that know them, by `card`.
        """
        limit = min(request.max_output_tokens or card.default_output, card.output_cap)
        fields: Json = {"model": card.id, "max_tokens": limit, "stream": True}
        if thinking := _thinking(request, card, limit):
            fields["thinking"] = thinking
        if request.fast:
            fields["speed"] = "fast"
        if request.effort in card.efforts:
            fields["output_config"] = {"effort": request.effort}
        return self._put_together(fields, request, card)

    def count(self, request: ModelRequest, card: ModelCard) -> bytes:
        """The body that asks for the number of tokens of the same prompt."""
        return self._put_together({"model": card.id}, request, card)

    def _put_together(self, fields: Json, request: ModelRequest, card: ModelCard) -> bytes:
        parts = [_bytes(fields)[:-1]]
        system = self._piece(request.system, card, _system)
        if system.data != b"[]":
            parts += [b',"system":', system.data]
        if request.tools:
            tools = b",".join(self._piece(tool, card, _tool).data for tool in request.tools)
            parts += [b',"tools":[', tools, b"]"]
        run = self._run(request.messages, card)
        # A message of nothing but foreign thinking has nothing left to say.
        pieces = [self._piece(message, card, _message) for message in request.messages[run.count :]]
        pieces = [piece for piece in pieces if piece.ends]
        marked = _marks(pieces) if card.caching else {}
        parts += [b',"messages":[', run.data]
        for index, piece in enumerate(pieces):
            if index or run.data:
                parts.append(b",")
            parts += _with_marks(piece.data, marked.get(index, ()))
        parts.append(b"]}")
        return b"".join(parts)

    def _run(self, messages: Sequence[PromptMessage], card: ModelCard) -> Run:
        """All but the last messages, joined; only those are looked at that have joined since."""
        until = len(messages) - MARKED_WITHIN
        if until <= 0:
            return Run(card.id)
        first = messages[0]
        run = self._runs[id(first)][1] if id(first) in self._runs else Run(card.id)
        usable = run.for_model == card.id and run.count <= until
        if not usable or (run.count and run.last() is not messages[run.count - 1]):
            run = Run(card.id)
        for message in messages[run.count : until]:
            piece = self._piece(message, card, _message)
            if piece.ends:
                run.data += b"," + piece.data if run.data else piece.data
            self._made.pop(id(message), None)
        run.count, run.last = until, ref(messages[until - 1])
        key, runs = id(first), self._runs
        runs[key] = (ref(first, lambda _: runs.pop(key, None)), run)
        return run

    def _piece(self, source: T, card: ModelCard, write: Callable[[T, ModelCard], Piece]) -> Piece:
        """What was written of this very object for this model, or what is written now."""
        key = id(source)
        found = self._made.get(key)
        if found is not None and found[1].for_model in {"", card.id}:
            return found[1]
        piece = write(source, card)
        made = self._made
        self._made[key] = (ref(source, lambda _: made.pop(key, None)), piece)
        return piece


def _bytes(value: object) -> bytes:
    text = _write(value)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half characters, which two pieces of thinking may have split
        return mended(text).encode()


def _system(system: SystemPrompt, card: ModelCard) -> Piece:
    blocks: list[Json] = [
        {"type": "text", "text": text} for text in (system.stable, system.dynamic) if text.strip()
    ]
    if card.caching:
        for block in blocks:
            block["cache_control"] = FIXED_MARK
    return Piece(_bytes(blocks), for_model=card.id)


def _tool(tool: ToolSpec, card: ModelCard) -> Piece:
    fields: Json = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
    if "eager_input" in card.features:
        # A long input comes as it is written, so that a silence means what it says.
        fields["eager_input_streaming"] = True
    if tool.deferred and "deferred_tools" in card.features:
        fields["defer_loading"] = True
    return Piece(_bytes(fields), for_model=card.id)


def _thinking(request: ModelRequest, card: ModelCard, limit: int) -> Json | None:
    if card.thinking == "adaptive":
        # The default would hide it, and leave the person before a silent screen between tools.
        return {"type": "adaptive", "display": "summarized"}
    if card.thinking == "budget" and request.effort is not None:
        budget = min(THINKING_BUDGETS[request.effort], limit - SMALLEST_BUDGET)
        if budget >= SMALLEST_BUDGET and not _amid_calls_without_thinking(request, card):
            return {"type": "enabled", "budget_tokens": budget}
    return None


def _amid_calls_without_thinking(request: ModelRequest, card: ModelCard) -> bool:
    """Whether the turn that goes on began without thinking: such a turn may not begin to think."""
    last: tuple[Block, ...] = request.messages[-1].content if request.messages else ()
    if not any(isinstance(block, ToolResult) for block in last):
        return False
    for message in reversed(request.messages):
        if message.role == "assistant":
            readable = (block for block in message.content if _block(block, card) is not None)
            first = next(readable, None)
            raw = first.raw if isinstance(first, Thinking | Opaque) else {}
            return raw.get("type") not in THINKING_TYPES
    return False


def _message(message: PromptMessage, card: ModelCard) -> Piece:
    parts = [b'{"role":"%s","content":[' % message.role.encode()]
    ends: list[int] = []
    size, foreign = len(parts[0]), False
    for block in message.content:
        foreign = foreign or _is_for_one_model(block)
        value = _block(block, card)
        if value is None:
            continue
        data = _bytes(value)
        if ends:
            parts.append(b",")
            size += 1
        parts.append(data)
        size += len(data)
        ends.append(size - 1 if _may_be_marked(block) else 0)
    parts.append(b"]}")
    return Piece(b"".join(parts), tuple(ends), card.id if foreign else "")


def _block(block: Block | ToolReference, card: ModelCard) -> Json | None:
    """A block as the API writes it; None for thinking that the model of `card` cannot read."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Image():
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
            return {"type": "image", "source": source}
        case Document():
            return _document(block, card)
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolReference():
            return {"type": "tool_reference", "tool_name": block.tool_name}
        case ToolResult():
            return _tool_result(block, card)
        case Thinking() | Opaque():
            readable = card.thinking != "none" and block.model in {"", card.id}
            return block.raw if readable else None


def _document(block: Document, card: ModelCard) -> Json:
    if "documents" not in card.features:
        return {"type": "text", "text": block.text if block.text.strip() else NO_DOCUMENT}
    source = {"type": "base64", "media_type": block.media_type, "data": block.data}
    return {"type": "document", "source": source}


def _is_for_one_model(block: Block | ToolReference) -> bool:
    """Whether another model may get the block in another form, or not at all."""
    if isinstance(block, ToolResult):
        return any(map(_is_for_one_model, block.content))
    return isinstance(block, Thinking | Opaque | Document)


def _tool_result(block: ToolResult, card: ModelCard) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": block.tool_use_id}
    content = [_block(part, card) for part in block.content]
    if content:
        result["content"] = content
    if block.is_error:
        result["is_error"] = True
    return result


def _marks(pieces: list[Piece]) -> dict[int, list[int]]:
    """Where the moving marks stand: on the last block that may carry one, and some blocks before.

    Places in a message, in order, by the message's index.
    """
    found: dict[int, list[int]] = {}
    left, distance = MOVING_MARKS, SECOND_MARK_AFTER
    for index in reversed(range(len(pieces))):
        for end in reversed(pieces[index].ends):
            if end and distance >= SECOND_MARK_AFTER:
                found.setdefault(index, []).insert(0, end)
                left, distance = left - 1, 0
                if not left:
                    return found
            distance += 1
    return found


def _with_marks(data: bytes, ends: Sequence[int]) -> Iterator[bytes]:
    """A message's JSON with a mark at these places."""
    start = 0
    for end in ends:
        yield data[start:end]
        yield MOVING_MARK
        start = end
    yield data[start:] if start else data


def _may_be_marked(block: Block) -> bool:
    if isinstance(block, Text):
        return bool(block.text.strip())
    return isinstance(block, Image | Document | ToolUse | ToolResult)
