"""A little tree in memory that stands in for the disk when cases are checked."""

import posixpath
from collections.abc import Mapping
from typing import Any, cast

from sidelight.permissions.paths import within


class MemoryDisk:
    """Holds files as `{absolute path: text, {"symlink": target}, {"dir": true}, {"exec": text}}`.

    `homes` maps users to their home folders.
    """

    def __init__(
        self, files: Mapping[str, str | Mapping[str, Any]], homes: Mapping[str, str] | None = None
    ) -> None:
        self._files = {posixpath.normpath(path): value for path, value in files.items()}
        self._homes = dict(homes or {})

    def link(self, path: str) -> str | None:
        """See Disk."""
        value = self._files.get(path)
        return None if isinstance(value, str | None) else cast("str | None", value.get("symlink"))

    def names(self, path: str) -> tuple[str, ...]:
        """See Disk."""
        start = path.rstrip("/") + "/"
        below = (each[len(start) :] for each in self._files if each.startswith(start))
        return tuple(sorted({rest.partition("/")[0] for rest in below}))

    def exists(self, path: str) -> bool:
        """See Disk."""
        return any(within(each, path) for each in self._files)

    def home_of(self, user: str) -> str | None:
        """See Disk."""
        return self._homes.get(user)
