"""What a search found, newest first, as it is shown to the model."""

import heapq
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from sidelight.core.errors import ToolError
from sidelight.files.paths import real
from sidelight.tools.search.plain import PlainSearch
from sidelight.tools.search.query import Engine, Listing, Query, Row, Scope
from sidelight.tools.search.ripgrep import Ripgrep, find_ripgrep

One = TypeVar("One")
Other = TypeVar("Other")
SHOWN_PROBLEMS = 3
Conceals = Callable[[Sequence[str]], Mapping[str, str]]
"""Those of the files (real paths) that must not show up in results, each with the reason."""


def conceal_nothing(paths: Sequence[str]) -> Mapping[str, str]:
    """The policy of a session without rules."""
    return {}


def best_engine() -> Engine:
    """Ripgrep if it is there, else the search in Python."""
    program = find_ripgrep()
    return Ripgrep(program) if program else PlainSearch()


@dataclass(frozen=True, slots=True)
class Found:
    """Files with their counts, newest first, of `total` in all; remarks on what is not shown."""

    files: dict[str, int]
    total: int
    remarks: tuple[str, ...]
    timed_out: bool
    complete: bool


async def names_in(
    engine: Engine, scope: Scope, conceals: Conceals
) -> tuple[Listing, dict[str, str]]:
    """The files of a scope, and those of them that must not be seen, with the reasons."""
    listing, in_view = await _both(
        lambda: engine.files(scope), lambda: _without_globs(engine, scope)
    )
    listing = _within(listing, in_view)
    return listing, await _concealed_in(scope, listing.files, conceals)


async def matches_in(
    engine: Engine, scope: Scope, query: Query, conceals: Conceals
) -> tuple[Listing, dict[str, str]]:
    """The files that match, and all that must not be looked into, with the reasons.

    The latter whether they match or not: a count must not tell that. Names are listed while the
    files are searched.
    """

    async def withheld() -> dict[str, str]:
        if conceals is conceal_nothing or not await anyio.Path(scope.root).is_dir():
            return {}
        return await _concealed_in(scope, (await engine.files(scope)).files, conceals)

    (listing, in_view), hidden = await _both(
        lambda: _both(lambda: engine.matching(scope, query), lambda: _without_globs(engine, scope)),
        withheld,
    )
    return _within(listing, in_view), hidden


async def _both(
    first: Callable[[], Awaitable[One]], second: Callable[[], Awaitable[Other]]
) -> tuple[One, Other]:
    """Two searches at once; raises the ToolError of the first that fails, and ends the other."""
    ones: list[One] = []
    others: list[Other] = []
    failures: list[ToolError] = []

    async def one() -> None:
        try:
            ones.append(await first())
        except ToolError as error:
            failures.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(one)
        try:
            others.append(await second())
        except ToolError as error:
            failures.append(error)
            tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
    return ones[0], others[0]


async def _without_globs(engine: Engine, scope: Scope) -> Listing | None:
    """What ignore files leave in: to both engines a glob is stronger than those.

    None if nothing has to be asked.
    """
    if not (scope.respect_ignore and scope.chooses):
        return None
    return await engine.files(replace(scope, globs=()))


def _within(listing: Listing, in_view: Listing | None) -> Listing:
    if in_view is None:
        return listing
    kept = {path: count for path, count in listing.files.items() if path in in_view.files}
    timed_out = listing.timed_out or in_view.timed_out
    return replace(listing, files=kept, timed_out=timed_out, cut=listing.cut or in_view.cut)


async def _concealed_in(scope: Scope, files: Iterable[str], conceals: Conceals) -> dict[str, str]:
    """Those of the scope's files that must not be seen, with the reasons.

    A file that is the whole scope was judged by name before and is not among them.
    """
    if conceals is conceal_nothing:
        return {}
    return await anyio.to_thread.run_sync(_concealed, scope, list(files), conceals)


def _concealed(scope: Scope, files: list[str], conceals: Conceals) -> dict[str, str]:
    if not Path(scope.root).is_dir():
        return {}
    root, base = scope.root.rstrip(os.sep), real(scope.root).rstrip(os.sep)
    if base == root:
        return dict(conceals(files))
    # Links below the root are not followed.
    found = conceals([base + path.removeprefix(root) for path in files])
    return {root + path.removeprefix(base): reason for path, reason in found.items()}


async def arrange(
    listing: Listing,
    hidden: Mapping[str, str],
    *,
    most: int | None = None,
    unsaved: Collection[str] = (),
) -> Found:
    """Sort by time of change, newest first, then by name; leave out what is hidden, and say so.

    With `most` only so many of the newest are given. What is unsaved is newer than all the rest.
    """
    return await anyio.to_thread.run_sync(_arrange, listing, hidden, most, unsaved)


def _arrange(
    listing: Listing, hidden: Mapping[str, str], most: int | None, unsaved: Collection[str]
) -> Found:
    paths = [path for path in listing.files if path not in hidden] if hidden else listing.files
    timed = [(path not in unsaved, -_changed(path), path) for path in paths]
    newest = sorted(timed) if most is None else heapq.nsmallest(most, timed)
    remarks = list(_left_out(hidden))
    remarks += unread(listing.problems)
    if listing.timed_out:
        remarks.append("The search ran out of time: results are incomplete. Search a subfolder.")
    if listing.cut:
        remarks.append("There were too many results to keep: they are incomplete. Narrow it down.")
    complete = not (listing.timed_out or listing.cut)
    files = {path: listing.files[path] for _, _, path in newest}
    return Found(files, len(timed), tuple(remarks), listing.timed_out, complete)


def _left_out(hidden: Mapping[str, str]) -> Iterable[str]:
    reasons = sorted(Counter(hidden.values()).items(), key=lambda item: (-item[1], item[0]))
    for reason, count in reasons[:SHOWN_PROBLEMS]:
        yield f"Not looked into: {number(count, 'file')}; {reason}."
    others = sum(count for _, count in reasons[SHOWN_PROBLEMS:])
    if others:
        yield f"Not looked into for other rules: {others}."


def unread(problems: Sequence[str]) -> list[str]:
    """The remark on what could not be read, if anything."""
    if not problems:
        return []
    more = len(problems) - SHOWN_PROBLEMS
    named = "; ".join(shown_name(problem) for problem in problems[:SHOWN_PROBLEMS])
    return [f"Could not be read: {named}{f'; and {more} more' if more > 0 else ''}."]


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns  # noqa: PTH116 - a Path a file costs more than the call
    except OSError:
        return 0  # gone since it was listed


def number(count: int, noun: str) -> str:
    """`1 file`, `2 files`, `2 matches`."""
    plural = noun + ("es" if noun.endswith("ch") else "s")
    return f"{count} {noun if count == 1 else plural}"


def short(path: str, cwd: str) -> str:
    """The path from the working folder if it lies in there, else the whole; see `shown_name`."""
    inside = path.startswith(cwd.rstrip(os.sep) + os.sep)
    return shown_name(os.path.relpath(path, cwd) if inside else path)


def shown_name(path: str) -> str:
    r"""A path on one line of valid text: bytes that are no UTF-8 as `\xff`, line ends as `\n`."""
    if path.isprintable():
        return path
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text.replace("\n", "\\n").replace("\r", "\\r")


def odd_names(paths: Iterable[str]) -> list[str]:
    """The remark on names that cannot be given to a tool as they are shown, if there are any."""
    odd = sum(1 for path in paths if shown_name(path) != path)
    if not odd:
        return []
    return [
        f"{number(odd, 'name')} with line ends or with bytes that are no UTF-8; these are shown "
        r"as \n, \r or \xff. Reach them in Bash with a pattern such as `caf?.txt`."
    ]


def line_of(name: str, row: Row, *, numbers: bool) -> str:
    """A row as grep prints it: colons around a match's number, dashes around context's."""
    sign = ":" if row.match else "-"
    at = f"{row.number}{sign}" if numbers else ""
    return f"{name}{sign}{at}{row.text}"
