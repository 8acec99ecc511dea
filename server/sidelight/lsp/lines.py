"""A text as lines, with the protocol's idea of line ends and of columns.

Only `\\n`, `\\r\\n` and `\\r` end a line. Columns count units of the negotiated encoding; a place
that does not exist (behind the end of a line or of the text, inside a character) means the
nearest one before it.
"""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)")


class Place(NamedTuple):
    """A position as the protocol writes it: both 0-based, `column` in units of an encoding."""

    line: int
    column: int


def split_lines(text: str) -> list[str]:
    """The lines with their ends; the last has none and may be empty. Joined they are the text."""
    if "\r" not in text:
        parts = text.split("\n")
        return [part + "\n" for part in parts[:-1]] + parts[-1:]
    lines = _LINE.findall(text)
    return [*lines, text[sum(map(len, lines)) :]]


def content_length(line: str) -> int:
    """Length of a line without its end, in code points."""
    if line.endswith("\r\n"):
        return len(line) - 2
    return len(line) - 1 if line.endswith(("\n", "\r")) else len(line)


def to_index(line: str, column: int, encoding: Encoding) -> int:
    """The code point that a column of the line's content falls on."""
    length = content_length(line)
    column = max(column, 0)
    if encoding == "utf-32" or line.isascii():
        return min(column, length)
    prefix = line[: min(column, length)]  # no character is narrower than one unit
    if encoding == "utf-8":
        data = prefix.encode("utf-8", "surrogatepass")
        if column >= len(data):
            return len(prefix)
        while data[column] & 0xC0 == 0x80:
            column -= 1
        return len(data[:column].decode("utf-8", "surrogatepass"))
    data = prefix.encode("utf-16-le", "surrogatepass")
    if column * 2 >= len(data):
        return len(prefix)
    if 0xDC <= data[column * 2 + 1] <= 0xDF and 0xD8 <= data[column * 2 - 1] <= 0xDB:
        column -= 1
    return len(data[: column * 2].decode("utf-16-le", "surrogatepass"))


def to_column(line: str, index: int, encoding: Encoding) -> int:
    """The column of a code point."""
    prefix = line[:index]
    if encoding == "utf-32" or prefix.isascii():
        return len(prefix)
    if encoding == "utf-8":
        return len(prefix.encode("utf-8", "surrogatepass"))
    return len(prefix.encode("utf-16-le", "surrogatepass")) // 2


class Lines:
    """A text that is edited by ranges; an edit costs what it touches, not the text's size."""

    def __init__(self, text: str) -> None:
        self._lines = split_lines(text)
        self._text: str | None = text
        self._starts: list[int] | None = None

    @property
    def text(self) -> str:
        """The whole text; joined when asked for, then kept until the next edit."""
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    def __len__(self) -> int:
        return len(self._lines)

    def replace(self, start: Place, end: Place, new_text: str, encoding: Encoding) -> None:
        """Put `new_text` between two places; places in the wrong order are swapped."""
        if start > end:
            start, end = end, start
        first, start_index = self._find(start, encoding)
        last, end_index = self._find(end, encoding)
        prefix, suffix = self._lines[first][:start_index], self._lines[last][end_index:]
        if first > 0 and self._lines[first - 1].endswith("\r"):
            first -= 1  # its \r and a \n that now follows are one line end
            prefix = self._lines[first] + prefix
        if "\r" in prefix or new_text.endswith("\r"):
            middle = split_lines(prefix + new_text + suffix)
            if last + 1 < len(self._lines):
                middle.pop()  # empty: the suffix ended with a line end
        else:
            middle = split_lines(new_text)
            middle[0] = prefix + middle[0]
            middle[-1] += suffix
        self._lines[first : last + 1] = middle
        self._text = self._starts = None

    def place(self, offset: int, encoding: Encoding) -> Place:
        """Where a code point of the text stands."""
        starts = self._line_starts()
        line = bisect_right(starts, offset) - 1
        return Place(line, to_column(self._lines[line], offset - starts[line], encoding))

    def offset(self, place: Place, encoding: Encoding) -> int:
        """The code point at a place."""
        line, index = self._find(place, encoding)
        return self._line_starts()[line] + index

    def _find(self, place: Place, encoding: Encoding) -> tuple[int, int]:
        if place.line >= len(self._lines):
            last = len(self._lines) - 1
            return last, len(self._lines[last])
        if place.line < 0:
            return 0, 0
        return place.line, to_index(self._lines[place.line], place.column, encoding)

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *accumulate(map(len, self._lines[:-1]))]
        return self._starts
