"""What differs from shell to shell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sidelight.background.task import Ending
from sidelight.core.access import Access
from sidelight.core.tool import Shell


@dataclass(frozen=True, slots=True)
class Order:
    """A command that is to be run. Where it ends, the shell writes its folder into `report`;

    `script` is a file that may be used to hand it over. Both are removed by whoever made this.
    """

    command: str
    environment: Mapping[str, str]
    env_files: Sequence[str]
    report: Path
    script: Path


class Dialect(Protocol):
    """A shell as the tools need it."""

    @property
    def name(self) -> str:
        """The name of its tool."""
        ...

    def touches(self, command: str, shell: Shell) -> Sequence[Access]:
        """What the command runs, reads and writes; pure."""
        ...

    def words(self, order: Order) -> Sequence[str]:
        """The program that runs the command, with its words. Blocks; may raise OSError."""
        ...

    def ending(self, command: str, exit_code: int | None, by_signal: int | None) -> Ending:
        """What the end of the command means."""
        ...

    def may_go_on(self, command: str) -> bool:
        """Whether it may run on in the background when its time is over; pure."""
        ...
