"""Where a path really leads; the one file of this room that looks at the disk."""

import os
import posixpath
import pwd
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

MOST_LINKS = 40
PROCESS = re.compile(r"/proc/(?:self|thread-self|\d+)(?:/task/\d+)?")


class Disk(Protocol):
    """What has to be known about files; every method is quiet about what is missing."""

    def link(self, path: str) -> str | None:
        """The text of a symbolic link; None for everything else."""
        ...

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, sorted; none for everything else."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is anything of this name, a broken link too."""
        ...

    def home_of(self, user: str) -> str | None:
        """A user's home folder."""
        ...


class RealDisk:
    """The disk of this machine."""

    def link(self, path: str) -> str | None:
        """See Disk."""
        try:
            return str(Path(path).readlink())
        except (OSError, ValueError):
            return None

    def names(self, path: str) -> tuple[str, ...]:
        """See Disk."""
        try:
            return tuple(sorted(entry.name for entry in os.scandir(path)))
        except (OSError, ValueError):
            return ()

    def exists(self, path: str) -> bool:
        """See Disk."""
        return os.path.lexists(path)

    def home_of(self, user: str) -> str | None:
        """See Disk."""
        try:
            return pwd.getpwnam(user).pw_dir
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Place:
    """A path as written (made absolute), where it ends, and every step of the links between.

    `problem` says why it is no path that can be judged; then the other fields mean nothing.
    """

    path: str
    final: str
    steps: tuple[str, ...] = ()
    problem: str = ""


def resolve(target: str, disk: Disk, home: str, cwd: str) -> Place:
    """Follow a path to its end, whether the last part exists or not. Never raises."""
    if "\0" in target:
        return Place("", "", problem="a path with a NUL character is no path")
    absolute = _absolute(target, disk, home, cwd)
    if absolute is None:
        return Place("", "", problem=f"{target.partition('/')[0]} names no user's home folder")
    written = _normal(absolute)
    steps = [written]
    final = _follow(absolute, disk, cwd, steps)
    if final is None:
        return Place(written, "", problem="its links lead in a circle")
    steps.append(final)
    return Place(written, final, tuple(dict.fromkeys(steps)))


def _absolute(target: str, disk: Disk, home: str, cwd: str) -> str | None:
    if target.startswith("~"):
        name, slash, rest = target[1:].partition("/")
        base = home if not name else disk.home_of(name)
        return None if base is None else base + slash + rest
    return target if target.startswith("/") else f"{cwd}/{target}"


def _normal(path: str) -> str:
    return "/" + posixpath.normpath(path).lstrip("/")


def _follow(path: str, disk: Disk, cwd: str, steps: list[str]) -> str | None:
    waiting = path.split("/")[::-1]
    reached = "/"
    links = 0
    while waiting:
        name = waiting.pop()
        if name in {"", "."}:
            continue
        if name == "..":
            reached = posixpath.dirname(reached)
            continue
        here = posixpath.join(reached, name)
        lead = _lead(here, disk, cwd)
        if lead is None:
            reached = here
            continue
        links += 1
        if links > MOST_LINKS:
            return None
        reached = "/" if lead.startswith("/") else reached
        waiting.extend(lead.split("/")[::-1])
        steps.append(_normal(posixpath.join(reached, *waiting[::-1])) if waiting else reached)
    return reached


def _lead(path: str, disk: Disk, cwd: str) -> str | None:
    """A link's text; the folders that a process shows as links are the shell's, not ours."""
    parent, name = posixpath.split(path)
    if name in {"root", "cwd"} and PROCESS.fullmatch(parent):
        return "/" if name == "root" else cwd
    return disk.link(path)


def within(path: str, folder: str) -> bool:
    """Whether a path is the folder or below it, by whole segments."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
