"""Which files a session's FileChanged hooks want to hear of, and which changes are their own."""

import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from sidelight.hooks.matcher import matches, pattern

_ONLY_IN_PATTERNS = re.compile(r"[\^$\\\[\](){}+]")
REMEMBERED = 10_000


def is_wanted(matcher: str | None, path: str, folders: Sequence[str], added: Sequence[str]) -> bool:
    """Whether a hook with this matcher hears of a change of the file.

    Literal names mean files directly in one of the folders; name globs and patterns mean files
    anywhere below them. For paths in `added` (from `watchPaths`) only the base name must fit.
    Raises MatcherError.
    """
    place, name = _canonical(path), Path(path).name
    if place in {_canonical(other) for other in added} and _fits_name(matcher, name):
        return True
    if _is_broad(matcher):
        below = any(Path(place).is_relative_to(os.path.realpath(folder)) for folder in folders)
        return below and _fits_name(matcher, name)
    for alternative in _alternatives(matcher):
        for folder in folders:
            if _is_glob(alternative):
                below = Path(place).is_relative_to(os.path.realpath(folder))
                if below and fnmatchcase(name, alternative):
                    return True
            elif place == _canonical(str(Path(folder, alternative))):
                return True
    return False


def watch_list(
    matchers: Iterable[str | None], folders: Sequence[str], added: Sequence[str]
) -> tuple[str, ...]:
    """Absolute paths and globs whose changes must be reported for these matchers to work.

    Raises MatcherError.
    """
    below: list[str] = []
    for matcher in matchers:
        names = ["**"] if _is_broad(matcher) else _alternatives(matcher)
        below.extend(f"**/{name}" if _is_glob(name) and name != "**" else name for name in names)
    wanted = (str(Path(folder, name)) for folder in folders for name in below)
    return tuple(dict.fromkeys((*added, *wanted)))


class FileRuns:
    """Remembers what a hook left a file like, so that its own write does not start it again.

    Shared by all sessions of a server: then an identical hook runs once for a change, however
    many sessions watch the file. One thread only.
    """

    def __init__(self) -> None:
        self._running: set[tuple[str, str]] = set()
        self._left: OrderedDict[tuple[str, str], tuple[int, ...]] = OrderedDict()

    def begin(self, handler: str, path: str) -> bool:
        """Whether this handler should run for the file now; True obliges to call `end`."""
        key = (handler, path)
        if key in self._running or self._left.get(key) == _mark(path):
            return False
        self._running.add(key)
        return True

    def end(self, handler: str, path: str) -> None:
        """The run is over; how the file is now is the hook's doing."""
        key = (handler, path)
        self._running.discard(key)
        self._left[key] = _mark(path)
        self._left.move_to_end(key)
        while len(self._left) > REMEMBERED:
            self._left.popitem(last=False)


def _fits_name(matcher: str | None, name: str) -> bool:
    globs = [] if _is_broad(matcher) else [a for a in _alternatives(matcher) if _is_glob(a)]
    if globs:
        return any(fnmatchcase(name, alternative) for alternative in _alternatives(matcher))
    return matches(matcher, name, "FileChanged")


def _is_broad(matcher: str | None) -> bool:
    """Whether the matcher is no list of names and name globs."""
    if matcher in {None, "", "*"}:
        return True
    assert matcher is not None
    if _ONLY_IN_PATTERNS.search(matcher):
        pattern(matcher)
        return True
    return False


def _alternatives(matcher: str | None) -> list[str]:
    return [name for name in (matcher or "").split("|") if name]


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def _canonical(path: str) -> str:
    """One spelling for a file, also for one that is gone; a link itself is not followed."""
    folder, name = os.path.split(os.path.normpath(path))
    return str(Path(os.path.realpath(folder), name))


def _mark(path: str) -> tuple[int, ...]:
    try:
        found = Path(path).stat()
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino)
