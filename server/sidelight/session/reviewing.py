"""What a person decides about the pending hunks of one conversation: keep, undo, redo."""

from sidelight.core.events import ReviewChanged, Sink
from sidelight.core.host import Host
from sidelight.core.ledger import FileLedger
from sidelight.review.ledger import ReviewLedger
from sidelight.session.recorder import Recorder
from sidelight.session.redo import redo, undo


class Reviewing:
    """Every change of what is pending is stored and told. `host` notes nothing for review."""

    def __init__(
        self, review: ReviewLedger, host: Host, seen: FileLedger, recorder: Recorder, tell: Sink
    ) -> None:
        self._review = review
        self._host = host
        self._seen = seen
        self._recorder = recorder
        self._tell = tell

    async def changed(self) -> None:
        """The pending hunks are others: store what they rest on, and say so."""
        await self._recorder.reviews(self._review.files())
        await self._tell(ReviewChanged())

    async def keep(self, path: str | None, hunk_id: str | None) -> int:
        """Settle hunks as they are: one, a file's, or all. How many."""
        count = self._review.keep(path, hunk_id)
        await self.changed()
        return count

    async def undo(self, path: str | None, hunk_id: str | None) -> tuple[int, str | None]:
        """Take hunks back through the editor; how many, and why some could not be.

        One edit for the editor's own undo; the model hears of it at the next step.
        """
        result = await undo(self._review, self._host, self._seen, path, hunk_id)
        await self.changed()
        return result

    async def redo(self) -> tuple[int, str | None]:
        """Put back what the last undo took; how many hunks, and why some could not be."""
        result = await redo(self._review, self._host, self._seen)
        await self.changed()
        return result

    async def file_removed(self, path: str) -> None:
        """The file is gone from the disk."""
        if self._review.file_removed(path):
            await self.changed()

    async def text_changed(self, path: str, text: str) -> None:
        """The editor's text of a file is another one."""
        if self._review.text_changed(path, text):
            await self.changed()
