"""A prompt's blocks from the wire into the conversation, and back for those who show it."""

import base64
import re
from collections.abc import Callable, Sequence

import anyio.to_thread

from sidelight.core.content import Document, Image, Json, Text, UserBlock
from sidelight.files.picture import PictureError, prepare
from sidelight.wire.methods import ImageBlock, PromptBlock, ResourceBlock, TextBlock

_CONTEXT = re.compile(r'<editor_context uri="([^"]*)">\n(.*)\n</editor_context>', re.DOTALL)


async def to_blocks(
    prompt: Sequence[PromptBlock], withheld: Callable[[str], str]
) -> tuple[tuple[UserBlock, ...], tuple[str, ...]]:
    """What joins the conversation: first what was typed, then what went along with it.

    `withheld` says of an address why its text must not go along; then the reason stands for it.
    Pictures are checked and scaled as Read does it: one that a provider refuses would spoil each
    later request. Beside the blocks: why pictures were left out, as ends of sentences.
    """
    left_out: list[str] = []
    typed: list[UserBlock] = []
    beside: list[UserBlock] = []
    for block in prompt:
        match block:
            case TextBlock():
                typed.append(Text(text=block.text))
            case ImageBlock():
                beside.append(await _picture(block, left_out))
            case ResourceBlock():
                uri = block.resource.uri.replace('"', "%22")
                reason = withheld(block.resource.uri)
                said = f"(not sent: {reason})" if reason else block.resource.text
                text = f'<editor_context uri="{uri}">\n{said}\n</editor_context>'
                beside.append(Text(text=text))
    return (*typed, *beside), tuple(left_out)


async def _picture(block: ImageBlock, left_out: list[str]) -> UserBlock:
    try:
        given = base64.b64decode(block.data)
        shown = await anyio.to_thread.run_sync(prepare, given)
    except (PictureError, ValueError) as error:
        left_out.append(str(error))
        return Text(text=f"(a picture was attached here, but not sent: {error})")
    data = base64.b64encode(shown.data).decode("ascii")
    return Image(media_type=shown.media_type, data=data)


def typed_words(blocks: Sequence[UserBlock]) -> str:
    """What the person typed, without what went along."""
    return "\n".join(block.text for block in blocks if isinstance(block, Text) and _is_typed(block))


def with_words(blocks: Sequence[UserBlock], words: str) -> tuple[UserBlock, ...]:
    """The same prompt with other words typed."""
    return (Text(text=words), *(block for block in blocks if not _is_typed(block)))


def _is_typed(block: UserBlock) -> bool:
    return isinstance(block, Text) and _CONTEXT.fullmatch(block.text) is None


def shown(block: Text | Image | Document) -> Json:
    """A block of a user's message as content of an update."""
    if isinstance(block, Document):
        return {"type": "text", "text": block.text}
    if isinstance(block, Image):
        return {"type": "image", "mimeType": block.media_type, "data": block.data}
    context = _CONTEXT.fullmatch(block.text)
    if context is None:
        return {"type": "text", "text": block.text}
    return {"type": "resource", "resource": {"uri": context[1], "text": context[2]}}
