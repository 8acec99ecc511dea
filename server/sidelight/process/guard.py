"""Ends running commands when this process is killed outright and can do nothing any more.

A tiny shell holds the reading end of a pipe; when the pipe ends because we are gone, it kills
the groups of the commands that were running. What has left its group by then is out of
reach, and so is a command whose start is not complete.
"""

import contextlib
import os
import sys
from dataclasses import dataclass

SHELL = "/bin/sh"
SCRIPT = """
exec 3<&0
(
live=' '
while read -r sign pid; do
  case $sign in
    +) live="$live$pid " ;;
    -) case $live in *" $pid "*) live="${live%% $pid *} ${live#* $pid }" ;; esac ;;
  esac
done <&3
for pid in $live; do kill -s KILL -- "-$pid" 2>/dev/null; done
) &
"""
"""The loop goes on in the background, so that it is nobody's child to be waited for."""


@dataclass(slots=True)
class Guard:
    """The writing end, opened with the first command; -1 before. One a process."""

    pipe: int = -1

    def open(self) -> None:
        """Be there before a command is started, so that little time passes unguarded."""
        self._tell("")

    def watch(self, leader: int) -> None:
        """A command runs as the leader of this group."""
        self._tell(f"+ {leader}\n")

    def forget(self, leader: int) -> None:
        """The command is over; its number may soon be another's."""
        if self.pipe >= 0:
            self._tell(f"- {leader}\n")

    def _tell(self, line: str) -> None:
        """Without a shell or a guard commands run unguarded: they are worth more than it is."""
        if sys.platform == "win32":
            return
        with contextlib.suppress(OSError):
            if self.pipe < 0:
                self.pipe = _start()
            try:
                os.write(self.pipe, line.encode())
            except BrokenPipeError:
                os.close(self.pipe)
                self.pipe = -1


def _start() -> int:
    """Start the shell in a session of its own; the pipe to it, which no other child inherits."""
    reading, writing = os.pipe()
    try:
        null = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        starter = os.posix_spawn(
            SHELL,
            [SHELL, "-c", SCRIPT],
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, reading, 0),
                null,
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
        os.waitpid(starter, 0)
    except BaseException:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return writing


GUARD = Guard()
