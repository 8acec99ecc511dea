"""Searching without ripgrep: the same answers, more slowly, in Python's regular expressions."""

import os
import re
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio.to_thread

from sidelight.core.errors import ToolError
from sidelight.tools.search.ignore import Folder, Globs, is_version_control, user_rules
from sidelight.tools.search.query import Listing, Query, Row, Scope

MAX_FILE_BYTES = 64 * 1024 * 1024
KINDS: dict[str, tuple[str, ...]] = {
    "c": ("*.[ch]", "*.[ch].in", "*.cats"),
    "cpp": ("*.[ChH]", "*.cc", "*.[ch]pp", "*.[ch]xx", "*.hh", "*.inl", "*.[ChH].in"),
    "css": ("*.css", "*.scss"),
    "go": ("*.go",),
    "html": ("*.htm", "*.html", "*.ejs"),
    "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
    "js": ("*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"),
    "json": ("*.json", "*.sarif", "composer.lock"),
    "md": ("*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
    "php": ("*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"),
    "py": ("*.py", "*.pyi"),
    "rust": ("*.rs",),
    "sql": ("*.sql", "*.psql"),
    "toml": ("*.toml", "Cargo.lock"),
    "ts": ("*.ts", "*.tsx", "*.cts", "*.mts"),
    "txt": ("*.txt",),
    "yaml": ("*.yaml", "*.yml"),
}


class PlainSearch:
    """Reads files one after the other in a thread; `timeout` is in seconds for each search."""

    def __init__(self, timeout: float = 30.0) -> None:
        self._timeout = timeout

    async def files(self, scope: Scope) -> Listing:
        """The files of a scope."""
        return await anyio.to_thread.run_sync(self._files, scope, abandon_on_cancel=True)

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match; raises ToolError for a pattern that Python does not know."""
        pattern = _compiled(query)
        return await anyio.to_thread.run_sync(
            self._matching, scope, query, pattern, abandon_on_cancel=True
        )

    async def rows(self, paths: Sequence[str], query: Query) -> dict[str, list[Row]]:
        """The lines to show, by file."""
        pattern = _compiled(query)

        def work() -> dict[str, list[Row]]:
            texts = ((path, _text(path)) for path in paths)
            return {p: _rows(text or "", query, pattern) for p, text in texts}

        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    def _files(self, scope: Scope) -> Listing:
        listing = Listing()
        deadline = time.monotonic() + self._timeout
        for path in _walk(scope, listing.problems):
            if time.monotonic() > deadline:
                listing.timed_out = True
                break
            listing.files[path] = 0
        return listing

    def _matching(self, scope: Scope, query: Query, pattern: re.Pattern[str]) -> Listing:
        listing = Listing()
        deadline = time.monotonic() + self._timeout
        for path in _walk(scope, listing.problems):
            if time.monotonic() > deadline:
                listing.timed_out = True
                break
            try:
                text = _text(path)
            except OSError as error:
                listing.problems.append(f"{path}: {error.strerror}")
                continue
            count = _count(text, query, pattern) if text is not None else 0
            if count:
                listing.files[path] = count
        return listing


def _walk(scope: Scope, problems: list[str]) -> Iterator[str]:
    """The files of a scope; symbolic links inside of it are not followed."""
    root = Path(scope.root)
    if root.is_file():
        yield str(root)
        return
    globs = Globs(scope.globs)
    kinds = Globs(_globs_of(scope.kind)) if scope.kind else None
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
            if is_version_control(entry.name) or not (is_folder or _is_file(entry)):
                continue
            relative = Path(entry.path).relative_to(root).as_posix()
            wanted = globs.wants(relative, folder=is_folder)
            if wanted is None and scope.respect_ignore:
                wanted = not folder.ignores(entry.name, folder=is_folder, common=common)
            if wanted is False:
                continue
            if is_folder:
                open_folders.append(folder.inside(Path(entry.path)))
            elif kinds is None or kinds.wants(relative, folder=False):
                yield entry.path


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)


def _globs_of(kind: str) -> tuple[str, ...]:
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise ToolError(
            f"File type {kind!r} is not known here (ripgrep is missing). Known are {known}; "
            "use glob for others.",
            "invalid_input",
        )
    return KINDS[kind]


def _compiled(query: Query) -> re.Pattern[str]:
    if not query.multiline and re.search(r"(?<!\\)(?:\\\\)*\\n|\n", query.pattern):
        raise ToolError(
            r"The search failed: the pattern has \n, which needs multiline.", "invalid_input"
        )
    flags = re.MULTILINE
    flags |= re.IGNORECASE if query.ignore_case else 0
    flags |= re.DOTALL if query.multiline else 0
    try:
        return re.compile(query.pattern, flags)
    except re.error as error:
        raise ToolError(
            f"The search failed: regex parse error: {error}", "invalid_input"
        ) from error


def _text(path: str) -> str | None:
    """The file's text with LF line ends; None if it is binary or too large."""
    with Path(path).open("rb") as stream:
        if os.fstat(stream.fileno()).st_size > MAX_FILE_BYTES:
            return None
        data = stream.read()
    codec = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}.get(data[:2], "utf-8-sig")
    if codec == "utf-8-sig" and b"\0" in data:
        return None
    return data.decode(codec, "replace").replace("\r\n", "\n")


def _spans(text: str, query: Query, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where matches begin and end, as offsets of the text; without multiline line by line."""
    if query.multiline:
        yield from (match.span() for match in pattern.finditer(text))
        return
    start = 0
    for line in text.removesuffix("\n").split("\n") if text else ():
        yield from ((start + m.start(), start + m.end()) for m in pattern.finditer(line))
        start += len(line) + 1


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _count(text: str, query: Query, pattern: re.Pattern[str]) -> int:
    if query.multiline:
        return sum(1 for _ in _spans(text, query, pattern))
    lines = text.removesuffix("\n").split("\n") if text else []
    return sum(1 for line in lines if pattern.search(line))


def _rows(text: str, query: Query, pattern: re.Pattern[str]) -> list[Row]:
    starts = _line_starts(text)
    lines = text.removesuffix("\n").split("\n")
    hits: dict[int, int] = {}
    only: list[Row] = []
    for start, end in _spans(text, query, pattern):
        first = bisect_right(starts, start) - 1
        last = min(max(bisect_right(starts, max(end - 1, start)) - 1, first), len(lines) - 1)
        only.append(Row(first + 1, text[start:end], 0))
        for number in range(first, last + 1):
            hits.setdefault(number, max(start - starts[number], 0))
    if query.only_matching:
        return [row for row in only if row.text]
    shown = {
        number
        for hit in hits
        for number in range(hit - query.before, hit + query.after + 1)
        if 0 <= number < len(lines)
    }
    return [Row(number + 1, lines[number], hits.get(number)) for number in sorted(shown)]
