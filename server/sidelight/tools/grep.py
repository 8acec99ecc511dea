"""Grep: lines by regular expression."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.search.found import (
    Conceals,
    Found,
    arrange,
    best_engine,
    conceal_nothing,
    concealed_in,
    line_of,
    short,
    without_ignored,
)
from sidelight.tools.search.query import Engine, Query, Row, Scope
from sidelight.tools.target import require_place, search_access, target_of

BATCH = 50
MAX_CHARACTERS = 100_000
TOO_LONG = "(its matching lines are too long to be shown here; use -o with a narrow pattern)"


class GrepInput(PlainRecord):
    """What to search for, where, and how to show it."""

    pattern: str = Field(min_length=1, description="Regular expression (ripgrep's dialect)")
    path: str | None = Field(
        None, min_length=1, description="File or folder; the working folder if absent"
    )
    glob: str | None = Field(
        None, min_length=1, description="Only files whose path matches, such as `*.{ts,tsx}`"
    )
    type: str | None = Field(
        None, min_length=1, description="Only files of this type, such as py, js, rust"
    )
    output_mode: Literal["files_with_matches", "content", "count"] = Field(
        "files_with_matches", description="Paths only, matching lines, or counts by file"
    )
    after: int = Field(0, alias="-A", ge=0, description="Lines shown after each match")
    before: int = Field(0, alias="-B", ge=0, description="Lines shown before each match")
    around: int | None = Field(None, alias="-C", ge=0, description="Same as context")
    context: int | None = Field(None, ge=0, description="Lines shown before and after each match")
    numbers: bool = Field(True, alias="-n", description="Show line numbers")
    ignore_case: bool = Field(False, alias="-i", description="Ignore letter case")
    only_matching: bool = Field(False, alias="-o", description="Show the matching parts only")
    head_limit: int = Field(250, ge=0, description="Most entries to show; 0 for no limit")
    offset: int = Field(0, ge=0, description="Entries to skip first")
    multiline: bool = Field(False, description="Let a match span lines; `.` matches line ends")


@dataclass(frozen=True, slots=True)
class _Page:
    """The entries to show, how many are known, whether these are all, and whether some had to go
    because the result would be too long."""

    shown: list[str]
    known: int
    whole: bool
    cut: bool


class GrepTool:
    """Searches files on disk; hidden files too, gitignored ones only where named by `path`."""

    name = "Grep"
    input_type = GrepInput

    def __init__(
        self, engine: Engine | None = None, *, conceals: Conceals = conceal_nothing
    ) -> None:
        self._engine = engine or best_engine()
        self._conceals = conceals

    def summary(self, input: GrepInput) -> str:
        """The pattern, and where if that is said."""
        return " in ".join(part for part in (input.pattern, input.path or input.glob) if part)

    def touches(self, input: GrepInput, shell: Shell) -> Sequence[Access]:
        """The file or folder, read; all below unless what rules mind is left out."""
        target = target_of(input.path or shell.cwd, shell)
        globs = (input.glob,) if input.glob else ()
        return search_access(target, "all" if self._conceals is conceal_nothing else "", globs)

    async def preview(self, input: GrepInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: searching edits nothing."""
        return ()

    async def run(
        self, input: GrepInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """What matches, newest files first; raises ToolError."""
        target = target_of(input.path or context.shell.cwd, context.shell)
        require_place(target, context.shell, folder=False)
        scope = Scope(target.path, (input.glob,) if input.glob else (), input.type)
        query = _query(input)
        listing = await self._engine.matching(scope, query)
        listing = await without_ignored(self._engine, listing, scope)
        found = await arrange(listing, await self._hidden(scope))
        if input.output_mode == "content":
            entries, whole = await self._lines(input, query, found, context.shell.cwd)
        else:
            entries, whole = _names(input, found, context.shell.cwd), True
        shown, cut = _within(_wanted(input, entries))
        page = _Page(shown, len(entries), whole, cut)
        yield ToolOutput.of(_told(input, target.path, found, page), data=_data(input, found, page))

    async def _hidden(self, scope: Scope) -> dict[str, str]:
        """What is not looked into, whether it matches or not: a count must not tell that either."""
        if self._conceals is conceal_nothing:
            return {}
        there = await self._engine.files(scope)
        return await concealed_in(scope, there.files, self._conceals)

    async def _lines(
        self, input: GrepInput, query: Query, found: Found, cwd: str
    ) -> tuple[list[str], bool]:
        """The lines up to the limit, and whether these are all."""
        paths = list(found.files)
        wanted = input.offset + input.head_limit if input.head_limit else None
        entries: list[str] = []
        size = 0
        for start in range(0, len(paths), BATCH):
            batch = paths[start : start + BATCH]
            rows = await self._engine.rows(batch, query)
            for path in batch:
                name = short(path, cwd)
                lines = _entries(name, rows[path], input) or [f"{name}: {TOO_LONG}"]
                entries += lines
                size += sum(len(line) for line in lines[input.offset :])
            full = size > 2 * MAX_CHARACTERS or (wanted is not None and len(entries) > wanted)
            if full:
                return entries, start + BATCH >= len(paths)
        return entries, True


def _query(input: GrepInput) -> Query:
    around = input.context if input.context is not None else input.around
    content = input.output_mode == "content"
    return Query(
        input.pattern,
        ignore_case=input.ignore_case,
        multiline=input.multiline,
        before=(input.before if around is None else around) if content else 0,
        after=(input.after if around is None else around) if content else 0,
        only_matching=input.only_matching and content,
    )


def _names(input: GrepInput, found: Found, cwd: str) -> list[str]:
    if input.output_mode == "count":
        return [f"{short(path, cwd)}:{count}" for path, count in found.files.items()]
    return [short(path, cwd) for path in found.files]


def _entries(name: str, rows: list[Row], input: GrepInput) -> list[str]:
    """The rows of a file as lines, with `--` where lines between them are left out."""
    query = _query(input)
    entries: list[str] = []
    before = 0
    for row in rows:
        if before and row.number > before + 1 and (query.before or query.after):
            entries.append("--")
        entries.append(line_of(name, row, numbers=input.numbers))
        before = row.number
    return entries


def _wanted(input: GrepInput, entries: list[str]) -> list[str]:
    stop = input.offset + input.head_limit if input.head_limit else None
    return entries[input.offset : stop]


def _told(input: GrepInput, place: str, found: Found, page: _Page) -> str:
    if not found.files:
        head = f"No matches for {input.pattern!r} in {place}."
    else:
        head = "\n".join(page.shown) or "No entries at this offset"
    remarks = [*_more(input, page), *found.remarks]
    if found.files and input.output_mode != "files_with_matches":
        unit = "matches" if input.multiline else "matching lines"
        remarks.insert(0, f"{sum(found.files.values())} {unit} in {len(found.files)} files.")
    return "\n\n".join((head, *(f"({remark})" for remark in remarks)))


def _more(input: GrepInput, page: _Page) -> list[str]:
    after = input.offset + len(page.shown)
    if not page.shown or (after >= page.known and page.whole):
        return []
    of = f" of {page.known}" if page.whole else ""
    why = "the result would be too long" if page.cut else f"head_limit is {input.head_limit}"
    return [
        f"Entries {input.offset + 1}-{after}{of}; {why}. Go on with offset={after}, or narrow "
        "the search."
    ]


def _data(input: GrepInput, found: Found, page: _Page) -> Json:
    paths = list(found.files)
    data: Json = {"mode": input.output_mode}
    if input.output_mode == "files_with_matches":
        paths = _wanted(input, paths)[: len(page.shown)]
    else:
        total = sum(found.files.values())
        data |= {"content": "\n".join(page.shown), "numLines": len(page.shown)}
        data["numMatches"] = total
    data |= {"numFiles": len(paths), "filenames": paths, "totalFiles": len(found.files)}
    if _more(input, page):
        data["appliedLimit"] = len(page.shown)
    if input.offset:
        data["appliedOffset"] = input.offset
    return data | ({"timedOut": True} if found.timed_out else {})


def _within(entries: list[str]) -> tuple[list[str], bool]:
    """As many entries as one result may hold, and whether some had to go."""
    size = 0
    for index, entry in enumerate(entries):
        size += len(entry) + 1
        if size > MAX_CHARACTERS:
            return entries[:index], True
    return entries, False
