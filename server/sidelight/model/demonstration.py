"""Plays replies that were written beforehand, for a demonstration without any model.

The file is a JSON list of replies; a reply is a list of blocks: `{"text": "..."}` or
`{"tool": "Read", "input": {...}}`. `{cwd}` in any text stands for the working directory.
"""

import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import cast

import anyio

from sidelight.core.content import AssistantBlock, Json, Text, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.messages import AssistantMessage
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ModelRequest,
    ResponseEnded,
    TextChunk,
    ToolUseStarted,
)

MODEL = "demonstration"
CHUNK = 12
ENDED = "The demonstration is over. Set up a model to go on; `sidelight --help` says how."


class DemonstrationModel:
    """Implements ModelClient; the next reply answers the next request, whatever it says."""

    def __init__(self, replies: Sequence[Sequence[Json]], *, pause_s: float = 0.0) -> None:
        self._replies = tuple(replies)
        self._pause_s = pause_s
        self._next = 0

    @staticmethod
    def load(path: Path, cwd: str, *, pause_s: float = 0.0) -> "DemonstrationModel":
        """Read the replies of a file; raises OSError or ValueError when it is broken."""
        text = path.read_text(encoding="utf-8").replace("{cwd}", json.dumps(cwd)[1:-1])
        return DemonstrationModel(json.loads(text), pause_s=pause_s)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """The next reply in small pieces; raises ModelError when all have been played."""
        if self._next >= len(self._replies):
            raise ModelError("no_model", ENDED)
        reply = self._replies[self._next]
        self._next += 1
        blocks: list[AssistantBlock] = []
        for number, block in enumerate(reply):
            if "text" in block:
                text = str(block["text"])
                for start in range(0, len(text), CHUNK):
                    await anyio.sleep(self._pause_s)
                    yield TextChunk(text=text[start : start + CHUNK])
                blocks.append(Text(text=text))
            else:
                call = ToolUse(
                    id=f"demo_{self._next}_{number}",
                    name=str(block["tool"]),
                    input=cast("Json", block["input"]),
                )
                yield ToolUseStarted(id=call.id, name=call.name)
                blocks.append(call)
            yield BlockReady(block=blocks[-1])
        calls = any(isinstance(block, ToolUse) for block in blocks)
        yield ResponseEnded(
            message=AssistantMessage(
                id=f"demo_{self._next}",
                content=tuple(blocks),
                stop_reason="tool_use" if calls else "end_turn",
                model=MODEL,
            )
        )
