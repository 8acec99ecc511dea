"""Starts a command where the session's shell stands, with the environment of the session."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread

from sidelight.core.errors import ToolError
from sidelight.core.tool import Shell, ToolContext
from sidelight.process.environment import Secrets, child_environment
from sidelight.process.output import Output
from sidelight.process.run import Child, start
from sidelight.tools.shell.dialect import Dialect, Order
from sidelight.tools.shell.options import ShellOptions

LONGEST_COMMAND = 100_000

# Nobody sits at the terminal: what would wait for an answer takes its default or fails.
UNATTENDED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
}


@dataclass(frozen=True, slots=True)
class Started:
    """A command that runs. `report` and `script` are the files that `tidy` removes."""

    child: Child
    output: Output
    folder: str
    report: Path
    script: Path

    def tidy(self) -> None:
        """Remove what was only needed to run it."""
        self.script.unlink(missing_ok=True)
        self.report.unlink(missing_ok=True)

    def reported(self) -> str:
        """The folder in which the command ended; empty if it did not say. Tidies."""
        try:
            return self.report.read_text("utf-8", "surrogateescape").removesuffix("\n")
        except OSError:
            return ""
        finally:
            self.tidy()


async def started(
    command: str,
    dialect: Dialect,
    options: ShellOptions,
    context: ToolContext,
    notes: list[str],
    *,
    merge: bool = True,
) -> Started:
    """Start it; the caller ends its child. Raises ToolError when it cannot be started.

    `notes` gets what the model should know of the surroundings.
    """
    if len(command.encode("utf-8", "replace")) > LONGEST_COMMAND:
        raise ToolError(
            f"The command is longer than {LONGEST_COMMAND} bytes and was not run. "
            "Write long text to a file with Write and name the file in the command.",
            "invalid_input",
        )
    folder = _folder(context.shell, notes)
    problem = await options.login()
    if problem:
        notes.append(problem)
        await context.host.notify("warning", problem)
    base = options.environment()
    name = re.sub(r"[^\w-]", "_", context.tool_use_id)
    scratch = Path(context.scratch_dir)
    report, script = scratch / f"cwd-{name}", scratch / f"script-{name}"
    env = child_environment(base, UNATTENDED, {"PWD": folder})
    order = Order(command, env, tuple(context.shell.env_files), report, script)
    child = await _start(dialect, order, folder, env, merge)
    output = Output(options.shown, scratch / f"bash-{name}.txt", Secrets.of(base))
    return Started(child, output, folder, report, script)


async def _start(
    dialect: Dialect, order: Order, cwd: str, env: Mapping[str, str], merge: bool
) -> Child:
    try:
        words = await anyio.to_thread.run_sync(dialect.words, order)
        return await start(words, cwd=cwd, env=env, merge=merge)
    except (OSError, ValueError) as error:
        order.script.unlink(missing_ok=True)
        raise ToolError(f"The shell could not be started: {error}. Nothing was run.") from error


def _folder(shell: Shell, notes: list[str]) -> str:
    """Where to run; the shell's folder may have been removed since the last call."""
    for folder in (shell.cwd, shell.home):
        if Path(folder).is_dir():
            if folder != shell.cwd:
                notes.append(f"{shell.cwd} is gone. Shell cwd was reset to {folder}")
            return folder
    raise ToolError(f"The working directory {shell.cwd} no longer exists. Nothing was run.")
