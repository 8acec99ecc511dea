"""Writes what a session did to its transcript; a disk that refuses is told, never silent."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio

from sidelight.core.content import ToolUse, UserBlock
from sidelight.core.events import ToolCallEnded, TurnEnded
from sidelight.core.messages import Message, Repairs
from sidelight.core.model import SystemPrompt
from sidelight.core.spend import Spent
from sidelight.review.ledger import Reviewed
from sidelight.review.store import ReviewStore
from sidelight.transcripts.entry import (
    CallBegun,
    CallStored,
    Entry,
    MessageStored,
    ModelStored,
    ModeStored,
    PromptDropped,
    PromptStored,
    RepairsStored,
    SpendStored,
    TurnStored,
)
from sidelight.transcripts.store import Transcript

log = logging.getLogger(__name__)


class Recorder:
    """Owns a session's transcript and its stored reviews; `problem` is told once until it heals.

    What the disk refuses is kept in order, and written when it takes it again.
    """

    def __init__(
        self,
        transcript: Transcript,
        reviews: ReviewStore,
        problem: Callable[[str], Awaitable[None]],
    ) -> None:
        self._transcript = transcript
        self._reviews = reviews
        self._problem = problem
        self._unwritten: list[Entry] = []
        self._failing: set[str] = set()

    @property
    def path(self) -> str:
        """The transcript's file, as hooks are told."""
        return str(self._transcript.path)

    async def prompt(self, prompt_id: str, content: Sequence[UserBlock]) -> None:
        """A prompt was accepted; it is on the disk when this returns."""
        entry = PromptStored(prompt_id=prompt_id, content=tuple(content))
        await self._write(entry, sync=True)

    async def dropped(self, prompt_id: str) -> None:
        """A prompt is not to be sent, by this process or a later one."""
        await self._write(PromptDropped(prompt_id=prompt_id), sync=True)

    async def repairs(self, repairs: Repairs) -> None:
        """Requests leave this out from here on."""
        await self._write(RepairsStored(repairs=repairs))

    async def model(self, model: str, system: SystemPrompt) -> None:
        """Another model answers from here on."""
        await self._write(ModelStored(model=model, system=system))

    async def message(self, message: Message) -> None:
        """A message joined the history."""
        await self._write(MessageStored(message=message))

    async def call_begun(self, call: ToolUse) -> None:
        """A call may run from here on, before the answer that holds it is complete."""
        await self._write(CallBegun(call=call))

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

    async def spent(self, spent: Spent) -> None:
        """A request was answered and counted."""
        await self._write(SpendStored(spent=spent))

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
        present = dict(files)
        await self._guarded("reviews", self._in_thread(lambda: self._reviews.save(present)))

    async def close(self) -> None:
        """Write what is left, and release the file."""
        if self._unwritten:
            await self._guarded("transcript", self._flush)
        await anyio.to_thread.run_sync(self._transcript.close)

    async def _write(self, entry: Entry, *, sync: bool = False) -> None:
        self._unwritten.append(entry)
        await self._guarded("transcript", self._flush)
        if sync and not self._unwritten:
            await self._guarded("disk", self._in_thread(self._transcript.sync))

    async def _flush(self) -> None:
        while self._unwritten:
            self._transcript.append(self._unwritten[0])
            del self._unwritten[0]

    @staticmethod
    def _in_thread(write: Callable[[], None]) -> Callable[[], Awaitable[None]]:
        return lambda: anyio.to_thread.run_sync(write)

    async def _guarded(self, what: str, write: Callable[[], Awaitable[None]]) -> None:
        try:
            await write()
        except OSError as error:
            log.warning("cannot write %s: %s", self._transcript.path, error)
            if what not in self._failing:
                self._failing.add(what)
                await self._problem(
                    f"This conversation is not being saved: {error}. "
                    "Make room or fix the folder; saving goes on by itself."
                )
        else:
            self._failing.discard(what)
