"""Writes a transcript: one `write` a line, synced when something is acknowledged."""

import hashlib
import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic_core import PydanticSerializationError

from sidelight.core.content import mended
from sidelight.core.errors import AgentError
from sidelight.transcripts.entry import Entry


class TranscriptError(AgentError):
    """A transcript cannot be opened; the message says why, for the user."""


def folder_for(state_home: Path, cwd: str) -> Path:
    """The folder of a working directory's sessions, keyed by its real path."""
    real = os.path.realpath(cwd)
    return state_home / "sessions" / hashlib.sha256(real.encode()).hexdigest()[:16]


class Transcript:
    """An open transcript; owns its file and a lock, so that no second process writes to it.

    `size` is what the file held when it was opened, in bytes.
    """

    def __init__(self, path: Path) -> None:
        """Open for appending, creating folder and file (both private to the user).

        Raises TranscriptError when another process has it open, OSError when the disk refuses.
        """
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        # Opened in one worker thread and closed in another.
        self._lock = FileLock(path.with_suffix(".lock"), mode=0o600, thread_local=False)
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            message = f"The conversation {path.stem} is open in another window."
            raise TranscriptError(message) from error
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        self.size = os.fstat(self._file).st_size
        if self.size and os.pread(self._file, 1, self.size - 1) != b"\n":
            self._write(b"\n")  # a line cut off by a crash must not swallow the next one

    def append(self, entry: Entry, *, sync: bool = False) -> None:
        """Write one line; with `sync` it is on the disk when this returns. Raises OSError."""
        stamped = entry.model_copy(update={"at": datetime.now(UTC).isoformat()})
        self._write(_line(stamped))
        if sync:
            self.sync()

    def sync(self) -> None:
        """Put everything on the disk. Raises OSError."""
        os.fsync(self._file)

    def close(self) -> None:
        """Release the file and the lock; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self._lock.release()

    def _write(self, data: bytes) -> None:
        before = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            with suppress(OSError):  # half a line must not swallow the next one
                os.ftruncate(self._file, before)
            raise


def _line(entry: Entry) -> bytes:
    try:
        text = entry.model_dump_json(by_alias=True, exclude_none=True)
    except PydanticSerializationError:  # half a character somewhere in a tool's data
        values = entry.model_dump(mode="json", by_alias=True, exclude_none=True)
        text = mended(json.dumps(values, ensure_ascii=False))
    return text.encode() + b"\n"
