"""Weights of the small model: which file is meant, where it is kept, and whether it is that file.

Parsing weights is native code, so nothing is loaded whose size and SHA-256 were not checked.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from sidelight.core.content import as_object
from sidelight.core.errors import AgentError
from sidelight.resources.locate import resource

RUNTIME = ("xllamacpp", "jedi")
"""What must be installed to use the weights; the hub's library is needed only to fetch them."""
EXTRA = 'python -m pip install "sidelight[local]"'
CHUNK = 1 << 22

Step = Callable[[int], None]


class WeightsError(AgentError):
    """The weights cannot be had; the sentence says what to do."""


@dataclass(frozen=True, slots=True)
class Weights:
    """One file of weights, pinned. `size` is in bytes, `window` in tokens, `licence` an SPDX id."""

    name: str
    title: str
    repo: str
    file: str
    size: int
    sha256: str
    licence: str
    holder: str
    window: int

    @property
    def megabytes(self) -> int:
        """The size for people."""
        return max(1, round(self.size / 1e6))


QWEN = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    title="Qwen2.5-Coder-1.5B-Instruct (Q4_K_M)",
    repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    holder="Copyright 2024 Alibaba Cloud",
    window=4096,
)


class Store:
    """The place of one model's weights in the user's cache."""

    def __init__(self, weights: Weights, cache: Path | None = None) -> None:
        self.weights = weights
        root = cache or user_cache_path("sidelight", appauthor=False)
        self.folder = root / "models" / weights.name
        self.path = self.folder / weights.file
        self.licence_path = self.folder / "LICENSE"
        self._checked = self.folder / "checked.json"

    @property
    def ready(self) -> bool:
        """Whether the checked file is there, unchanged since it was checked. Cheap."""
        try:
            known = as_object(json.loads(self._checked.read_text(encoding="utf-8")))
            return known == self._mark()
        except (OSError, ValueError):
            return False

    @property
    def kept_bytes(self) -> int:
        """Bytes that the folder takes, half-fetched files included."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def licence_text(self) -> str:
        """The licence of the weights in full."""
        text = resource("licences") / f"{self.weights.licence}.txt"
        return f"{self.weights.title}\n{self.weights.holder}\n\n{text.read_text(encoding='utf-8')}"

    def problem(self) -> str:
        """Why the model cannot run here; empty if it can."""
        missing = [name for name in RUNTIME if find_spec(name) is None]
        if missing:
            return f"{' and '.join(missing)} not installed; run: {EXTRA}"
        return "" if self.ready else "the weights are not there; run: sidelight local install"

    def take(self, source: Path, step: Step = lambda done: None) -> None:
        """Copy a file of the user's and accept it; the user's file stays. Blocks.

        Raises WeightsError when it is not the pinned file, OSError when it cannot be read.
        """
        self.require_room()
        copy = self.path.with_suffix(".copy")
        try:
            shutil.copyfile(source, copy)
            copy.replace(self.path)
        finally:
            copy.unlink(missing_ok=True)
        self.accept(step)

    def require_room(self) -> None:
        """Make the folder; raises WeightsError when the disk is too full for the weights."""
        self.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.folder).free + self.kept_bytes
        if free < self.weights.size * 1.05:
            raise WeightsError(
                f"{self.folder} has {free // 1_000_000} MB free, the weights need "
                f"{self.weights.megabytes} MB. Free some space, or set XDG_CACHE_HOME."
            )

    def accept(self, step: Step = lambda done: None) -> None:
        """Check the file at `path` and note that it is right; a wrong one is removed. Blocks.

        `step` hears how many bytes were read. Raises WeightsError.
        """
        size = self.path.stat().st_size
        found = _digest(self.path, step) if size == self.weights.size else ""
        if found != self.weights.sha256:
            self.remove()
            what = f"SHA-256 {found}" if found else f"{size} bytes"
            wanted = self.weights.sha256 if found else f"{self.weights.size} bytes"
            raise WeightsError(
                f"This is not {self.weights.file}: it has {what}, expected is {wanted}. "
                "It was removed and is not used; try again, or from another network."
            )
        self.licence_path.write_text(self.licence_text(), encoding="utf-8")
        self._checked.write_text(json.dumps(self._mark()), encoding="utf-8")

    def remove(self) -> int:
        """Delete all that is kept of this model; the bytes that became free. Blocks."""
        freed = self.kept_bytes
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)
        return freed

    def _mark(self) -> dict[str, object]:
        status = self.path.stat()
        return {
            "sha256": self.weights.sha256,
            "size": status.st_size,
            "modified_ns": status.st_mtime_ns,
        }


def _digest(path: Path, step: Step) -> str:
    found, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
            done += len(chunk)
            step(done)
    return found.hexdigest()
