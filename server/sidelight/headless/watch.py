"""Watches files for FileChanged hooks where no editor reports changes."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread

from sidelight.core.host import ChangeKind, FileChange

Report = Callable[[FileChange], Awaitable[None]]


async def watch_files(folder: str, watched: Callable[[], tuple[str, ...]], report: Report) -> None:
    """Report changes below the folder until cancelled; returns at once if nothing is watched.

    What is below `.git` or an ignored dependency folder is left out, as editors do.
    """
    if not watched():
        return
    import watchfiles

    places = await anyio.to_thread.run_sync(_places, folder, watched())

    kinds: dict[watchfiles.Change, ChangeKind] = {
        watchfiles.Change.added: "add",
        watchfiles.Change.modified: "change",
        watchfiles.Change.deleted: "unlink",
    }
    library: Any = watchfiles  # a part of `awatch`'s annotation is not public
    async for changes in library.awatch(*places, step=50, debounce=200):
        batch: set[tuple[watchfiles.Change, str]] = changes
        for kind, path in sorted(batch):
            await report(FileChange(path=path, event=kinds[kind]))


def _places(folder: str, watched: tuple[str, ...]) -> list[str]:
    """The folders to watch: ours, and those of watched files elsewhere."""
    outside = {str(Path(path).parent) for path in watched if not path.startswith(folder + os.sep)}
    return [folder, *sorted(place for place in outside if Path(place).is_dir())]
