"""Writes what a session did to its transcript; a disk that refuses is told, never silent."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from sidelight.core.content import UserBlock
from sidelight.core.events import ToolCallEnded, TurnEnded
from sidelight.core.messages import Message
from sidelight.review.ledger import Reviewed
from sidelight.review.store import ReviewStore
from sidelight.transcripts.entry import (
    CallStored,
    Entry,
    MessageStored,
    ModeStored,
    PromptStored,
    TurnStored,
)
from sidelight.transcripts.store import Transcript

log = logging.getLogger(__name__)


class Recorder:
    """Owns a session's transcript and its stored reviews; `problem` is told once until it heals."""

    def __init__(
        self,
        transcript: Transcript,
        reviews: ReviewStore,
        problem: Callable[[str], Awaitable[None]],
    ) -> None:
        self._transcript = transcript
        self._reviews = reviews
        self._problem = problem
        self._failing = False

    @property
    def path(self) -> str:
        """The transcript's file, as hooks are told."""
        return str(self._transcript.path)

    async def prompt(self, prompt_id: str, content: Sequence[UserBlock]) -> None:
        """A prompt was accepted; it is on the disk when this returns."""
        entry = PromptStored(prompt_id=prompt_id, content=tuple(content))
        await self._write(entry, sync=True)

    async def message(self, message: Message) -> None:
        """A message joined the history."""
        await self._write(MessageStored(message=message))

    async def call(self, event: ToolCallEnded) -> None:
        """A call ended."""
        await self._write(
            CallStored(
                tool_use_id=event.result.tool_use_id,
                name=event.name,
                outcome=event.outcome,
                data=event.data,
                duration_ms=event.duration_ms,
            )
        )

    async def mode(self, mode: str) -> None:
        """The permission mode is another one."""
        await self._write(ModeStored(mode=mode))

    async def turn(self, ended: TurnEnded) -> None:
        """A turn ended; everything so far is on the disk when this returns."""
        entry = TurnStored(
            turn_id=ended.turn_id, reason=ended.reason, usage=ended.usage, error=ended.error
        )
        await self._write(entry, sync=True)

    async def reviews(self, files: Mapping[str, Reviewed]) -> None:
        """The files under review are these."""
        await self._guarded(lambda: self._reviews.save(files))

    async def close(self) -> None:
        """Release the file."""
        await anyio.to_thread.run_sync(self._transcript.close)

    async def _write(self, entry: Entry, *, sync: bool = False) -> None:
        await self._guarded(lambda: self._transcript.append(entry), in_thread=False)
        if sync and not self._failing:
            await self._guarded(self._transcript.sync)

    async def _guarded(self, write: Callable[[], None], *, in_thread: bool = True) -> None:
        try:
            if in_thread:
                await anyio.to_thread.run_sync(write)
            else:
                write()
        except OSError as error:
            log.warning("cannot write %s: %s", self._transcript.path, error)
            if not self._failing:
                self._failing = True
                await self._problem(
                    f"This conversation is not being saved: {error}. "
                    "Make room or fix the folder; saving goes on by itself."
                )
        else:
            self._failing = False
