"""Grep: lines by regular expression."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio.to_thread
from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.core.errors import ToolError
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.search.found import (
    Conceals,
    Found,
    arrange,
    best_engine,
    conceal_nothing,
    line_of,
    matches_in,
    number,
    odd_names,
    short,
    shown_name,
    unread,
)
from sidelight.tools.search.query import Engine, Query, Row, Scope, Shown
from sidelight.tools.search.unsaved import as_seen
from sidelight.tools.target import require_place, search_access, target_of

BATCH = 250
MAX_CHARACTERS = 100_000
NAMED = 5
HEAD_BYTES = 8192
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


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
    after: int | None = Field(None, alias="-A", ge=0, description="Lines shown after each match")
    before: int | None = Field(None, alias="-B", ge=0, description="Lines shown before each match")
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
    because the result would be too long; `remarks` on what could not be shown."""

    shown: list[str]
    known: int
    whole: bool
    cut: bool
    remarks: tuple[str, ...]


class GrepTool:
    """Searches files, open ones as the editor has them.

    Hidden files too, gitignored ones only where named by `path`.
    """

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
        await anyio.to_thread.run_sync(_require_text, target.path)
        scope = Scope(target.path, (input.glob,) if input.glob else (), input.type)
        query = _query(input)
        seen = as_seen(self._engine, scope, context.host, context.scratch_dir, self._conceals)
        async with seen as on_screen:
            engine = on_screen or self._engine
            unsaved = tuple(on_screen.copies) if on_screen else ()
            listing, hidden = await matches_in(engine, scope, query, self._conceals)
            found = await arrange(listing, hidden, unsaved=unsaved)
            page = await _page(input, engine, query, found, context.shell.cwd)
        remarks = _unsaved(found, unsaved, context.shell.cwd)
        text = _told(input, target.path, found, page, remarks)
        yield ToolOutput.of(text, data=_data(input, found, page))


def _require_text(path: str) -> None:
    """Raise ToolError for a file that is named and is binary; in folders those are passed over."""
    place = Path(path)
    if place.is_dir():
        return
    try:
        with place.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return  # the search says why
    if b"\0" in head and head[:2] not in WIDE_MARKS:
        raise ToolError(
            f"{path} is binary, so it has no lines to search. In Bash, `strings` or `xxd` show "
            "what is in it.",
            "invalid_input",
        )


async def _page(input: GrepInput, engine: Engine, query: Query, found: Found, cwd: str) -> _Page:
    if input.output_mode == "content":
        entries, whole, remarks = await _lines(input, engine, query, found, cwd)
    else:
        entries, whole, remarks = _names(input, found, cwd), True, []
    shown, cut = _fitting(_wanted(input, entries))
    return _Page(shown, len(entries), whole, cut, tuple(remarks))


async def _lines(
    input: GrepInput, engine: Engine, query: Query, found: Found, cwd: str
) -> tuple[list[str], bool, list[str]]:
    """The lines up to the limit, whether these are all, and remarks."""
    paths = list(found.files)
    wanted = input.offset + input.head_limit if input.head_limit else None
    most = (wanted or input.offset + MAX_CHARACTERS) + 1
    entries: list[str] = []
    remarks: list[str] = []
    size = 0
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        shown = await engine.rows(batch, query, most)
        remarks += unread(shown.problems)
        for path in batch:
            lines = _entries(short(path, cwd), shown.rows[path], query, input)
            entries += lines
            size += sum(len(line) for line in lines[input.offset :])
        if shown.timed_out:
            return entries, False, [*remarks, "Not all lines could be shown in time."]
        if size > 2 * MAX_CHARACTERS or (wanted is not None and len(entries) > wanted):
            return (
                entries,
                start + BATCH >= len(paths) and not _stopped(shown, found, most),
                remarks,
            )
    return entries, True, remarks


def _stopped(shown: Shown, found: Found, most: int) -> bool:
    """Whether a file may have more lines than were asked for."""
    return any(found.files[path] > most for path in shown.rows)


def _query(input: GrepInput) -> Query:
    around = input.context if input.context is not None else input.around or 0
    content = input.output_mode == "content"
    return Query(
        input.pattern,
        ignore_case=input.ignore_case,
        multiline=input.multiline,
        before=(around if input.before is None else input.before) if content else 0,
        after=(around if input.after is None else input.after) if content else 0,
        only_matching=input.only_matching and content,
    )


def _names(input: GrepInput, found: Found, cwd: str) -> list[str]:
    if input.output_mode == "count":
        return [f"{short(path, cwd)}:{count}" for path, count in found.files.items()]
    return [short(path, cwd) for path in found.files]


def _entries(name: str, rows: list[Row], query: Query, input: GrepInput) -> list[str]:
    """The rows of a file as lines, with `--` where lines between them are left out."""
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


def _unsaved(found: Found, unsaved: Collection[str], cwd: str) -> list[str]:
    """The remark on results that are not on disk yet, so that other programs do not see them."""
    names = [short(path, cwd) for path in found.files if path in unsaved]
    if not names:
        return []
    more = f" and {number(len(names) - NAMED, 'file')} more" if len(names) > NAMED else ""
    return [f"Searched as open in the editor, not saved yet: {', '.join(names[:NAMED])}{more}."]


def _told(input: GrepInput, place: str, found: Found, page: _Page, unsaved: Sequence[str]) -> str:
    if not found.files:
        head = f"No matches for {input.pattern!r} in {place}."
    else:
        head = "\n".join(page.shown) or "No entries at this offset"
    remarks = [*_more(input, page), *page.remarks, *unsaved, *odd_names(found.files)]
    remarks += found.remarks
    if found.files and input.output_mode != "files_with_matches":
        matches = number(sum(found.files.values()), "match" if input.multiline else "matching line")
        remarks.insert(0, f"{matches} in {number(len(found.files), 'file')}.")
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
    paths = [shown_name(path) for path in found.files]
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


def _fitting(entries: list[str]) -> tuple[list[str], bool]:
    """As many entries as one result may hold, and whether some had to go."""
    size = 0
    for index, entry in enumerate(entries):
        size += len(entry) + 1
        if size > MAX_CHARACTERS:
            return entries[:index], True
    return entries, False
