"""What changed between two texts, as hunks in the published shape and as lines for the model."""

import difflib
from dataclasses import dataclass

from sidelight.core.content import Json
from sidelight.tools.text.lines import (
    LINE_END,
    common_head,
    common_tail,
    line_count,
    numbered,
)

CONTEXT = 3
COMPARED_LINES = 4000
"""Beyond this many changed lines on a side a change is one block: comparing costs their product."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `old_start:old_end` became `new_start:new_end`; 0-based, ends exclusive."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The lines about all that differs between two texts; `first` lines stand before them."""

    old: list[str]
    new: list[str]
    first: int


def changed_count(before: str, after: str) -> int:
    """How many lines differ, of old and new ones the greater number."""
    near = _near(before, after, 0)
    blocks = changes(near.old, near.new)
    return sum(max(b.new_end - b.new_start, b.old_end - b.old_start) for b in blocks)


def carried(
    lines: tuple[tuple[int, int], ...], before: str, after: str
) -> tuple[tuple[int, int], ...]:
    """Where ranges of lines (first and last, from 1) stand after a change, with what came in."""
    near = _near(before, after, 0)
    blocks = [
        (near.first + block.old_start, near.first + block.old_end, _growth(block))
        for block in changes(near.old, near.new)
    ]
    moved: list[tuple[int, int]] = []
    for first, last in lines:
        new_first = first + sum(growth for _, end, growth in blocks if end < first)
        new_last = last + sum(growth for start, _, growth in blocks if start <= last)
        if new_first <= new_last:
            moved.append((new_first, new_last))
    return tuple(moved)


def _growth(block: Change) -> int:
    return (block.new_end - block.new_start) - (block.old_end - block.old_start)


def split(text: str) -> list[str]:
    """The lines with their exact ends."""
    lines: list[str] = []
    start = 0
    for match in LINE_END.finditer(text):
        lines.append(text[start : match.end()])
        start = match.end()
    return [*lines, text[start:]] if start < len(text) else lines


def changes(old: list[str], new: list[str]) -> list[Change]:
    """The changed blocks of lines, in order."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if not a and not b:
        return []
    if max(len(a), len(b)) > COMPARED_LINES:
        return [Change(head, head + len(a), head, head + len(b))]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    return [
        Change(head + i1, head + i2, head + j1, head + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def difference(before: str, after: str) -> Difference:
    """What differs, with as many lines around it as `structured_patch` shows."""
    return _near(before, after, CONTEXT)


def structured_patch(near: Difference) -> list[Json]:
    """Hunks with three lines of context: oldStart, oldLines, newStart, newLines, lines."""
    return [_hunk(near, group) for group in _groups(changes(near.old, near.new), CONTEXT)]


def changed_lines(near: Difference, context: int, limit: int) -> str:
    """The new lines around the changes, numbered; says how many were left out.

    `context` is at most the 3 lines that a difference has.
    """
    new = near.new
    parts: list[str] = []
    shown = 0
    groups = _groups(changes(near.old, new), context)
    for index, group in enumerate(groups):
        first = max(group[0].new_start - context, 0)
        last = min(group[-1].new_end + context, len(new))
        last = min(last, first + limit - shown)
        rows = (numbered(near.first + i + 1, _bare(new[i])) for i in range(first, last))
        parts.append("\n".join(rows))
        shown += last - first
        if shown >= limit:
            left = len(groups) - index - 1
            parts.append(f"(cut here; {left} more changed places)" if left else "(cut here)")
            break
    return "\n...\n".join(part for part in parts if part)


def _near(before: str, after: str, context: int) -> Difference:
    """Splitting a text into lines costs more than all else, so only the part that differs is."""
    head = common_head(before, after)
    tail = common_tail(before, after, head)
    start = _lines_up(before, head, context)
    more = _lines_down(before, len(before) - tail, context) - (len(before) - tail)
    old = split(before[start : len(before) - tail + more])
    new = split(after[start : len(after) - tail + more])
    return Difference(old, new, line_count(before[:start]))


def _lines_up(text: str, at: int, count: int) -> int:
    """The beginning of the line that a place is in, and of `count` lines before it."""
    if text[at - 1 : at] == "\r":
        at -= 1  # what follows may be the rest of its line end
    for _ in range(count + 1):
        last = text.rfind("\n", 0, at)
        if "\r" in text:
            last = max(last, text.rfind("\r", 0, at))
        if last < 0:
            return 0
        at = last
        if text[at - 1 : at + 1] == "\r\n":
            at -= 1
    return at + (2 if text[at : at + 2] == "\r\n" else 1)


def _lines_down(text: str, at: int, count: int) -> int:
    """The end of the line that a place is in, and of `count` lines behind it."""
    for _ in range(count + 1):
        end = LINE_END.search(text, at)
        if end is None:
            return len(text)
        at = end.end()
    return at


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _groups(blocks: list[Change], context: int) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for block in blocks:
        if groups and block.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _hunk(near: Difference, group: list[Change]) -> Json:
    old, new = near.old, near.new
    start = max(group[0].old_start - CONTEXT, 0)
    end = min(group[-1].old_end + CONTEXT, len(old))
    before, after = group[0].old_start - start, end - group[-1].old_end
    rows: list[str] = []
    at = start
    for block in group:
        rows += _rows(" ", old[at : block.old_start])
        rows += _rows("-", old[block.old_start : block.old_end])
        rows += _rows("+", new[block.new_start : block.new_end])
        at = block.old_end
    rows += _rows(" ", old[at:end])
    new_start, new_end = group[0].new_start - before, group[-1].new_end + after
    return {
        "oldStart": near.first + (start + 1 if end > start else start),
        "oldLines": end - start,
        "newStart": near.first + (new_start + 1 if new_end > new_start else new_start),
        "newLines": new_end - new_start,
        "lines": rows,
    }


def _rows(sign: str, lines: list[str]) -> list[str]:
    rows: list[str] = []
    for line in lines:
        rows.append(sign + _bare(line))
        if line == _bare(line):
            rows.append("\\ No newline at end of file")
    return rows


def _bare(line: str) -> str:
    return line.rstrip("\r\n") if line.endswith(("\n", "\r")) else line
