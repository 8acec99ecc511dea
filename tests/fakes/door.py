"""`NoDoor`: a door behind which nothing is."""

from collections.abc import Sequence
from typing import Any

from lsprotocol import types


class NoDoor:
    """Answers requests with themselves, and keeps what it was told."""

    def __init__(self) -> None:
        self.files: list[tuple[str, str]] = []
        self.folders: list[tuple[Sequence[str], Sequence[str]]] = []

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def request(self, method: str, params: Any) -> Any:
        return {"method": method, "params": params}

    async def notification(self, method: str, params: Any) -> None:
        raise RuntimeError(f"{method} is not wanted")

    async def command(self, name: str, arguments: Sequence[Any]) -> Any:
        return [name, *arguments]

    async def file_event(self, uri: str, kind: str) -> None:
        self.files.append((uri, kind))

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None:
        self.folders.append((added, removed))

    def lenses(self, uri: str) -> list[types.CodeLens]:
        return []

    def busy(self) -> bool:
        return False

    def only_small(self) -> bool:
        return False
