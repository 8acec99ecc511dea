"""Settings that follow their files: read again when one of them changed."""

from collections.abc import Callable
from pathlib import Path

from sidelight.settings.load import LoadedSettings
from sidelight.settings.paths import SettingsPaths

Mark = tuple[tuple[str, int, int, int], ...]


class LiveSettings:
    """The present settings of one start folder; asks the disk when asked, runs nothing itself."""

    def __init__(
        self,
        read: Callable[[LoadedSettings | None], LoadedSettings],
        paths: Callable[[], SettingsPaths],
    ) -> None:
        self._read = read
        self._paths = paths
        self._mark: Mark = ()
        self._loaded: LoadedSettings | None = None

    def current(self) -> LoadedSettings:
        """The settings as the files are now; the same object as long as nothing in them changed.

        Costs a few looks at the disk. Blocking; never raises.
        """
        mark = self._look()
        if self._loaded is None or mark != self._mark:
            loaded = self._read(self._loaded)
            self._loaded = self._loaded if loaded == self._loaded else loaded
            self._mark = mark
        assert self._loaded is not None
        return self._loaded

    def _look(self) -> Mark:
        paths = self._paths()
        marks: list[tuple[str, int, int, int]] = []
        for path in (*paths.managed, *paths.local, paths.project, paths.user):
            try:
                found = Path(path).stat()
                marks.append((path, found.st_mtime_ns, found.st_size, found.st_ino))
            except OSError:
                marks.append((path, 0, 0, 0))
        return tuple(marks)
