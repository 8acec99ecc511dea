"""Texts as lines with their exact ends, and the differences between two of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `old[old_start:old_end]` stand as `new[new_start:new_end]` in the other text."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split_lines(text: str) -> list[str]:
    """The lines with their ends; only LF, CRLF and CR end a line, as editors have it."""
    return _LINE.findall(text)


def changes_between(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """What differs, in order; equal heads and tails are cut off first, so big files are cheap."""
    head = 0
    while head < len(old) and head < len(new) and old[head] == new[head]:
        head += 1
    tail = 0
    limit = min(len(old), len(new)) - head
    while tail < limit and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    return [
        Change(i1 + head, i2 + head, j1 + head, j2 + head)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
