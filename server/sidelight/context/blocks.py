"""What of a message's blocks may be sent: empty, unreadable and refused ones are left out."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sidelight.context.reminders import neutralise, wrap
from sidelight.core.content import (
    AssistantBlock,
    Document,
    Image,
    Json,
    Opaque,
    ResultBlock,
    Text,
    Thinking,
    ToolReference,
    ToolResult,
    ToolUse,
    UserBlock,
    is_list,
    is_object,
    mended,
)
from sidelight.core.messages import AssistantMessage, Attachment, Place, UserMessage

NOTHING_SAID = Text(text="(no output)")
STRUCK = Text(text="(something stood here that the server refused)")
NO_PICTURE = Text(text="(a picture stood here in a format that cannot be sent)")
FORMATS = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
LONGEST_NAME = 64
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class How:
    """What else is left out: blocks that a refusal named, all thinking, references to tools."""

    struck: frozenset[Place] = frozenset()
    without_thinking: bool = False
    tool_search: bool = False


def user_blocks(message: UserMessage | Attachment, how: How) -> Iterator[UserBlock]:
    """The blocks of the user's side that may be sent; what they say cannot pose as the harness."""
    if isinstance(message, Attachment):
        if message.text.strip():
            yield Text(text=wrap(neutralise(message.text)))
        return
    for index, block in enumerate(message.content):
        at: Place = (message.id, (index,))
        if isinstance(block, ToolResult):
            yield _result(block, at, how)
        elif at in how.struck:
            yield _instead(block)
        elif (clean := _plain(block)) is not None:
            yield clean


def assistant_blocks(message: AssistantMessage, how: How) -> list[AssistantBlock]:
    """The blocks of an answer that may be sent; none if only thinking is left.

    Thinking stays byte for byte, or goes whole: without a signature it is refused, and so is an
    answer that ends in it.
    """
    kept: list[AssistantBlock] = []
    for index, block in enumerate(message.content):
        if (message.id, (index,)) in how.struck:
            # A call keeps its place, for its result does; of the rest nothing is owed.
            if isinstance(block, ToolUse):
                kept.append(_call(block).model_copy(update={"input": {}}))
            continue
        if (clean := _said(block, how)) is not None:
            kept.append(clean)
    while kept and is_thinking(kept[-1]):
        kept.pop()
    return kept


def is_thinking(block: object) -> bool:
    """Whether the block is thinking, shown or hidden."""
    hidden = isinstance(block, Opaque) and block.raw.get("type") == "redacted_thinking"
    return hidden or isinstance(block, Thinking)


def sent_id(given: str) -> str:
    """A call's id in the letters that the API takes; other servers are freer with theirs."""
    return _REFUSED.sub("_", given) or "call"


def _said(block: AssistantBlock, how: How) -> AssistantBlock | None:
    match block:
        case Text():
            return block if block.text.strip() else None
        case ToolUse():
            return _call(block)
        case Thinking() | Opaque():
            if not is_thinking(block):
                return block
            sealed = block.raw.get("signature") or block.raw.get("data")
            return block if sealed and not how.without_thinking else None


def _call(block: ToolUse) -> ToolUse:
    name = _REFUSED.sub("_", block.name)[:LONGEST_NAME] or "unknown"
    given = _clean(block.input)
    if name == block.name and given is block.input:
        return block
    return block.model_copy(update={"name": name, "input": given})


def _instead(refused: ResultBlock | UserBlock) -> Text:
    """What stands for a block that was refused; of a document its text."""
    if isinstance(refused, Document) and refused.text.strip():
        return Text(text=neutralise(refused.text))
    return STRUCK


def _plain(block: Text | Image | Document) -> Text | Image | Document | None:
    if isinstance(block, Document):
        return block
    if isinstance(block, Image):
        return block if block.media_type in FORMATS and block.data else NO_PICTURE
    if not block.text.strip():
        return None
    safe = neutralise(block.text)
    return block if safe is block.text else Text(text=safe)


def _result(block: ToolResult, at: Place, how: How) -> ToolResult:
    name, index = at
    if at in how.struck:
        return block.model_copy(update={"content": (STRUCK,)})
    parts: list[ResultBlock] = []
    for inner, part in enumerate(block.content):
        if (name, (*index, inner)) in how.struck:
            parts.append(_instead(part))
        elif isinstance(part, ToolReference):
            if how.tool_search:
                parts.append(part)
        elif (clean := _plain(part)) is not None:
            parts.append(clean)
    content = tuple(parts) or (NOTHING_SAID,)
    unchanged = len(content) == len(block.content) and all(map(_same, content, block.content))
    return block if unchanged else block.model_copy(update={"content": content})


def _same(one: object, other: object) -> bool:
    return one is other


def _clean(value: Json) -> Json:
    """A call's input without what JSON cannot say; itself if there is nothing of the kind."""
    cleaned = _sayable(value)
    return cleaned if is_object(cleaned) else {}


def _sayable(value: object) -> object:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_list(value):
        items = [_sayable(item) for item in value]
        return value if all(map(_same, items, value)) else items
    if is_object(value):
        fields = {mended(key): _sayable(item) for key, item in value.items()}
        same = all(map(_same, fields, value)) and all(map(_same, fields.values(), value.values()))
        return value if same else fields
    return value
