"""Lines as editors count them: ended by CR LF, LF or CR, and by nothing else."""

import re
from bisect import bisect_left
from dataclasses import dataclass

LINE_END = re.compile(r"\r\n|\n|\r")


def normalise(text: str) -> str:
    """The text with every line end as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def lines_of(text: str) -> list[str]:
    """The lines without their ends; a line end at the very end begins no line."""
    lines = normalise(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def line_at(view_text: str, offset: int) -> int:
    """The 1-based line of an offset in a text whose line ends are LF."""
    return view_text.count("\n", 0, offset) + 1


def numbered(number: int, line: str) -> str:
    """A line as Read shows it: number, tab, line."""
    return f"{number:>6}\t{line}"


def line_count(text: str) -> int:
    """How many line ends a text has."""
    ends = text.count("\n")
    return ends + text.count("\r") - text.count("\r\n") if "\r" in text else ends


def common_head(one: str, other: str) -> int:
    """How many characters two texts have in common at the front."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_tail(one: str, other: str, head: int) -> int:
    """How many characters two texts have in common at the end, behind the first `head`."""
    ends = len(one), len(other)
    low, high = 0, min(ends) - head
    while low < high:
        middle = (low + high + 1) // 2
        first = one[ends[0] - middle : ends[0] - low]
        if first == other[ends[1] - middle : ends[1] - low]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class View:
    """A text with LF line ends, and the way back to offsets of the exact one."""

    exact: str
    text: str
    pairs: list[int]

    @staticmethod
    def of(exact: str) -> "View":
        """The view of an exact text."""
        text = normalise(exact)
        if len(text) == len(exact):
            return View(exact, text, [])
        pairs = [match.start() - index for index, match in enumerate(re.finditer(r"\r\n", exact))]
        return View(exact, text, pairs)

    def back(self, offset: int) -> int:
        """The offset in the exact text; never between CR and LF."""
        return offset + bisect_left(self.pairs, offset)
