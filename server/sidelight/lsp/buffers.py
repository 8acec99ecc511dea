"""The open documents as the editor has them; the open buffer is the truth.

Loaded before `initialize` is answered: plain Python only.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from lsprotocol import types

from sidelight.lsp.convert import file_key, path_of, real_key
from sidelight.lsp.lines import Encoding, Lines, Place

log = logging.getLogger(__name__)

BufferEvent = Literal["opened", "changed", "saved", "closed", "disk"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


class Buffer:
    """One open document. `uri` is spelled as the client spells it.

    `saved_text` is what the editor wrote to disk last, None as long as it has not been seen
    saving; `saves` counts its saves; `disk_changed` is set when the watcher reported the file
    since the last save.
    """

    def __init__(self, uri: str, version: int, text: str, language_id: str) -> None:
        self.uri = uri
        self.path = path_of(uri)
        self.version = version
        self.language_id = language_id
        self.lines = Lines(text)
        self.saved_text: str | None = None
        self.saves = 0
        self.disk_changed = False

    @property
    def text(self) -> str:
        """The whole text, line ends as they are."""
        return self.lines.text

    def left_behind(self) -> None:
        """The file was changed behind the editor's back; the buffer as it is has nothing new."""
        self.saved_text = self.text
        self.disk_changed = True


Listener = Callable[[Buffer, BufferEvent], None]


class Buffers:
    """All open documents, by URI and by path; the encoding of columns is the client's choice."""

    def __init__(self) -> None:
        self.encoding: Encoding = "utf-16"
        self.listeners: list[Listener] = []
        self._by_uri: dict[str, Buffer] = {}

    def use_encoding(self, offered: Sequence[str]) -> None:
        """Take the first of the client's encodings that we know; utf-16 without any."""
        for offer in offered:
            for known in ENCODINGS:
                if known == offer:
                    self.encoding = known
                    return

    def get(self, uri: str) -> Buffer | None:
        """An open document by its URI, in the client's spelling."""
        return self._by_uri.get(uri)

    def all(self) -> tuple[Buffer, ...]:
        """All open documents, as of now."""
        return tuple(self._by_uri.values())

    def find(self, path: str) -> Buffer | None:
        """An open document by its path, whatever the spelling, and through symbolic links."""
        key = file_key(path)
        for buffer in self._by_uri.values():
            if file_key(buffer.path) == key:
                return buffer
        key = real_key(path)
        return next((one for one in self._by_uri.values() if real_key(one.path) == key), None)

    def open(self, uri: str, version: int, text: str, language_id: str) -> None:
        """`didOpen`; a second one for the same document replaces the first."""
        if uri in self._by_uri:
            log.warning("didOpen for a document that is open already: %s", uri)
        self._by_uri[uri] = Buffer(uri, version, text, language_id)
        self._tell(uri, "opened")

    def change(
        self, uri: str, version: int, changes: Iterable[types.TextDocumentContentChangeEvent]
    ) -> None:
        """`didChange`: the changes in their order, each on the result of those before it."""
        buffer = self._by_uri.get(uri)
        if buffer is None:
            log.error("didChange for a document that is not open was ignored: %s", uri)
            return
        if version <= buffer.version:
            log.warning("the version of %s went from %d to %d", uri, buffer.version, version)
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                buffer.lines.replace(
                    Place(start.line, start.character),
                    Place(end.line, end.character),
                    change.text,
                    self.encoding,
                )
            else:
                buffer.lines = Lines(change.text)
        buffer.version = version
        self._tell(uri, "changed")

    def saved(self, uri: str) -> None:
        """`didSave`: the disk holds the buffer's text now."""
        buffer = self._by_uri.get(uri)
        if buffer is not None:
            buffer.saved_text = buffer.text
            buffer.saves += 1
            buffer.disk_changed = False
            self._tell(uri, "saved")

    def disk_changed(self, uri: str) -> None:
        """The watcher reported the file behind a document, open or not."""
        buffer = self._by_uri.get(uri) or self.find(path_of(uri))
        if buffer is not None:
            buffer.disk_changed = True
            self._tell(buffer.uri, "disk")

    def close(self, uri: str) -> None:
        """`didClose`: the disk is the truth again."""
        buffer = self._by_uri.pop(uri, None)
        if buffer is None:
            log.error("didClose for a document that is not open was ignored: %s", uri)
            return
        for listener in list(self.listeners):
            listener(buffer, "closed")

    def _tell(self, uri: str, event: BufferEvent) -> None:
        for listener in list(self.listeners):
            listener(self._by_uri[uri], event)
