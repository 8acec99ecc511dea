"""A model played from a script, in process: for tests of the loop."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import anyio

from sidelight.core.content import AssistantBlock, Text, Thinking, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.messages import AssistantMessage, Usage
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ModelRequest,
    ResponseEnded,
    TextChunk,
    ThinkingChunk,
    ToolUseStarted,
)


@dataclass(frozen=True)
class Wait:
    """The stream waits here until the test opens the gate."""

    gate: str


@dataclass(frozen=True)
class Unclosed:
    """A call that begins and is never complete."""

    name: str


@dataclass(frozen=True)
class StopReason:
    """Why the answer ends here, if not for the usual reason."""

    reason: str


Step = str | ToolUse | Thinking | Wait | Unclosed | StopReason | ModelError
USAGE = Usage(input_tokens=10, output_tokens=5)


@dataclass
class ScriptedModel:
    """Implements ModelClient: each request plays the next list of steps."""

    replies: Sequence[Sequence[Step]]
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])
    closed: int = 0
    _gates: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])
    _reached: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])

    def open(self, gate: str) -> None:
        self._gate(self._gates, gate).set()

    async def reached(self, gate: str) -> None:
        with anyio.fail_after(5):
            await self._gate(self._reached, gate).wait()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        steps = self.replies[len(self.requests) - 1]
        blocks: list[AssistantBlock] = []
        reason = ""
        try:
            for step in steps:
                if isinstance(step, StopReason):
                    reason = step.reason
                    continue
                if isinstance(step, Wait):
                    self._gate(self._reached, step.gate).set()
                    await self._gate(self._gates, step.gate).wait()
                    continue
                if isinstance(step, ModelError):
                    raise step
                for event in self._events(step, blocks):
                    yield event
            calls = any(isinstance(block, ToolUse) for block in blocks)
            message = AssistantMessage(
                id=f"msg_{len(self.requests)}",
                content=tuple(blocks),
                stop_reason=reason or ("tool_use" if calls else "end_turn"),
                usage=USAGE,
                model=request.model,
            )
            yield ResponseEnded(message=message)
        finally:
            self.closed += 1

    def _events(self, step: str | ToolUse | Thinking | Unclosed, blocks: list[AssistantBlock]):
        if isinstance(step, Unclosed):
            yield ToolUseStarted(id="toolu_unclosed", name=step.name)
            return
        if isinstance(step, str):
            for word in (step[: len(step) // 2], step[len(step) // 2 :]):
                yield TextChunk(text=word)
            block: AssistantBlock = Text(text=step)
        elif isinstance(step, Thinking):
            yield ThinkingChunk(text=step.text)
            block = step
        else:
            yield ToolUseStarted(id=step.id, name=step.name)
            block = step
        blocks.append(block)
        yield BlockReady(block=block)

    def _gate(self, gates: dict[str, anyio.Event], name: str) -> anyio.Event:
        return gates.setdefault(name, anyio.Event())
