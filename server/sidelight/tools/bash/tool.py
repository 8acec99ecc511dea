"""Bash: a command is evaluated in a new shell that stands where the last one ended."""

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from sidelight.background.task import Ending
from sidelight.background.tasks import Background
from sidelight.core.access import UNKNOWN, Access
from sidelight.core.tool import Shell
from sidelight.process.environment import sourcing
from sidelight.tools.bash.effects import accesses
from sidelight.tools.bash.ending import ending_of
from sidelight.tools.shell.dialect import Order
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.shell.tool import ShellTool


def bash_tool(options: ShellOptions, background: Background) -> ShellTool:
    """The tool for bash."""
    return ShellTool(Bash(), options, background)


class Bash:
    """The dialect of bash; `sh` stands in where there is none."""

    name = "Bash"

    def touches(self, command: str, shell: Shell) -> Sequence[Access]:
        """Every command in the text with what it reads and writes."""
        return accesses(command, shell)

    def words(self, order: Order) -> Sequence[str]:
        """A shell that evaluates the command."""
        program = shutil.which("bash", path=order.environment.get("PATH")) or "/bin/sh"
        return (program, "-c", script(order.command, order.env_files, order.report), "bash")

    def ending(self, command: str, exit_code: int | None, by_signal: int | None) -> Ending:
        """What the end of the command means."""
        return ending_of(command, exit_code, by_signal)

    def may_go_on(self, command: str) -> bool:
        """Not what only waits, what holds git's locks, or what cannot be read."""
        programs = [
            access.words[0].rpartition("/")[2] if access.words else ""
            for access in accesses(command, Shell("/", ()))
            if access.kind == "execute"
        ]
        return programs[:1] != ["sleep"] and not {"git", UNKNOWN} & set(programs)


def script(command: str, env_files: Sequence[str], report: Path) -> str:
    """The command as data for `eval`, so that an unfinished one is an error of its own line.

    The folder is reported also when the command leaves by `exit`.
    """
    say = f"pwd >{shlex.quote(str(report))}"
    return (
        f"{sourcing(env_files)}trap {shlex.quote(say)} EXIT\n"
        f"eval {shlex.quote(command)}\n"
        f"{{ sidelight_code=$?; {say}; exit $sidelight_code; }} 2>/dev/null\n"
    )
