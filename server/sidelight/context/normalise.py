"""From a history to messages that the API accepts; the same history always gives the same bytes.

The rules stand in the API's own documentation of tool use: every call has its result in the very
next user message, results first; no empty text; roles alternate.
"""

from collections.abc import Iterable, Sequence

from sidelight.context.reminders import neutralise, wrap
from sidelight.core.content import (
    AssistantBlock,
    Block,
    Image,
    Opaque,
    ResultBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UserBlock,
)
from sidelight.core.messages import AssistantMessage, Attachment, Message, Place, UserMessage
from sidelight.core.model import PromptMessage

NOT_RECORDED = "The result of this call was not recorded; it may have partly run."
NOTHING_SAID = "(no output)"
STRUCK = Text(text="(a picture stood here; the server refused it)")


def normalise(
    history: Sequence[Message],
    *,
    struck: frozenset[Place] = frozenset(),
    without_thinking: bool = False,
) -> tuple[PromptMessage, ...]:
    """The history as alternating user and assistant messages, beginning with the user's.

    Attachments become wrapped user text; orphan results are dropped, missing ones made good,
    repeated call ids and empty blocks removed. `struck` blocks are replaced by a note, and
    `without_thinking` no thinking is sent. Pure.
    """
    out: list[PromptMessage] = []
    open_calls: list[ToolUse] = []
    gathered: list[UserBlock] = []
    used: set[str] = set()
    for message in history:
        if not isinstance(message, AssistantMessage):
            gathered.extend(_user_blocks(message, struck))
            continue
        content = _assistant_blocks(message, used, without_thinking)
        if not content:
            continue
        _close_user(out, gathered, open_calls)
        if not out:
            out.append(PromptMessage(role="user", content=(Text(text=wrap("Go on.")),)))
        if out[-1].role == "assistant":
            out[-1] = PromptMessage(role="assistant", content=(*out[-1].content, *content))
        else:
            out.append(PromptMessage(role="assistant", content=content))
        open_calls.extend(block for block in content if isinstance(block, ToolUse))
    _close_user(out, gathered, open_calls)
    return tuple(out)


def _close_user(
    out: list[PromptMessage], gathered: list[UserBlock], open_calls: list[ToolUse]
) -> None:
    """Append what stands between two assistant messages, results first, and empty the lists."""
    found: dict[str, ToolResult] = {}
    for block in gathered:
        if isinstance(block, ToolResult):
            found.setdefault(block.tool_use_id, block)
    results = [
        found.get(call.id)
        or ToolResult(tool_use_id=call.id, content=(Text(text=NOT_RECORDED),), is_error=True)
        for call in open_calls
    ]
    others = [block for block in gathered if not isinstance(block, ToolResult)]
    gathered.clear()
    open_calls.clear()
    if results or others:
        out.append(PromptMessage(role="user", content=(*results, *others)))


def _user_blocks(
    message: UserMessage | Attachment, struck: frozenset[Place]
) -> Iterable[UserBlock]:
    if isinstance(message, Attachment):
        return (Text(text=wrap(neutralise(message.text))),) if message.text.strip() else ()
    left_out = {place for name, place in struck if name == message.id}
    blocks = (_user_block(block, (at,), left_out) for at, block in enumerate(message.content))
    return tuple(clean for clean in blocks if clean is not None)


def _user_block(
    block: UserBlock, at: tuple[int, ...], left_out: set[tuple[int, ...]]
) -> UserBlock | None:
    match block:
        case Text():
            return Text(text=neutralise(block.text)) if block.text.strip() else None
        case Image():
            return STRUCK if at in left_out else block
        case ToolResult():
            inner = enumerate(block.content)
            parts = (STRUCK if (*at, n) in left_out else _result_block(part) for n, part in inner)
            content: tuple[ResultBlock, ...] = tuple(part for part in parts if part is not None)
            return block.model_copy(update={"content": content or (Text(text=NOTHING_SAID),)})


def _result_block(block: ResultBlock) -> ResultBlock | None:
    if isinstance(block, Text):
        return Text(text=neutralise(block.text)) if block.text.strip() else None
    return block


def _assistant_blocks(
    message: AssistantMessage, used: set[str], without_thinking: bool
) -> tuple[Block, ...]:
    """The message's blocks without empty text and repeated calls; () if only thinking is left."""
    kept: list[AssistantBlock] = []
    for block in message.content:
        if isinstance(block, Text) and not block.text.strip():
            continue
        if without_thinking and _is_thinking(block):
            continue
        if isinstance(block, ToolUse):
            if block.id in used:
                continue
            used.add(block.id)
        kept.append(block)
    return tuple(kept) if any(isinstance(block, Text | ToolUse) for block in kept) else ()


def _is_thinking(block: AssistantBlock) -> bool:
    hidden = isinstance(block, Opaque) and block.raw.get("type") == "redacted_thinking"
    return hidden or isinstance(block, Thinking)
