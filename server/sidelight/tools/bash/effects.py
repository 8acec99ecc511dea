"""What a command text runs, reads and writes, as accesses: every simple command, wherever it is."""

from typing import Protocol

from sidelight.core.access import UNKNOWN, Access
from sidelight.tools.bash.parse import Unreadable, parse
from sidelight.tools.bash.report import Report
from sidelight.tools.bash.simple import TooLong
from sidelight.tools.bash.state import State
from sidelight.tools.bash.walk import Walker


class Standing(Protocol):
    """Where the shell stands."""

    @property
    def cwd(self) -> str:
        """The absolute path of its folder."""
        ...


def accesses(command: str, shell: Standing) -> tuple[Access, ...]:
    """All accesses of the text run in `shell.cwd`, each once, in order. Never raises.

    What cannot be told is an access with `unsure`; a text without commands gives one execute
    that is read-only.
    """
    parsed = parse(command)
    if isinstance(parsed, Unreadable):
        return (_opaque(command, parsed.reason),)
    report = Report(shell.cwd)
    try:
        Walker(report).run(parsed, State((shell.cwd,)))
    except TooLong:
        report.found.append(_opaque(command, "the command has more parts than can be judged"))
    except RecursionError:
        report.found.append(_opaque(command, "the command is nested too deeply"))
    if not report.found:
        return (Access(kind="execute", target=command, listed=True, read_only=True),)
    return tuple(dict.fromkeys(report.found))


def _opaque(command: str, reason: str) -> Access:
    return Access(
        kind="execute",
        target=command,
        command=command,
        words=(UNKNOWN,),
        mutates=True,
        unsure=reason,
    )
