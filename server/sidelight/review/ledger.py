"""What waits for review in one session, and what the model is to hear of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sidelight.core.host import FileEdit, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.review.hunks import Hunk, hunks_of, keep, rebase, undo


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A file under review: the text before the agent (None: there was no file), and now."""

    baseline: str | None
    current: str


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file with hunks that wait."""

    path: str
    creates: bool
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """An undo that can be put back: the texts before and after it (None: no file), and its news."""

    path: str
    before: str
    after: str | None
    hunks: int
    news: tuple[str, ...]

    def edit(self) -> FileEdit:
        """The edit that puts it back; whole, since a formatter may have been at work."""
        end = len(self.after or "")
        back = TextEdit(start=0, end=end, new_text=self.before)
        base = None if self.after is None else digest_of(self.after)
        return FileEdit(path=self.path, base=base, edits=(back,))


@dataclass(slots=True)
class ReviewLedger:
    """The files under review of one session; keys are absolute paths. Does no I/O."""

    _files: dict[str, Reviewed] = field(default_factory=dict[str, Reviewed])
    _pending: dict[str, PendingFile] = field(default_factory=dict[str, PendingFile])
    _news: list[str] = field(default_factory=list[str])
    _undone: dict[str, Undone] = field(default_factory=dict[str, Undone])

    @staticmethod
    def of(files: Mapping[str, Reviewed]) -> "ReviewLedger":
        """A ledger as it was stored."""
        ledger = ReviewLedger()
        for path, reviewed in files.items():
            ledger._set(path, reviewed)
        return ledger

    def files(self) -> Mapping[str, Reviewed]:
        """Everything under review, to be stored."""
        return self._files

    def pending(self) -> tuple[PendingFile, ...]:
        """Files with hunks that wait, in the order of their first change."""
        return tuple(self._pending.values())

    def original(self, path: str) -> str | None:
        """The text before the pending hunks, "" for a new file; None when nothing waits."""
        reviewed = self._files.get(path)
        return None if reviewed is None else reviewed.baseline or ""

    def note_edit(self, path: str, before: str | None, after: str) -> None:
        """The agent turned `before` (None: no file) into `after`."""
        self._undone.pop(path, None)
        reviewed = self._files.get(path)
        if reviewed is None:
            self._set(path, Reviewed(before, after))
            return
        baseline = reviewed.baseline
        if before is not None:
            baseline = rebase(baseline, reviewed.current, before)
        self._set(path, Reviewed(baseline, after))

    def text_changed(self, path: str, text: str) -> bool:
        """Somebody else changed a file; whether that moved or changed pending hunks."""
        undone = self._undone.get(path)
        if undone is not None and undone.after != text:
            del self._undone[path]
        reviewed = self._files.get(path)
        if reviewed is None or reviewed.current == text:
            return False
        self._set(path, Reviewed(rebase(reviewed.baseline, reviewed.current, text), text))
        return True

    def file_removed(self, path: str) -> bool:
        """The file is gone; nothing of it waits any more."""
        return self._drop(path)

    def keep(self, path: str | None = None, hunk_id: str | None = None) -> int:
        """Settle hunks as they are: one, a file's, or all. How many."""
        count = 0
        for file in self._chosen(path, hunk_id):
            reviewed = self._files[file.path]
            chosen = [hunk for hunk in file.hunks if hunk_id in {None, hunk.id}]
            count += len(chosen)
            if len(chosen) == len(file.hunks):
                self._drop(file.path)
                continue
            baseline = reviewed.baseline
            for hunk in reversed(chosen):
                baseline = keep(baseline, hunk)
            self._set(file.path, Reviewed(baseline, reviewed.current))
        return count

    def undo_edits(
        self, path: str | None = None, hunk_id: str | None = None
    ) -> tuple[tuple[FileEdit, int], ...]:
        """The edits that undo one hunk, a file's, or all; with each the number of its hunks.

        To be applied through the host; then `note_undone` each one that was applied.
        """
        found: list[tuple[FileEdit, int]] = []
        for file in self._chosen(path, hunk_id):
            reviewed = self._files[file.path]
            chosen = [hunk for hunk in file.hunks if hunk_id in {None, hunk.id}]
            edit = FileEdit(
                path=file.path,
                base=digest_of(reviewed.current),
                edits=tuple(undo(reviewed.current, hunk) for hunk in chosen),
                removes=file.creates and len(chosen) == len(file.hunks),
            )
            found.append((edit, len(chosen)))
        return tuple(found)

    def begin_undo(self) -> None:
        """A new undo begins: what the one before took can no longer be put back."""
        self._undone.clear()

    def note_undone(self, edit: FileEdit, after: str | None) -> None:
        """An undo was applied; `after` is the file's text now, None when it was removed."""
        reviewed = self._files.get(edit.path)
        if reviewed is None:
            return
        before = reviewed.current
        if after is None:
            news = (f"The user undid your creation of {edit.path}; the file is gone.",)
            self._drop(edit.path)
        else:
            news = tuple(
                _undone(edit.path, before, part.start, before[part.start : part.end])
                for part in edit.edits
            )
            self._set(edit.path, Reviewed(reviewed.baseline, after))
        self._news.extend(news)
        self._undone[edit.path] = Undone(edit.path, before, after, len(edit.edits), news)

    def undone(self) -> tuple[Undone, ...]:
        """What the last undo took and can be put back."""
        return tuple(self._undone.values())

    def note_redone(self, undone: Undone, text: str) -> None:
        """An undo was put back; `text` is the file's text now. The model hears of it if need be."""
        self.note_edit(undone.path, undone.after, text)
        if all(news in self._news for news in undone.news):
            self._news = [news for news in self._news if news not in undone.news]
        else:
            self._news.append(f"The user put back what was undone in {undone.path}.")

    def take_news(self) -> tuple[str, ...]:
        """Sentences for the model about what the user undid; each is given once."""
        news, self._news = tuple(self._news), []
        return news

    def _chosen(self, path: str | None, hunk_id: str | None) -> Iterable[PendingFile]:
        return [
            file
            for file in self.pending()
            if path in {None, file.path}
            and (hunk_id is None or any(hunk.id == hunk_id for hunk in file.hunks))
        ]

    def _set(self, path: str, reviewed: Reviewed) -> None:
        hunks = hunks_of(path, reviewed.baseline, reviewed.current)
        if not hunks:
            self._drop(path)
            return
        self._files[path] = reviewed
        self._pending[path] = PendingFile(path, reviewed.baseline is None, hunks)

    def _drop(self, path: str) -> bool:
        self._pending.pop(path, None)
        return self._files.pop(path, None) is not None


def _undone(path: str, text: str, start: int, undone: str) -> str:
    line = text.count("\n", 0, start) + 1
    if not undone:
        return f"The user undid a removal of yours in {path} at line {line}: the lines are back."
    return (
        f"The user undid a change of yours in {path} at line {line}. These lines are gone again; "
        f"do not put them back unless asked:\n{undone.rstrip()}"
    )
