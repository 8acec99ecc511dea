"""Searching with ripgrep."""

import base64
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sidelight.core.errors import ToolError
from sidelight.process.environment import child_environment
from sidelight.process.run import Finished, run
from sidelight.tools.search.ignore import in_repository
from sidelight.tools.search.query import (
    VERSION_CONTROL,
    Listing,
    Query,
    Row,
    Scope,
    Shown,
    check,
    failure,
)

MAX_BYTES = 32 * 1024 * 1024
MAX_EVENT = 192 * 1024 * 1024
"""A longer line of ripgrep's report is not read; a line of a file of a third of it always is."""
COUNT = re.compile(rb"([^\0]+)\0(\d+)\r?\n")


def find_ripgrep() -> str | None:
    """The program that came with the package, else the one on PATH, else None."""
    name = "rg.exe" if os.name == "nt" else "rg"
    packaged = Path(sys.executable).parent / name
    return str(packaged) if packaged.is_file() else shutil.which(name)


class Ripgrep:
    """Runs `program` with limits; `timeout` is in seconds for each run."""

    def __init__(self, program: str, timeout: float = 30.0) -> None:
        self._program = program
        self._timeout = timeout

    async def files(self, scope: Scope) -> Listing:
        """The files of a scope."""
        listing, output = await self._list(scope, ["--files", "--null"])
        names = os.fsdecode(output).split("\0")[:-1]
        listing.files = dict.fromkeys(_paths(scope, names), 0)
        return listing

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match; raises ToolError with ripgrep's own text for a bad pattern."""
        check(query, scope)
        count = "--count-matches" if query.multiline else "--count"
        words = [count, "--with-filename", "--null", *_pattern(query)]
        listing, output = await self._list(scope, words)
        # A name may hold a line end, and with --crlf ripgrep ends its own lines with two signs.
        found = [(os.fsdecode(name), int(count)) for name, count in COUNT.findall(output)]
        counts = (count for _, count in found)
        listing.files = dict(zip(_paths(scope, [n for n, _ in found]), counts, strict=True))
        return listing

    async def rows(self, paths: Sequence[str], query: Query, most: int) -> Shown:
        """The lines to show, by file."""
        check(query)
        shown = Shown({path: [] for path in paths})
        around = [f"--before-context={query.before}", f"--after-context={query.after}"]
        words = ["--json", f"--max-count={most}", *around, *_pattern(query), "--", *paths]

        def take(line: bytes) -> None:
            event = json.loads(line)
            if event["type"] in {"match", "context"}:
                found = event["type"] == "match"
                shown.rows[_text(event["data"]["path"])] += _rows(event["data"], query, found)

        lines = _Lines(take)
        finished = await self._run(words, str(Path(paths[0]).parent), lines.feed, 1 << 16)
        shown.timed_out = finished.timed_out
        shown.problems = _unread(finished)
        shown.problems += [f"{path}: a line is too long to be shown" for path in lines.too_long]
        return shown

    async def _list(self, scope: Scope, words: list[str]) -> tuple[Listing, bytes]:
        folder, where = _where(scope)
        # Outside of a repository ignore files count too; inside, they end at its root.
        outside = [] if in_repository(Path(folder)) else ["--no-require-git"]
        words = [*outside, *_selection(scope), *words, "--", where]
        finished = await self._run(words, folder, None, 2 * MAX_BYTES)
        output = _kept(finished)
        listing = Listing(timed_out=finished.timed_out, cut=finished.truncated)
        listing.problems = _unread(finished)
        if finished.exit_code == 2 and not output and not listing.problems:
            raise failure(_said(finished).removeprefix("rg: "))
        return listing, output

    async def _run(
        self, words: list[str], folder: str, take: Callable[[bytes], None] | None, limit: int
    ) -> Finished:
        try:
            return await run(
                [self._program, "--no-config", "--hidden", "--crlf", *words],
                cwd=folder,
                env=child_environment(os.environ),
                timeout=self._timeout,
                on_output=take,
                limit=limit,
            )
        except OSError as error:
            raise ToolError(f"The search could not be started: {error}") from error


class _Lines:
    """Gives out a stream's lines one by one; `too_long` names the files of those it did not keep.

    Only one line is held at a time: a file may be one line of many megabytes.
    """

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self.too_long: list[str] = []
        self._take = take
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """The next piece of output."""
        *ended, rest = data.split(b"\n")
        for end in ended:
            self._add(end)
            self._finish()
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= MAX_EVENT or not self._pieces:
            self._pieces.append(piece)

    def _finish(self) -> None:
        if self._size <= MAX_EVENT:
            self._take(b"".join(self._pieces))
        else:
            start = self._pieces[0].decode("utf-8", "replace").partition('"path":')[2]
            self.too_long.append(_text(json.JSONDecoder().raw_decode(start)[0]))
        self._pieces, self._size = [], 0


def _said(finished: Finished) -> str:
    return finished.stderr.decode("utf-8", "backslashreplace")


def _unread(finished: Finished) -> list[str]:
    lines = _said(finished).splitlines() if finished.exit_code == 2 else []
    return [line.removeprefix("rg: ") for line in lines if "os error" in line]


def _kept(finished: Finished) -> bytes:
    """The beginning of the output; what follows a gap is left out."""
    return finished.stdout[:MAX_BYTES] if finished.truncated else finished.stdout


def _where(scope: Scope) -> tuple[str, str]:
    """The folder to run in and what to search there."""
    root = Path(scope.root)
    return (scope.root, ".") if root.is_dir() else (str(root.parent), root.name)


def _paths(scope: Scope, names: Iterable[str]) -> list[str]:
    """Absolute paths of what ripgrep names from the folder on, as `./a`, or of the one file."""
    folder, where = _where(scope)
    base = folder.rstrip(os.sep) + os.sep
    skipped = 2 if where == "." else 0
    return [base + name[skipped:] for name in names]


def _selection(scope: Scope) -> list[str]:
    words = [] if scope.respect_ignore else ["--no-ignore"]
    words += [f"--glob={glob}" for glob in scope.globs]
    words += [f"--glob=!{name}" for name in VERSION_CONTROL]
    return [*words, f"--type={scope.kind}"] if scope.kind else words


def _pattern(query: Query) -> list[str]:
    words = [f"--regexp={query.pattern}"]
    words += ["--ignore-case"] if query.ignore_case else []
    return [*words, "--multiline", "--multiline-dotall"] if query.multiline else words


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "surrogateescape")


def _rows(data: dict[str, Any], query: Query, found: bool) -> list[Row]:
    """An event as lines, those of a match if `found`; a match over lines becomes several."""
    first: int = data["line_number"]
    raw = _text(data["lines"]).encode("utf-8", "surrogateescape")
    matches: list[dict[str, Any]] = data["submatches"]
    if query.only_matching:
        return [
            Row.of(
                first + raw.count(b"\n", 0, m["start"]), _readable(raw[m["start"] : m["end"]]), 0
            )
            for m in matches
            if m["end"] > m["start"]
        ]
    rows: list[Row] = []
    start = 0
    for index, line in enumerate(raw.removesuffix(b"\n").split(b"\n")):
        end = start + len(line)
        at = next((m["start"] for m in matches if m["start"] <= end and m["end"] >= start), None)
        if found:  # of an empty match at the end of a text ripgrep does not tell the place
            at = len(_readable(line[: max((at or 0) - start, 0)]))
        rows.append(Row.of(first + index, _readable(line.removesuffix(b"\r")), at))
        start = end + 1
    return rows


def _readable(data: bytes) -> str:
    return data.decode("utf-8", "replace")
