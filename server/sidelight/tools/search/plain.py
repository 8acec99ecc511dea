"""Searching without ripgrep: the same answers, more slowly."""

import os
import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio.to_thread

from sidelight.tools.search.expression import Expression, compile_query
from sidelight.tools.search.ignore import Folder, Globs, kind_globs, user_rules
from sidelight.tools.search.query import Listing, Query, Row, Scope, Shown, check

MAX_FILE_BYTES = 64 * 1024 * 1024
TOO_LARGE = f"larger than {MAX_FILE_BYTES >> 20} MB, which takes ripgrep"


class PlainSearch:
    """Reads files one after the other in a thread; `timeout` is in seconds for each search."""

    def __init__(self, timeout: float = 30.0) -> None:
        self._timeout = timeout

    async def files(self, scope: Scope) -> Listing:
        """The files of a scope."""
        return await anyio.to_thread.run_sync(self._files, scope, abandon_on_cancel=True)

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match."""
        check(query, scope)
        expression = compile_query(query)
        return await anyio.to_thread.run_sync(
            self._matching, scope, query, expression, abandon_on_cancel=True
        )

    async def rows(self, paths: Sequence[str], query: Query, most: int) -> Shown:
        """The lines to show, by file."""
        check(query)
        expression = compile_query(query)
        return await anyio.to_thread.run_sync(
            self._shown, paths, query, most, expression, abandon_on_cancel=True
        )

    def _files(self, scope: Scope) -> Listing:
        listing = Listing()
        deadline = time.monotonic() + self._timeout
        for path in _walk(scope, listing.problems):
            if time.monotonic() > deadline:
                listing.timed_out = True
                break
            listing.files[path] = 0
        return listing

    def _matching(self, scope: Scope, query: Query, expression: Expression) -> Listing:
        listing = Listing()
        deadline = time.monotonic() + self._timeout
        for path in _walk(scope, listing.problems):
            try:
                text = _text(path, listing.problems)
                count = _count(text, query, expression, deadline)
            except TimeoutError:
                listing.timed_out = True
                break
            if count:
                listing.files[path] = count
        return listing

    def _shown(
        self, paths: Sequence[str], query: Query, most: int, expression: Expression
    ) -> Shown:
        shown = Shown({path: [] for path in paths})
        deadline = time.monotonic() + self._timeout
        for path in paths:
            try:
                text = _text(path, shown.problems)
                shown.rows[path] = _rows(text, query, most, expression, deadline)
            except TimeoutError:
                shown.timed_out = True
                break
        return shown


def _walk(scope: Scope, problems: list[str]) -> Iterator[str]:
    """The files of a scope; symbolic links inside of it are not followed."""
    root = Path(scope.root)
    globs = Globs(scope.globs)
    kinds = Globs(kind_globs(scope.kind)) if scope.kind else None
    if root.is_file():
        yield str(root)
        return
    common = user_rules() if scope.respect_ignore else None
    open_folders = [Folder.at(root)]
    while open_folders:
        folder = open_folders.pop()
        try:
            entries = list(os.scandir(folder.path))
        except OSError as error:
            problems.append(f"{folder.path}: {error.strerror}")
            continue
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not (is_folder or entry.is_file(follow_symlinks=False)):
                continue
            relative = Path(entry.path).relative_to(root).as_posix()
            if not folder.shows(entry.name, relative, globs, scope, common, folder=is_folder):
                continue
            if is_folder:
                open_folders.append(folder.inside(Path(entry.path)))
            elif kinds is None or kinds.wants(relative, folder=False):
                yield entry.path


def _text(path: str, problems: list[str]) -> str:
    """The file's text with LF line ends; empty if it is binary or cannot be read, which is said."""
    try:
        with Path(path).open("rb") as stream:
            if os.fstat(stream.fileno()).st_size > MAX_FILE_BYTES:
                problems.append(f"{path}: {TOO_LARGE}")
                return ""
            data = stream.read()
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
        return ""
    codec = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}.get(data[:2], "utf-8-sig")
    if codec == "utf-8-sig" and b"\0" in data:
        return ""
    return data.decode(codec, "replace").replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _spans(
    text: str, query: Query, expression: Expression, deadline: float
) -> Iterator[tuple[int, int]]:
    """Where matches begin and end, as offsets of the text; without multiline line by line."""
    if query.multiline:
        yield from expression.spans(text, deadline)
        return
    start = 0
    for line in _lines(text):
        yield from ((start + a, start + b) for a, b in expression.spans(line, deadline))
        start += len(line) + 1


def _count(text: str, query: Query, expression: Expression, deadline: float) -> int:
    if query.multiline:
        return sum(1 for _ in _spans(text, query, expression, deadline))
    return sum(1 for line in _lines(text) if any(True for _ in expression.spans(line, deadline)))


def _rows(text: str, query: Query, most: int, expression: Expression, deadline: float) -> list[Row]:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    lines = _lines(text)
    hits: dict[int, int] = {}
    only: list[Row] = []
    for start, end in _spans(text, query, expression, deadline):
        first = bisect_right(starts, start) - 1
        last = min(max(bisect_right(starts, max(end - 1, start)) - 1, first), len(lines) - 1)
        if len(hits) >= most and first not in hits:
            break
        if end > start:
            only.append(Row.of(first + 1, text[start:end], 0))
        for number in range(first, last + 1):
            hits.setdefault(number, max(start - starts[number], 0))
    if query.only_matching:
        return only
    shown = {
        number
        for hit in hits
        for number in range(hit - query.before, hit + query.after + 1)
        if 0 <= number < len(lines)
    }
    return [Row.of(number + 1, lines[number], hits.get(number)) for number in sorted(shown)]
