"""What is searched for and where, what comes back, and what both engines promise."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl")
"""Folders of version control are never searched; other hidden files are."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which files. `root` is an absolute folder or one file.

    `globs` are gitignore patterns relative to the root: a file must match a plain one if there
    is any, the last that matches decides, `!` takes out. `kind` is a file type's name.
    """

    root: str
    globs: tuple[str, ...] = ()
    kind: str | None = None
    respect_ignore: bool = True


@dataclass(frozen=True, slots=True)
class Query:
    """A regular expression and how lines are shown around what it matches."""

    pattern: str
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0
    only_matching: bool = False


@dataclass(slots=True)
class Listing:
    """Absolute paths with a count each, as found; `problems` names what could not be read."""

    files: dict[str, int] = field(default_factory=dict[str, int])
    problems: list[str] = field(default_factory=list[str])
    timed_out: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A line to show; `at` is where the match begins in it, None for context."""

    number: int
    text: str
    at: int | None


class Engine(Protocol):
    """A way to search. Both ways give the same answer on the same tree. All may be cancelled."""

    async def files(self, scope: Scope) -> Listing:
        """The files of a scope, each counted 0."""
        ...

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match, with the number of matching lines; raises ToolError."""
        ...

    async def rows(self, paths: Sequence[str], query: Query) -> dict[str, list[Row]]:
        """The lines to show of some files, as `matching` has found them; raises ToolError."""
        ...
