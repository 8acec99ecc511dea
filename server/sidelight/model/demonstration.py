"""Plays replies that were written beforehand, for a demonstration without any model.

The file is a JSON list of replies; a reply is a list of blocks: `{"text": "..."}`,
`{"thinking": "..."}` or `{"tool": "Read", "input": {...}}`. `{cwd}` in any text stands for the
working directory.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import anyio
from pydantic import TypeAdapter, ValidationError

from sidelight.core.content import AssistantBlock, Json, Text, Thinking, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.messages import AssistantMessage
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ModelRequest,
    ResponseEnded,
    TextChunk,
    ThinkingChunk,
    ToolUseStarted,
)
from sidelight.core.record import PlainRecord

MODEL = "demonstration"
CHUNK = 12
ENDED = "The demonstration is over. Set up a model to go on; `sidelight --help` says how."


class Say(PlainRecord):
    """Words for the person."""

    text: str


class Think(PlainRecord):
    """Thinking that is shown."""

    thinking: str


class Call(PlainRecord):
    """A call of a tool."""

    tool: str
    input: Json


REPLIES = TypeAdapter(tuple[tuple[Say | Think | Call, ...], ...])


class DemonstrationModel:
    """Implements ModelClient; the next reply answers the next request, whatever it says."""

    def __init__(self, replies: Sequence[Sequence[Json]], *, pause_s: float = 0.0) -> None:
        """Check the replies; raises ValueError. `pause_s` is the seconds between pieces."""
        self._replies = REPLIES.validate_python(replies)
        self._pause_s = pause_s
        self._next = 0

    @staticmethod
    def load(path: Path, cwd: str, *, pause_s: float = 0.0) -> "DemonstrationModel":
        """Read the replies of a file; raises OSError or ValueError when it is broken."""
        text = path.read_text(encoding="utf-8").replace("{cwd}", json.dumps(cwd)[1:-1])
        try:
            return DemonstrationModel(json.loads(text), pause_s=pause_s)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}:{error.lineno}: {error.msg}") from error
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"][:2])
            raise ValueError(f"{path}: entry {where}: {first['msg']}") from error

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """The next reply in small pieces; raises ModelError when all have been played."""
        if self._next >= len(self._replies):
            raise ModelError("no_model", ENDED)
        reply = self._replies[self._next]
        self._next += 1
        blocks = tuple(self._block(number, part) for number, part in enumerate(reply))
        for block in blocks:
            for event in _pieces(block):
                await anyio.sleep(self._pause_s)
                yield event
            yield BlockReady(block=block)
        calls = any(isinstance(block, ToolUse) for block in blocks)
        reason = "tool_use" if calls else "end_turn"
        name = f"demo_{self._next}"
        yield ResponseEnded(
            message=AssistantMessage(id=name, content=blocks, stop_reason=reason, model=MODEL)
        )

    def _block(self, number: int, part: Say | Think | Call) -> AssistantBlock:
        match part:
            case Say():
                return Text(text=part.text)
            case Think():
                raw = {"type": "thinking", "thinking": part.thinking, "signature": ""}
                return Thinking(raw=raw, model=MODEL)
            case Call():
                return ToolUse(id=f"demo_{self._next}_{number}", name=part.tool, input=part.input)


def _pieces(block: AssistantBlock) -> list[ModelEvent]:
    """A block as it would arrive."""
    match block:
        case Text():
            return [TextChunk(text=piece) for piece in _cut(block.text)]
        case Thinking():
            return [ThinkingChunk(text=piece) for piece in _cut(block.text)]
        case ToolUse():
            return [ToolUseStarted(id=block.id, name=block.name)]
        case _:
            return []


def _cut(text: str) -> list[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]
