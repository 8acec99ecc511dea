"""A file's change as people read it: changed lines with a few around them, numbered."""

from collections.abc import Sequence

from sidelight.core.host import FileEdit
from sidelight.files.disk import apply_text_edits
from sidelight.review.lines import Change, changes_between, split_lines
from sidelight.wire.loose import mapping
from sidelight.wire.methods import DiffLine, FileDiff

CONTEXT = 3


def preview(edit: FileEdit, before: str | None) -> FileDiff:
    """What an edit would do to the present text; None where there is no file yet.

    Raises ValueError when the edit does not fit the text.
    """
    text = before or ""
    after = "" if edit.removes else apply_text_edits(text, edit.edits)
    return difference(edit.path, before, after)


def difference(path: str, before: str | None, after: str) -> FileDiff:
    """The lines that differ between two texts, each with its numbers."""
    old, new = split_lines(before or ""), split_lines(after)
    changes = changes_between(old, new)
    lines: list[DiffLine] = []
    done = 0
    for index, change in enumerate(changes):
        lines += _context(old, max(done, change.old_start - CONTEXT), change.old_start, change)
        lines += [
            DiffLine(sign="-", text=_shown(old[at]), old=at + 1)
            for at in range(change.old_start, change.old_end)
        ]
        lines += [
            DiffLine(sign="+", text=_shown(new[at]), new=at + 1)
            for at in range(change.new_start, change.new_end)
        ]
        following = changes[index + 1].old_start if index + 1 < len(changes) else len(old)
        done = min(change.old_end + CONTEXT, following)
        lines += _context(old, change.old_end, done, change)
    return _counted(path, lines, creates=before is None)


def from_patch(path: str, patch: Sequence[object], *, creates: bool = False) -> FileDiff:
    """A tool's structured patch (`oldStart`, `newStart`, `lines` with a sign each)."""
    lines: list[DiffLine] = []
    for hunk in patch:
        old, new = (int(mapping(hunk).get(name, 1)) for name in ("oldStart", "newStart"))
        for line in mapping(hunk).get("lines", ()):
            sign, text = line[:1], line[1:]
            if sign == "-":
                lines.append(DiffLine(sign="-", text=text, old=old))
                old += 1
            elif sign == "+":
                lines.append(DiffLine(sign="+", text=text, new=new))
                new += 1
            elif sign == " ":
                lines.append(DiffLine(sign=" ", text=text, old=old, new=new))
                old, new = old + 1, new + 1
    return _counted(path, lines, creates=creates)


def _counted(path: str, lines: Sequence[DiffLine], *, creates: bool) -> FileDiff:
    added = sum(line.sign == "+" for line in lines)
    removed = sum(line.sign == "-" for line in lines)
    return FileDiff(path=path, added=added, removed=removed, lines=tuple(lines), creates=creates)


def _context(old: Sequence[str], start: int, end: int, change: Change) -> list[DiffLine]:
    """Equal lines; how far the new text's numbers are off depends on the side of the change."""
    if end <= change.old_start:
        shift = change.new_start - change.old_start
    else:
        shift = change.new_end - change.old_end
    return [
        DiffLine(sign=" ", text=_shown(old[at]), old=at + 1, new=at + 1 + shift)
        for at in range(start, end)
    ]


def _shown(line: str) -> str:
    return line.rstrip("\r\n")
