"""The output of a command: shown while it runs, kept within bounds, in full in a file."""

import codecs
import re
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path

from sidelight.process.environment import MaskedStream, Secrets

FILE_LIMIT = 64 << 20
"""Bytes of output that are kept in a file."""
LONGEST_LINE = 400
PROGRESS_INTERVAL = 0.1
PROGRESS_PIECE = 4_000

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Shown:
    """Output as the model gets it; `path` holds all of it when something is left out."""

    text: str
    path: str | None = None
    size: int = 0


class Output:
    """Takes bytes as they come; hides secrets; needs memory for twice `limit` characters.

    Text over the limit goes to `file`. `publish` sends it there from the first byte on, for
    whoever reads along.
    """

    def __init__(self, limit: int, file: Path, secrets: Secrets) -> None:
        self._limit = limit
        self.file = file
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._masked = MaskedStream(secrets)
        self._head = ""
        self._tail = ""
        self._length = 0
        self._spill: BufferedWriter | None = None
        self._written = 0
        self._unkept = ""
        self._public = False
        self.received = 0

    @property
    def length(self) -> int:
        """How many characters there have been so far."""
        return self._length

    @property
    def last_line(self) -> str:
        """What stands on the last line so far, without its end; empty after a line end."""
        return _plain((self._tail or self._head)[-LONGEST_LINE:].rpartition("\n")[2])

    def publish(self) -> None:
        """From here on the file holds everything at every moment."""
        self._public = True
        if self._spill is None:
            self._start_file()
        self._flush()

    def since(self, mark: int) -> str:
        """The text behind the first `mark` characters, at most `limit` of it: then the end."""
        wanted = self._length - mark
        if wanted <= 0:
            return ""
        kept = self._tail if self._length > 2 * self._limit else self._head + self._tail
        text = kept[-min(wanted, self._limit) :]
        gone = wanted - len(text)
        note = f"[... {gone} characters left out; {self._where()} ...]\n" if gone else ""
        return note + _plain(text)

    def feed(self, data: bytes) -> str:
        """Take the next bytes; gives back what may be shown of them."""
        self.received += len(data)
        return self._add(self._masked.feed(self._decode(data)))

    def close(self) -> str:
        """No more will come; gives back the rest that may be shown."""
        rest = self._add(self._masked.feed(self._decode(b"", True)) + self._masked.rest())
        if self._public:
            self._end_file()
        return rest

    def shown(self, limit: int) -> Shown:
        """The output within `limit` characters: whole, or head and tail and where the rest is.

        Call it once, after `close`.
        """
        if self._length > limit and self._spill is None:
            self._start_file()
        self._end_file()
        text = self._head + self._tail
        if self._length <= limit:
            return Shown(_plain(text))
        half = limit // 2
        head, tail = _to_line_end(text[:half]), _from_line_start(text[-half:])
        gone = self._length - len(head) - len(tail)
        note = f"[... {gone} of {self._length} characters left out; {self._where()} ...]"
        path = None if self._unkept else str(self.file)
        return Shown(f"{_plain(head)}\n{note}\n{_plain(tail)}", path, self._written)

    def _where(self) -> str:
        if self._unkept:
            return f"they could not be kept: {self._unkept}"
        part = "the whole output" if self._written < FILE_LIMIT else "the first 64 MiB of it"
        return f"{part} is in {self.file}, search there instead of running it again"

    def _add(self, text: str) -> str:
        self._length += len(text)
        room = self._limit - len(self._head)
        self._head += text[:room]
        started = self._spill is not None
        if rest := text[room:]:
            if self._spill is None:
                self._start_file()
            self._tail = (self._tail + rest)[-self._limit :]
        self._write(text if started else rest)
        if self._public:
            self._flush()
        return text

    def _start_file(self) -> None:
        if not self._unkept:
            try:
                self._spill = self.file.open("wb")
            except OSError as error:
                self._unkept = str(error)
            self._write(self._head)

    def _end_file(self) -> None:
        if self._spill is None:
            return
        try:
            self._spill.close()
        except OSError as error:
            self._unkept = str(error)  # what was buffered found no room; it is closed all the same

    def _flush(self) -> None:
        if self._spill is None or self._unkept:
            return
        try:
            self._spill.flush()
        except OSError as error:
            self._unkept = str(error)

    def _write(self, text: str) -> None:
        if self._spill is None or self._unkept:
            return
        data = text.encode("utf-8", "replace")[: FILE_LIMIT - self._written]
        try:
            self._spill.write(data)
            self._written += len(data)
        except OSError as error:
            self._unkept = str(error)


class Feed:
    """Joins pieces of output for people: few messages, and never more than they can read."""

    def __init__(self) -> None:
        self._waiting = ""
        self._skipped = 0
        self._last = 0.0

    def add(self, text: str) -> None:
        """Take a piece."""
        self._waiting += text
        over = len(self._waiting) - PROGRESS_PIECE
        if over > 0:
            self._skipped += over
            self._waiting = self._waiting[over:]

    def due(self) -> float:
        """The moment of the loop's clock at which something should be shown; inf for never."""
        return self._last + PROGRESS_INTERVAL if self._waiting else float("inf")

    def take(self, now: float) -> str:
        """What to show now; empty when nothing is due."""
        if now < self.due():
            return ""
        self._last = now
        gap = f"\n[... {self._skipped} characters ...]\n" if self._skipped else ""
        text, self._waiting, self._skipped = gap + self._waiting, "", 0
        return text


def _plain(text: str) -> str:
    """Text as a terminal leaves it: without escapes, overwritten lines, control characters."""
    lines = _ESCAPES.sub("", text).split("\n")
    seen = (line.rstrip("\r").rpartition("\r")[2] for line in lines)
    return _CONTROL.sub("\ufffd", "\n".join(seen))


def _to_line_end(text: str) -> str:
    """Up to the last line end, if that costs little."""
    cut = text.rfind("\n") + 1
    return text[:cut] if cut > len(text) * 3 // 4 else text


def _from_line_start(text: str) -> str:
    cut = text.find("\n") + 1
    return text[cut:] if 0 < cut < len(text) // 4 else text
