"""What is searched for and where, what comes back, and what both engines promise."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sidelight.core.errors import ToolError

VERSION_CONTROL = (".git", ".hg", ".svn", ".jj", ".bzr", ".sl")
"""Folders of version control are never searched; other hidden files are."""
MAX_PATTERN = 50_000
LINE_CUT = 500
LEAD = 100
CAUSES = (
    ("look-around", "Match without it and look at the lines found, or use Bash with `rg -P`."),
    ("backreferences", "Match without them and look at the lines found, or use Bash with `rg -P`."),
    ("repetition quantifier", r"A brace that is meant as such is written `\{`."),
    ("repetition operator", r"A `*`, `+` or `?` that is meant as such has a backslash before it."),
    ("opened group", r"A parenthesis that is meant as such is written `\(` or `\)`."),
    ("unclosed group", r"A parenthesis that is meant as such is written `\(` or `\)`."),
    ("unclosed character class", r"A bracket that is meant as such is written `\[`."),
    ("escape sequence", "A letter that is meant as such has no backslash before it."),
    (r'"\n" is not allowed', r"Set multiline, or leave out the \n."),
    ("unrecognized file type", "Use glob instead, such as `*.ext`."),
)
"""What ripgrep says of a search that it cannot make, and what helps."""


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

    @property
    def chooses(self) -> bool:
        """Whether only files that match a glob are wanted."""
        return any(not glob.startswith("!") for glob in self.globs)


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
    """A line to show, long ones cut; `match` is False for context."""

    number: int
    text: str
    match: bool

    @staticmethod
    def of(number: int, text: str, at: int | None) -> "Row":
        """A whole line; `at` is where the match begins in it, None for context."""
        return Row(number, _cut(text, at or 0), at is not None)


def _cut(text: str, at: int) -> str:
    """The line, or the part around `at` of one that is too long to show."""
    if len(text) > LINE_CUT:
        start = max(at - LEAD, 0)
        before, after = "…" if start else "", "…" if start + LINE_CUT < len(text) else ""
        note = f" (cut; the line has {len(text):,} characters)"
        text = f"{before}{text[start : start + LINE_CUT]}{after}{note}"
    return text.replace("\n", "\\n")


@dataclass(slots=True)
class Shown:
    """The lines to show, by file, and what kept others from being shown."""

    rows: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])
    problems: list[str] = field(default_factory=list[str])
    timed_out: bool = False


class Engine(Protocol):
    """A way to search. Both ways give the same answer on the same tree. All may be cancelled."""

    async def files(self, scope: Scope) -> Listing:
        """The files of a scope, each counted 0; raises ToolError for a wrong glob."""
        ...

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match, with the number of matching lines; raises ToolError."""
        ...

    async def rows(self, paths: Sequence[str], query: Query, most: int) -> Shown:
        """The lines to show of some files, as `matching` has found them; raises ToolError.

        Of each file the first `most` matching lines, with what stands around them.
        """
        ...


def failure(message: str) -> ToolError:
    """The error for a search that cannot be made, with what helps against the cause."""
    message = message.partition("\n\nConsider enabling")[0].strip()  # switches that a call lacks
    advice = next((helps for cause, helps in CAUSES if cause in message), "")
    return ToolError(f"The search failed: {message}\n{advice}".rstrip(), "invalid_input")


def check(query: Query, scope: Scope | None = None) -> None:
    """Raise ToolError for what no program can be given."""
    for text in (query.pattern, *(scope.globs if scope else ())):
        if "\0" in text or not _is_text(text):
            raise failure(
                "the pattern holds a NUL character or half of a character pair, which no text "
                "file has"
            )
    if len(query.pattern) > MAX_PATTERN:
        raise failure(
            f"the pattern has {len(query.pattern):,} characters; at most {MAX_PATTERN:,} work. "
            "Search for a part of it."
        )


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
