"""Searching open documents as the user sees them."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.to_thread

from sidelight.core.host import FileSnapshot, Host
from sidelight.files.paths import real
from sidelight.tools.search.found import Conceals
from sidelight.tools.search.ignore import selects
from sidelight.tools.search.query import Engine, Listing, Query, Scope, Shown


class OnScreen:
    """Implements Engine: `copies` (path to copy) are searched in the place of files."""

    def __init__(self, engine: Engine, folder: str, copies: Mapping[str, str]) -> None:
        self._engine = engine
        self._folder = folder
        self.copies = copies

    async def files(self, scope: Scope) -> Listing:
        """The files of a scope, and the documents in it that are not on disk."""
        listing = await self._engine.files(scope)
        return replace(listing, files=self._on_disk(listing) | dict.fromkeys(self.copies, 0))

    async def matching(self, scope: Scope, query: Query) -> Listing:
        """The files that match; all documents of `copies` are in the scope."""
        listing = await self._engine.matching(scope, query)
        paths = {copy: path for path, copy in self.copies.items()}
        open_ones = await self._engine.matching(Scope(self._folder, respect_ignore=False), query)
        counted = {paths[copy]: count for copy, count in open_ones.files.items() if copy in paths}
        on_disk = self._on_disk(listing)
        kept = {path: count for path, count in on_disk.items() if path not in self.copies}
        return replace(
            listing, files=kept | counted, timed_out=listing.timed_out or open_ones.timed_out
        )

    async def rows(self, paths: Sequence[str], query: Query, most: int) -> Shown:
        """The lines to show, by file."""
        places = [self.copies.get(path, path) for path in paths]
        shown = await self._engine.rows(places, query, most)
        rows = {path: shown.rows[place] for path, place in zip(paths, places, strict=True)}
        problems = [self._named(problem) for problem in shown.problems]
        return replace(shown, rows=rows, problems=problems)

    def _named(self, problem: str) -> str:
        """A problem with a copy as one with its document."""
        for path, copy in self.copies.items():
            problem = problem.replace(copy, path)
        return problem

    def _on_disk(self, listing: Listing) -> dict[str, int]:
        """Files less the copies: a search may go through the folder that has them."""
        own = self._folder + os.sep
        return {path: count for path, count in listing.files.items() if not path.startswith(own)}


@asynccontextmanager
async def as_seen(
    engine: Engine, scope: Scope, host: Host, scratch: str, conceals: Conceals
) -> AsyncGenerator[OnScreen | None]:
    """An engine that knows the documents with unsaved changes; None if there are none in scope.

    The copies lie in a private folder below `scratch` until the end; of documents that must not
    be seen there are none.
    """
    documents = await host.unsaved()
    if not documents:
        yield None
        return
    texts = await anyio.to_thread.run_sync(_in_scope, scope, documents, conceals)
    if not texts:
        yield None
        return
    await anyio.Path(scratch).mkdir(0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="unsaved-", dir=real(scratch)) as folder:
        copies = await anyio.to_thread.run_sync(_copied, folder, texts)
        yield OnScreen(engine, folder, copies)


def _in_scope(
    scope: Scope, documents: Sequence[FileSnapshot], conceals: Conceals
) -> dict[str, str]:
    """The texts by path, spelled from the scope's root on as the engines spell it."""
    base = real(scope.root).rstrip(os.sep)
    whole_folder = Path(scope.root).is_dir()
    texts: dict[str, str] = {}
    for document in documents:
        place = real(document.path)
        inside = place.startswith(base + os.sep) if whole_folder else place == base
        path = scope.root.rstrip(os.sep) + place.removeprefix(base)
        if inside and selects(scope, path) and not (whole_folder and conceals([place])):
            texts[path] = document.text
    return texts


def _copied(folder: str, texts: Mapping[str, str]) -> dict[str, str]:
    copies: dict[str, str] = {}
    for number, (path, text) in enumerate(texts.items()):
        copy = Path(folder) / f"{number}.txt"
        copy.write_bytes(text.encode("utf-8", "surrogatepass"))
        copies[path] = str(copy)
    return copies
