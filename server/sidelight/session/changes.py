"""Joins the reports of one change (a save, a watcher) into one `FileChange`."""

import os
from dataclasses import dataclass, field

from sidelight.core.host import ChangeKind, FileChange

Signature = tuple[int, int, int]


@dataclass(slots=True)
class ChangeJoiner:
    """Tells whether a report is news, by the file's state on disk and not by a clock.

    A report is old when the file is as it was at the report before it.
    """

    _known: dict[str, Signature | None] = field(default_factory=dict[str, Signature | None])

    def news(self, reported: FileChange) -> FileChange | None:
        """The change to tell of, or None; what happened is read from the disk."""
        path = reported.path
        now = _signature(path)
        if path in self._known and self._known[path] == now:
            return None
        existed = self._known.get(path) is not None or reported.event != "add"
        self._known[path] = now
        return FileChange(path=path, event=_kind(now, existed=existed))


def _signature(path: str) -> Signature | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (the raw result is what is compared)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _kind(now: Signature | None, *, existed: bool) -> ChangeKind:
    if now is None:
        return "unlink"
    return "change" if existed else "add"
