"""Decides which scripted answer a request gets."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from tests.fakes.messages_api.request import Request
from tests.fakes.messages_api.script import Answer, HangUp, HttpError, Reply, Responder, Script

Entry = Answer | Responder


class Playlist:
    """Replies not yet played; safe to extend from any thread."""

    def __init__(self, script: Script) -> None:
        self._lock = threading.Lock()
        self._responder: Responder | None = None
        self._entries: list[Entry] = []
        if callable(script):
            self._responder = script
        else:
            self._entries.extend(script)

    def add(self, entries: Iterable[Entry]) -> None:
        """Append replies to the end of the script."""
        with self._lock:
            self._entries.extend(entries)

    @property
    def unplayed(self) -> int:
        """How many replies are left."""
        with self._lock:
            return len(self._entries)

    def take(self, request: Request) -> Answer | None:
        """The answer to a request, or None when the script has none left for it."""
        with self._lock:
            entry = self._pick(request)
        if entry is None:
            return self._responder(request) if self._responder else None
        return entry if isinstance(entry, (Reply, HttpError, HangUp)) else entry(request)

    def _pick(self, request: Request) -> Entry | None:
        plain: int | None = None
        for index, entry in enumerate(self._entries):
            when = entry.when if isinstance(entry, (Reply, HttpError, HangUp)) else None
            if when is not None and when(request):
                return self._entries.pop(index)
            if when is None and plain is None:
                plain = index
        return None if plain is None else self._entries.pop(plain)
