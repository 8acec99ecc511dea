"""PowerShell: the shell on Windows where there is no bash; its text is not analysed."""

import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from sidelight.background.task import Ending
from sidelight.background.tasks import Background
from sidelight.core.access import UNKNOWN, Access
from sidelight.core.tool import Shell
from sidelight.tools.shell.dialect import Order
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.shell.tool import ShellTool

PROGRAMS = ("pwsh", "powershell")
NOT_ANALYSED = "what a PowerShell command does is not analysed"
SEARCHES = frozenset({"grep", "rg", "egrep", "fgrep", "findstr"})
ROBOCOPY_FAILS = 8


def powershell_tool(options: ShellOptions, background: Background) -> ShellTool:
    """The tool for PowerShell."""
    return ShellTool(PowerShell(), options, background)


def powershell(path: str | None = None) -> str | None:
    """PowerShell's program, the newer one first; None when there is none."""
    found = (shutil.which(name, path=path) for name in PROGRAMS)
    return next((program for program in found if program), None)


class PowerShell:
    """The dialect of PowerShell, 5.1 and 7."""

    name = "PowerShell"

    def touches(self, command: str, shell: Shell) -> Sequence[Access]:
        """One command of which nothing is known, so that only a rule for all of it allows it."""
        return (
            Access(
                kind="execute",
                target=command,
                command=command,
                words=(UNKNOWN,),
                mutates=True,
                unsure=NOT_ANALYSED,
            ),
        )

    def words(self, order: Order) -> Sequence[str]:
        """PowerShell that reads the command from a file: no quoting, no limit of its length."""
        program = powershell(order.environment.get("PATH"))
        if program is None:
            raise FileNotFoundError("neither pwsh nor powershell is installed")
        order.script.write_text(order.command, "utf-8", errors="replace")
        return (program, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script(order))

    def ending(self, command: str, exit_code: int | None, by_signal: int | None) -> Ending:
        """What the end of the command means; some programs answer by their exit code."""
        if by_signal is not None:
            return Ending(True, f"ended by signal {by_signal}")
        words = command.replace("|", "\n").strip().rpartition("\n")[2].split()
        program = Path(words[0]).name.lower().removesuffix(".exe") if words else ""
        if program == "robocopy" and exit_code is not None and 0 < exit_code < ROBOCOPY_FAILS:
            return Ending(False, "files were copied or differ")
        if exit_code == 1 and program == "git" and words[1:2] in (["grep"], ["diff"]):
            return Ending(
                False, "no lines matched" if words[1] == "grep" else "there are differences"
            )
        if exit_code == 1 and program in SEARCHES:
            return Ending(False, "no lines matched")
        return Ending(exit_code not in {0, None})

    def may_go_on(self, command: str) -> bool:
        """Its text is not analysed, so only what surely does not hold git's locks."""
        return "git" not in command.lower() and not command.lstrip().lower().startswith(
            ("sleep", "start-sleep")
        )


def script(order: Order) -> str:
    """PowerShell text that sets the environment files' variables and runs the command's file.

    The exit code is the last program's, else 1 if the last command failed; the folder is reported
    however it ends.
    """
    return "\n".join(
        (
            "$ProgressPreference = 'SilentlyContinue'",
            "[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false",
            "$OutputEncoding = [Console]::OutputEncoding",
            *(
                f"$env:{name} = {_quoted(value)}"
                for file in order.env_files
                for name, value in exported(file)
            ),
            "$global:LASTEXITCODE = 0",
            "$sidelightOk = $true",
            "try {",
            f"  $sidelightText = [IO.File]::ReadAllText({_quoted(str(order.script))})",
            "  . ([ScriptBlock]::Create($sidelightText))",
            "  $sidelightOk = $?",
            "} catch {",
            "  $sidelightOk = $false",
            "  [Console]::Error.WriteLine(($_ | Out-String))",
            "} finally {",
            "  $sidelightAt = (Get-Location -PSProvider FileSystem).ProviderPath",
            f"  [IO.File]::WriteAllText({_quoted(str(order.report))}, $sidelightAt)",
            "}",
            "if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }",
            "if (-not $sidelightOk) { exit 1 }",
            "exit 0",
        )
    )


def exported(file: str) -> Iterator[tuple[str, str]]:
    """The variables of lines `export NAME=VALUE`; a file that is not there has none."""
    try:
        lines = Path(file).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        for word in words[1:] if words[:1] == ["export"] else ():
            name, sign, value = word.partition("=")
            if sign and name.isidentifier():
                yield name, value


def _quoted(text: str) -> str:
    """Text as PowerShell reads it literally; it takes typographic quotes for quotes, too."""
    for quote in "'\u2018\u2019\u201a\u201b":
        text = text.replace(quote, quote * 2)
    return f"'{text}'"
