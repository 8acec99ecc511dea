"""What the model has seen of which file, and which writes were our own."""

import hashlib
from dataclasses import dataclass


def digest_of(text: str) -> str:
    """Name of a text's content: SHA-256 over its UTF-8 form, lone surrogates included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the model last saw it; `whole` is False after a partial view."""

    digest: str
    text: str
    whole: bool


class FileLedger:
    """One session's memory of files, keyed by real absolute path. Not shared between sessions."""

    def __init__(self) -> None:
        self._seen: dict[str, Seen] = {}
        self._own_writes: dict[str, str] = {}

    def note_read(self, path: str, text: str, *, whole: bool) -> None:
        """The model was shown this text; a partial view never downgrades an equal whole one."""
        digest = digest_of(text)
        before = self._seen.get(path)
        whole = whole or (before is not None and before.whole and before.digest == digest)
        self._seen[path] = Seen(digest, text, whole)

    def note_write(self, path: str, text: str) -> None:
        """We wrote this text; the model knows it, and a report of the write is ours."""
        digest = digest_of(text)
        self._seen[path] = Seen(digest, text, True)
        self._own_writes[path] = digest

    def seen(self, path: str) -> Seen | None:
        """How the model last saw the file, None if never."""
        return self._seen.get(path)

    def is_own_write(self, path: str, digest: str) -> bool:
        """Whether the file's present content is what we wrote last."""
        return self._own_writes.get(path) == digest

    def seen_paths(self) -> tuple[str, ...]:
        """Every path that the model has seen, in the order of first sight."""
        return tuple(self._seen)
