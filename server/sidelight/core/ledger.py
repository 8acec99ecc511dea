"""What the model has seen of which file, and which writes were our own."""

import hashlib
from dataclasses import dataclass


def digest_of(text: str) -> str:
    """Name of a text's content: SHA-256 over its UTF-8 form, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the model last saw it; `text` is all of it, even after a partial view.

    `whole` is False while only the `lines` (first and last, 1-based, sorted) were shown.
    """

    digest: str
    text: str
    whole: bool
    lines: tuple[tuple[int, int], ...] = ()

    def covers(self, first: int, last: int) -> bool:
        """Whether the model was shown these lines."""
        return self.whole or any(a <= first and last <= b for a, b in self.lines)


class FileLedger:
    """One session's memory of files, keyed by real absolute path. Not shared between sessions."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._own_writes: dict[str, str] = {}

    def note_read(
        self, path: str, text: str, *, whole: bool, lines: tuple[int, int] | None = None
    ) -> None:
        """The model was shown this text, or some of its lines; equal texts add up."""
        digest = digest_of(text)
        before = self._seen.get(path)
        ranges = (lines,) if lines else ()
        if before is not None and before.digest == digest:
            whole = whole or before.whole
            ranges = _joined((*before.lines, *ranges))
        self._seen[path] = Seen(digest, text, whole, ranges)

    def note_write(self, path: str, text: str) -> None:
        """We wrote this text; the model knows it, and a report of the write is ours."""
        digest = digest_of(text)
        self._seen[path] = Seen(digest, text, True)
        self._own_writes[path] = digest

    def seen(self, path: str) -> Seen | None:
        """How the model last saw the file, None if never."""
        return self._seen.get(path)

    def is_own_write(self, path: str, digest: str) -> bool:
        """Whether the file's present content is what we wrote last."""
        return self._own_writes.get(path) == digest

    def seen_paths(self) -> tuple[str, ...]:
        """Every path that the model has seen, in the order of first sight."""
        return tuple(self._seen)


def _joined(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)
