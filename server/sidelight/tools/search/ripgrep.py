"""Searching with ripgrep."""

import base64
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidelight.core.errors import ToolError
from sidelight.process.environment import child_environment
from sidelight.process.run import Finished, run
from sidelight.tools.search.ignore import in_repository
from sidelight.tools.search.query import VERSION_CONTROL, Listing, Query, Row, Scope

MAX_BYTES = 32 * 1024 * 1024


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
        for name in output.split(b"\0")[:-1]:
            listing.files[_path(scope, name)] = 0
        return listing

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match; raises ToolError with ripgrep's own text for a bad pattern."""
        words = ["--count", "--with-filename", "--null", *_pattern(query)]
        listing, output = await self._list(scope, words)
        for line in output.split(b"\n"):
            # With --crlf ripgrep ends its own lines so, too.
            name, found, count = line.rstrip(b"\r").partition(b"\0")
            if found and count.isdigit():
                listing.files[_path(scope, name)] = int(count)
        return listing

    async def rows(self, paths: Sequence[str], query: Query) -> dict[str, list[Row]]:
        """The lines to show, by file."""
        context = [f"--before-context={query.before}", f"--after-context={query.after}"]
        words = ["--json", *context, *_pattern(query), "--", *paths]
        finished = await self._run(words, str(Path(paths[0]).parent))
        rows: dict[str, list[Row]] = {path: [] for path in paths}
        for line in _kept(finished).split(b"\n")[:-1]:
            event = json.loads(line)
            if event["type"] in {"match", "context"}:
                rows[_text(event["data"]["path"])] += _rows(event["data"], query)
        return rows

    async def _list(self, scope: Scope, words: list[str]) -> tuple[Listing, bytes]:
        folder, where = _where(scope)
        # Outside of a repository ignore files count too; inside, they end at its root.
        outside = [] if in_repository(Path(folder)) else ["--no-require-git"]
        finished = await self._run([*outside, *_selection(scope), *words, "--", where], folder)
        output = _kept(finished)
        listing = Listing(timed_out=finished.timed_out, cut=finished.truncated)
        if finished.exit_code == 2:
            lines = finished.stderr.decode("utf-8", "replace").splitlines()
            listing.problems = [line.removeprefix("rg: ") for line in lines if "os error" in line]
            if not output and len(listing.problems) < len(lines):
                message = "\n".join(lines).removeprefix("rg: ").strip()
                raise ToolError(f"The search failed: {message}", "invalid_input")
        return listing, output

    async def _run(self, words: list[str], folder: str) -> Finished:
        try:
            return await run(
                [self._program, "--no-config", "--hidden", "--crlf", *words],
                cwd=folder,
                env=child_environment(os.environ),
                timeout=self._timeout,
                limit=2 * MAX_BYTES,
            )
        except OSError as error:
            raise ToolError(f"The search could not be started: {error}") from error


def _kept(finished: Finished) -> bytes:
    """The beginning of the output; what follows a gap is left out."""
    return finished.stdout[:MAX_BYTES] if finished.truncated else finished.stdout


def _where(scope: Scope) -> tuple[str, str]:
    """The folder to run in and what to search there."""
    root = Path(scope.root)
    return (scope.root, ".") if root.is_dir() else (str(root.parent), root.name)


def _path(scope: Scope, name: bytes) -> str:
    folder, _ = _where(scope)
    return str(Path(folder) / os.fsdecode(name))


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


def _rows(data: dict[str, Any], query: Query) -> list[Row]:
    """A match or context event as lines; a match over several lines becomes several."""
    first: int = data["line_number"]
    raw = _text(data["lines"]).encode("utf-8", "surrogateescape")
    matches: list[dict[str, Any]] = data["submatches"]
    if query.only_matching:
        return [Row(first + raw.count(b"\n", 0, m["start"]), _text(m["match"]), 0) for m in matches]
    rows: list[Row] = []
    start = 0
    for index, line in enumerate(raw.removesuffix(b"\n").split(b"\n")):
        within = [
            m["start"] for m in matches if m["start"] <= start + len(line) and m["end"] >= start
        ]
        at = len(line[: max(within[0] - start, 0)].decode("utf-8", "replace")) if within else None
        text = line.removesuffix(b"\r").decode("utf-8", "replace")
        rows.append(Row(first + index, text, at))
        start += len(line) + 1
    return rows
