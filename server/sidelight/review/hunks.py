"""Pending hunks as the difference of two texts: before the agent, and now. Pure.

A file under review is its baseline (what the user had, `None` where there was no file) and its
present text. Keeping a hunk moves it into the baseline; undoing it moves the baseline's lines
into the present text; what the user types elsewhere goes into both.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.host import TextEdit
from sidelight.review.lines import Change, changes_between, split_lines


@dataclass(frozen=True, slots=True)
class Hunk:
    """One difference; `start` is the first line in the present text, counted from 0.

    `id` depends on the content alone, so it stays when lines move above it.
    """

    id: str
    base_start: int
    old: tuple[str, ...]
    start: int
    new: tuple[str, ...]


def hunks_of(path: str, baseline: str | None, current: str) -> tuple[Hunk, ...]:
    """The hunks between the two texts, in order; an empty new file is one hunk too."""
    old, new = split_lines(baseline or ""), split_lines(current)
    if baseline is None and not new:
        return (Hunk(_id(path, [], [], 0), 0, (), 0, ()),)
    seen: Counter[str] = Counter()
    found: list[Hunk] = []
    for change in changes_between(old, new):
        before = old[change.old_start : change.old_end]
        after = new[change.new_start : change.new_end]
        plain = _id(path, before, after, 0)
        name = _id(path, before, after, seen[plain])
        seen[plain] += 1
        found.append(Hunk(name, change.old_start, tuple(before), change.new_start, tuple(after)))
    return tuple(found)


def keep(baseline: str | None, hunk: Hunk) -> str:
    """The baseline after the hunk became part of it."""
    lines = split_lines(baseline or "")
    lines[hunk.base_start : hunk.base_start + len(hunk.old)] = hunk.new
    return "".join(lines)


def undo(current: str, hunk: Hunk) -> TextEdit:
    """The edit of the present text that brings the old lines back."""
    lines = split_lines(current)
    start = sum(map(len, lines[: hunk.start]))
    return TextEdit(
        start=start,
        end=start + sum(map(len, hunk.new)),
        new_text="".join(hunk.old),
    )


def rebase(baseline: str | None, before: str, after: str) -> str | None:
    """The baseline after somebody else turned the present text `before` into `after`.

    What was changed outside the hunks is theirs and goes into the baseline too; what touches a
    hunk stays part of that hunk.
    """
    if baseline is None or before == after:
        return baseline
    base, old, new = split_lines(baseline), split_lines(before), split_lines(after)
    pending = changes_between(base, old)
    for change in reversed(changes_between(old, new)):
        shift = _shift(change, pending)
        if shift is None:
            continue
        base[change.old_start - shift : change.old_end - shift] = new[
            change.new_start : change.new_end
        ]
    return "".join(base)


def _shift(change: Change, pending: Sequence[Change]) -> int | None:
    """How far the changed lines lie from their place in the baseline; None inside a hunk."""
    shift = 0
    for hunk in pending:
        if change.old_end <= hunk.new_start:
            return shift
        if change.old_start < hunk.new_end:
            return None
        shift = hunk.new_end - hunk.old_end
    return shift


def _id(path: str, old: Sequence[str], new: Sequence[str], nth: int) -> str:
    text = "\0".join((path, "".join(old), "".join(new), str(nth)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
