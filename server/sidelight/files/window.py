"""Some lines of a file that is too large to be held as one text."""

from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from sidelight.core.errors import BinaryFileError
from sidelight.files.encoding import SNIFFED_BYTES, kind_of

PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Window:
    """Lines without their ends; bytes that are no UTF-8 are shown as U+FFFD.

    `total` is the number of lines in the file, None if its end was not reached; `cut` says that
    the last line is not whole.
    """

    lines: list[str]
    total: int | None
    cut: bool


def read_window(path: str, first: int, count: int, max_bytes: int) -> Window:
    """Up to `count` lines from the 1-based `first` and at most `max_bytes`; blocking.

    Reads no further than the lines, in bounded memory. Raises OSError or BinaryFileError.
    """
    with Path(path).open("rb") as stream:
        head = stream.read(SNIFFED_BYTES)
        if b"\0" in head:
            raise BinaryFileError(f"{path} is {kind_of(head)}, not text")
        stream.seek(0)
        total = _go_to(stream, first)
        return (
            _collect(stream, first, count, max_bytes) if total is None else Window([], total, False)
        )


def _go_to(stream: BufferedReader, first: int) -> int | None:
    """Go to the line; the number of lines if there are fewer. Whole pieces are only counted."""
    ends, place, last = 0, 0, b""
    while ends < first - 1:
        piece = stream.read(PIECE)
        if not piece:
            return ends + (last != b"\n" and place > 0)
        here = piece.count(b"\n")
        if ends + here >= first - 1:
            at = -1
            for _ in range(first - 1 - ends):
                at = piece.index(b"\n", at + 1)
            stream.seek(place + at + 1)
            return None if stream.peek(1) else first - 1
        ends, place, last = ends + here, place + len(piece), piece[-1:]
    return None


def _collect(stream: BufferedReader, first: int, count: int, max_bytes: int) -> Window:
    kept: list[bytes] = []
    room, cut = max_bytes, False
    while len(kept) < count and not cut:
        line = stream.readline(room + 1)
        if not line:
            break
        cut = len(line) > room
        if cut and kept:
            return Window(_texts(kept), None, False)
        kept.append(line[:room])
        room -= len(line)
    at_end = not cut and not stream.peek(1)
    return Window(_texts(kept), first + len(kept) - 1 if at_end else None, cut)


def _texts(lines: list[bytes]) -> list[str]:
    return [line.rstrip(b"\r\n").decode("utf-8", "replace") for line in lines]
