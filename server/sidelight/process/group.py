"""A command's whole family of processes: what of it lives, and how it is signalled.

A command is started as the leader of a session and group of its own, so its number names all
three. Where /proc exists the family also holds jobs with a group of their own and descendants
that left the session while their parent lived. On Windows only the leader is reached.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class _Row(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int


def is_alive(leader: int, known: frozenset[int] = frozenset()) -> bool:
    """Whether the leader's group or a `known` process lives; zombies do not count in /proc."""
    if sys.platform == "win32":
        return False
    if any(_row(str(pid)) for pid in known):
        return True
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return bool(members(leader)) if PROC.is_dir() else True


def members(leader: int) -> frozenset[int]:
    """Living processes of the leader's group and session, and all that descend from them."""
    rows = tuple(_rows())
    family = {row.pid for row in rows if leader in {row.pid, row.group, row.session}}
    while True:
        more = {row.pid for row in rows if row.parent in family} - family
        if not more:
            return frozenset(family)
        family |= more


def send(leader: int, number: int, known: frozenset[int] = frozenset()) -> frozenset[int]:
    """Signal the whole family and the `known` processes; gives back all that were meant.

    Those that are gone or belong to another user are passed over.
    """
    if sys.platform == "win32":
        with suppress(OSError):
            os.kill(leader, number)
        return frozenset()
    everyone = members(leader) | known
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for pid in everyone:
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) != leader:
                os.kill(pid, number)
    return everyone


def _rows() -> Iterator[_Row]:
    """One row a living process; none where there is no /proc."""
    with suppress(OSError):
        for entry in os.scandir(PROC):
            if entry.name.isdigit() and (row := _row(entry.name)):
                yield row


def _row(pid: str) -> _Row | None:
    try:
        text = (PROC / pid / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name in parentheses may hold anything, even parentheses and blanks.
    state, parent, group, session = text.rpartition(")")[2].split()[:4]
    return None if state in "ZX" else _Row(int(pid), int(parent), int(group), int(session))
