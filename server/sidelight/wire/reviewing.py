"""Params and results of the methods about hunks that wait for review."""

from typing import Literal

from sidelight.core.record import Record

HunkState = Literal["pending", "kept", "undone"]


class HunkInfo(Record):
    """A pending hunk; `line` is the first line in the present text, 1-based, `lines` its count."""

    id: str
    line: int
    lines: int
    added: int
    removed: int
    text: str
    state: HunkState = "pending"


class FileInfo(Record):
    """A file with hunks to review."""

    uri: str
    path: str
    added: int
    removed: int
    creates: bool = False
    hunks: tuple[HunkInfo, ...]


class Changes(Record):
    """`_sidelight/changes` (notification): everything that waits for review, whole.

    `redo` is how many undone hunks can still be put back as they were.
    """

    session_id: str
    files: tuple[FileInfo, ...]
    redo: int = 0


class Review(Record):
    """`_sidelight/review`: keep or undo one hunk, one file (`path`), or all.

    `redo` puts back what the last undo took: all of it, whatever else is given.
    """

    session_id: str
    action: Literal["keep", "undo", "redo"]
    hunk_id: str | None = None
    path: str | None = None


class Reviewed(Record):
    """Answer to `_sidelight/review`; `problem` says why something could not be undone or redone."""

    done: int
    problem: str | None = None


class Original(Record):
    """`_sidelight/original`: the text before the agent's pending changes, for quick diff."""

    uri: str


class OriginalText(Record):
    """Answer to `_sidelight/original`; None when nothing is pending in that file."""

    text: str | None
