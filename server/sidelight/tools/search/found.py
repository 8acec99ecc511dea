"""What a search found, newest first, as it is shown to the model."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread

from sidelight.files.paths import real
from sidelight.tools.search.plain import PlainSearch
from sidelight.tools.search.query import Engine, Listing, Row, Scope
from sidelight.tools.search.ripgrep import Ripgrep, find_ripgrep

LINE_CUT = 500
LEAD = 100
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
    """Files with their counts, newest first, and remarks on what is not among them."""

    files: dict[str, int]
    remarks: tuple[str, ...]
    timed_out: bool
    complete: bool


async def without_ignored(engine: Engine, listing: Listing, scope: Scope) -> Listing:
    """The listing less what ignore files name: to both engines a glob is stronger than those."""
    if not any(not glob.startswith("!") for glob in scope.globs):
        return listing
    open_files = await engine.files(replace(scope, globs=(), respect_ignore=True))
    kept = {path: count for path, count in listing.files.items() if path in open_files.files}
    timed_out = listing.timed_out or open_files.timed_out
    return replace(listing, files=kept, timed_out=timed_out, cut=listing.cut or open_files.cut)


async def concealed_in(scope: Scope, files: Iterable[str], conceals: Conceals) -> dict[str, str]:
    """Those of the scope's files that must not be seen, with the reasons.

    A file that is the whole scope was judged by name before and is not among them.
    """
    return await anyio.to_thread.run_sync(_concealed, scope, list(files), conceals)


def _concealed(scope: Scope, files: list[str], conceals: Conceals) -> dict[str, str]:
    root = scope.root.rstrip(os.sep)
    if conceals is conceal_nothing or not Path(scope.root).is_dir():
        return {}
    base = real(scope.root).rstrip(os.sep)  # links below are not followed
    by_real = {base + path.removeprefix(root): path for path in files}
    return {by_real[path]: reason for path, reason in conceals(list(by_real)).items()}


async def arrange(listing: Listing, hidden: Mapping[str, str]) -> Found:
    """Sort by time of change, newest first, then by name; leave out what is hidden, and say so."""
    return await anyio.to_thread.run_sync(_arrange, listing, hidden)


def _arrange(listing: Listing, hidden: Mapping[str, str]) -> Found:
    open_to_view = [path for path in listing.files if path not in hidden]
    ordered = sorted(open_to_view, key=lambda path: (-_changed(path), path))
    reasons = sorted(Counter(hidden.values()).items(), key=lambda item: (-item[1], item[0]))
    remarks = [
        f"Not looked into: {count} {'file' if count == 1 else 'files'}; {reason}."
        for reason, count in reasons[:SHOWN_PROBLEMS]
    ]
    others = sum(count for _, count in reasons[SHOWN_PROBLEMS:])
    if others:
        remarks.append(f"Not looked into for other rules: {others}.")
    if listing.problems:
        more = len(listing.problems) - SHOWN_PROBLEMS
        named = "; ".join(listing.problems[:SHOWN_PROBLEMS])
        remarks.append(f"Could not be read: {named}{f'; and {more} more' if more > 0 else ''}.")
    if listing.timed_out:
        remarks.append("The search ran out of time: results are incomplete. Search a subfolder.")
    if listing.cut:
        remarks.append("There were too many results to keep: they are incomplete. Narrow it down.")
    complete = not (listing.timed_out or listing.cut)
    files = {path: listing.files[path] for path in ordered}
    return Found(files, tuple(remarks), listing.timed_out, complete)


def _changed(path: str) -> int:
    try:
        return Path(path).lstat().st_mtime_ns
    except OSError:
        return 0  # gone since it was listed


def short(path: str, cwd: str) -> str:
    """The path from the working folder if it lies in there, else the whole."""
    inside = path.startswith(cwd.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, cwd) if inside else path


def line_of(name: str, row: Row, *, numbers: bool) -> str:
    """A row as grep prints it: colons around a match's number, dashes around context's."""
    sign = ":" if row.at is not None else "-"
    number = f"{row.number}{sign}" if numbers else ""
    return f"{name}{sign}{number}{_cut(row)}"


def _cut(row: Row) -> str:
    text = row.text.replace("\n", "\\n") if "\n" in row.text else row.text
    if len(text) <= LINE_CUT:
        return text
    start = max((row.at or 0) - LEAD, 0)
    piece = text[start : start + LINE_CUT]
    before, after = "…" if start else "", "…" if start + LINE_CUT < len(text) else ""
    return f"{before}{piece}{after} (cut; the line has {len(text):,} characters)"
