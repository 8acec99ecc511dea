"""Keeps what waits for review across restarts: one small file a reviewed file."""

import hashlib
import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from sidelight.core.record import Record
from sidelight.review.ledger import Reviewed


class Stored(Record):
    """A reviewed file on disk."""

    path: str
    baseline: str | None
    current: str


class ReviewStore:
    """A folder of one session's reviewed files; private to the user."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._saved: dict[str, Reviewed] = {}
        self.problems: list[str] = []

    def load(self) -> dict[str, Reviewed]:
        """What was stored. A file that cannot be read is moved aside, to `problems` with why."""
        for file in sorted(self._folder.glob("*.json")):
            try:
                stored = Stored.model_validate_json(file.read_bytes())
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                where = ".".join(str(part) for part in first["loc"])
                self._set_aside(file, f"{where}: {first['msg']}" if where else first["msg"])
            except OSError as error:
                self._set_aside(file, error.strerror or str(error))
            else:
                self._saved[stored.path] = Reviewed(stored.baseline, stored.current)
        return dict(self._saved)

    def _set_aside(self, file: Path, reason: str) -> None:
        """Nothing writes over it there; what is in it can still be looked up."""
        kept = next(
            path
            for number in count()
            if not (path := file.with_suffix(f".unread{number or ''}")).exists()
        )
        try:
            file.rename(kept)
        except OSError as error:
            kept = file
            reason = f"{reason} (and it cannot be moved aside: {error.strerror})"
        self.problems.append(
            f"What waited for review in one file could not be read: {reason}. It is kept as "
            f"{kept}; the file itself is as it was, the other files wait for review as before."
        )

    def save(self, files: Mapping[str, Reviewed]) -> None:
        """Write what changed and remove what is settled. Raises OSError."""
        for path, reviewed in files.items():
            if self._saved.get(path) != reviewed:
                self._write(path, reviewed)
        for path in [path for path in self._saved if path not in files]:
            self._file(path).unlink(missing_ok=True)
            del self._saved[path]

    def _write(self, path: str, reviewed: Reviewed) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        stored = Stored(path=path, baseline=reviewed.baseline, current=reviewed.current)
        target = self._file(path)
        fresh = target.with_suffix(".new")
        fresh.write_text(stored.model_dump_json(by_alias=True), encoding="utf-8")
        os.replace(fresh, target)  # noqa: PTH105 (atomic on every platform)
        self._saved[path] = reviewed

    def _file(self, path: str) -> Path:
        return self._folder / f"{hashlib.sha256(path.encode()).hexdigest()[:24]}.json"
