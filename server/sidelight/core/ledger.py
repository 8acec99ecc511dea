"""What the model has seen of which file, and which writes were our own."""

import hashlib
import sys
import zlib
from dataclasses import dataclass, replace

PLAIN_BYTES = 12_000_000
PACKING = 1
"""Of zlib: the fastest; text becomes a fourth."""


def digest_of(text: str) -> str:
    """Name of a text's content: SHA-256 over its UTF-8 form, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


Lines = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the model last saw it; `text` is all of it, even after a partial view.

    `whole` is False while only the `lines` (first and last, 1-based, sorted) were shown.
    """

    digest: str
    kept: str | bytes
    whole: bool
    lines: Lines = ()

    @property
    def text(self) -> str:
        """The text; unpacked anew each time where it was packed."""
        if isinstance(self.kept, str):
            return self.kept
        return zlib.decompress(self.kept).decode("utf-8", "surrogatepass")

    def packed(self) -> "Seen":
        """The same in less memory."""
        if isinstance(self.kept, bytes):
            return self
        data = self.kept.encode("utf-8", "surrogatepass")
        return replace(self, kept=zlib.compress(data, PACKING))

    def covers(self, first: int, last: int) -> bool:
        """Whether the model was shown these lines."""
        return self.whole or any(a <= first and last <= b for a, b in self.lines)


class FileLedger:
    """One session's memory of files, keyed by real absolute path. Not shared between sessions.

    The texts that were used last are kept as they are, up to a limit, others packed.
    """

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._own_writes: dict[str, str] = {}
        self._plain: dict[str, int] = {}

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
        self._keep(path, Seen(digest, text, whole, ranges))

    def note_write(
        self, path: str, text: str, *, digest: str = "", lines: Lines | None = None
    ) -> None:
        """We wrote this text, and a report of the write is ours; the model knows it, or only some
        `lines` of it. `digest` is the text's, where it is known already."""
        name = digest or digest_of(text)
        self._keep(path, Seen(name, text, lines is None, _joined(lines or ())))
        self._own_writes[path] = name

    def seen(self, path: str) -> Seen | None:
        """How the model last saw the file, None if never."""
        return self._seen.get(path)

    def is_own_write(self, path: str, digest: str) -> bool:
        """Whether the file's present content is what we wrote last."""
        return self._own_writes.get(path) == digest

    def seen_paths(self) -> tuple[str, ...]:
        """Every path that the model has seen, in the order of first sight."""
        return tuple(self._seen)

    def _keep(self, path: str, seen: Seen) -> None:
        self._seen[path] = seen
        self._plain.pop(path, None)
        self._plain[path] = sys.getsizeof(seen.kept)
        while len(self._plain) > 1 and sum(self._plain.values()) > PLAIN_BYTES:
            oldest = next(iter(self._plain))
            del self._plain[oldest]
            self._seen[oldest] = self._seen[oldest].packed()


def _joined(ranges: Lines) -> Lines:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return tuple(joined)
