"""Some lines of a file that is too large to be held as one text."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sidelight.core.errors import BinaryFileError
from sidelight.files.encoding import SNIFFED_BYTES, kind_of

PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Window:
    """Lines without their ends; bytes that are no UTF-8 are shown as U+FFFD.

    `total` is the number of lines in the file; `cut` says that the window was full earlier.
    """

    lines: list[str]
    total: int
    cut: bool


def read_window(path: str, first: int, count: int, max_bytes: int) -> Window:
    """Up to `count` lines from the 1-based `first` and at most `max_bytes`; blocking.

    Reads the file once, in bounded memory. Raises OSError or BinaryFileError.
    """
    with Path(path).open("rb") as stream:
        head = stream.read(SNIFFED_BYTES)
        if b"\0" in head:
            raise BinaryFileError(f"{path} is {kind_of(head)}, not text")
        stream.seek(0)
        return _collect(stream, first, count, max_bytes)


def _collect(stream: BinaryIO, first: int, count: int, max_bytes: int) -> Window:
    kept: list[bytes] = []
    room, number, open_line, cut = max_bytes, 0, False, False
    while piece := stream.readline(PIECE):
        number += 0 if open_line else 1
        if first <= number < first + count and not cut:
            if open_line:
                kept[-1] += piece[:room]
            else:
                kept.append(piece[:room])
            cut = len(piece) > room
            room -= min(len(piece), room)
        open_line = not piece.endswith(b"\n")
    lines = [line.rstrip(b"\r\n").decode("utf-8", "replace") for line in kept]
    return Window(lines, number, cut)
