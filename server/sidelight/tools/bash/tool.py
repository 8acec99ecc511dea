"""Bash: run a command in the session's shell folder, with its output as it comes."""

import re
import shlex
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
from pydantic import Field, model_validator

from sidelight.core.access import Access
from sidelight.core.content import Json, Text
from sidelight.core.errors import ToolError
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.process.environment import Secrets, child_environment, sourcing
from sidelight.process.run import Child, start
from sidelight.settings.schema import Settings
from sidelight.tools.bash.effects import accesses
from sidelight.tools.bash.ending import ending_of
from sidelight.tools.bash.output import Feed, Output

LONGEST_COMMAND = 100_000
MOST_OUTPUT = 5_000_000_000
"""Bytes after which a command is stopped; it would fill the disk of whoever it writes to."""
FAILED_SHOWN = 10_000

# Nobody sits at the terminal: what would wait for an answer takes its default or fails.
UNATTENDED = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"}

NO_BACKGROUND = (
    "commands cannot run in the background yet. Run it in the foreground with a timeout of up to "
    "600000 ms; to use a server, start it, use it and stop it within one command"
)
NO_SANDBOX = "there is no sandbox to leave; call it again without dangerouslyDisableSandbox"


class BashInput(PlainRecord):
    """A command, how long it may take, and what it is for."""

    command: str = Field(description="The command, as bash reads it", min_length=1)
    timeout: int | None = Field(
        default=None, description="Milliseconds; 120000 when left out, at most 600000"
    )
    description: str = Field(
        default="", description="What the command does, in five to ten words, for the user"
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_there(cls, data: Any) -> Any:
        """Fields that other versions of the tool have; set to false they mean nothing."""
        if isinstance(data, dict):
            given = dict(cast("Json", data))
            if given.pop("run_in_background", False):
                raise ValueError(NO_BACKGROUND)
            if given.pop("dangerouslyDisableSandbox", False):
                raise ValueError(NO_SANDBOX)
            return given
        return data


@dataclass(frozen=True, slots=True)
class BashOptions:
    """What the tool is set up with. `environment` is what commands inherit, settings included;
    our credentials are taken out of it here. `keep_cwd` lets `cd` carry over.
    """

    environment: Callable[[], Mapping[str, str]]
    timeout_ms: int = 120_000
    max_timeout_ms: int = 600_000
    shown: int = 30_000
    keep_cwd: bool = True

    @staticmethod
    def of(settings: Settings, environment: Callable[[], Mapping[str, str]]) -> "BashOptions":
        """Options by settings and by the published environment variables."""
        env, limits = environment(), settings.sidelight.limits
        default = _number(env.get("BASH_DEFAULT_TIMEOUT_MS")) or limits.bash_timeout_ms
        ceiling = _number(env.get("BASH_MAX_TIMEOUT_MS")) or limits.bash_max_timeout_ms
        shown = settings.bash_output_max_chars or limits.bash_output_chars
        return BashOptions(
            environment,
            timeout_ms=default,
            max_timeout_ms=max(default, ceiling),
            shown=min(max(shown, 4_000), 128_000),
            keep_cwd=env.get("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR") != "1",
        )

    def seconds(self, asked_ms: int | None) -> float:
        """The time limit of a call; one that is too long is cut, not refused."""
        wanted = asked_ms if asked_ms and asked_ms > 0 else self.timeout_ms
        return min(wanted, self.max_timeout_ms) / 1000


@dataclass(frozen=True, slots=True)
class _Ended:
    """How the run of a command went."""

    stopped: str
    exit_code: int | None
    by_signal: int | None
    leftovers: bool


class BashTool:
    """Runs one command a call; the call's whole family of processes ends with it."""

    name = "Bash"
    input_type = BashInput

    def __init__(self, options: BashOptions) -> None:
        self._options = options

    def summary(self, input: BashInput) -> str:
        """The command in one line."""
        return " ".join(input.command.split())[:200]

    def touches(self, input: BashInput, shell: Shell) -> Sequence[Access]:
        """Every command in the text with what it reads and writes."""
        return accesses(input.command, shell)

    async def preview(self, input: BashInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: what a command will change is not known before."""
        return ()

    async def run(
        self, input: BashInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Run the command. Raises ToolError when it cannot be started."""
        if len(input.command.encode()) > LONGEST_COMMAND:
            raise ToolError(
                f"The command is longer than {LONGEST_COMMAND} bytes and was not run. "
                "Write long text to a file with Write and name the file in the command.",
                "invalid_input",
            )
        shell, notes = context.shell, list[str]()
        begun_in = _folder(shell, notes)
        base = self._options.environment()
        name = re.sub(r"[^\w-]", "_", context.tool_use_id)
        report = Path(context.scratch_dir, f"cwd-{name}")
        file = Path(context.scratch_dir, f"bash-{name}.txt")
        output, feed = Output(self._options.shown, file, Secrets.of(base)), Feed()
        child = await _started(input.command, begun_in, base, shell.env_files, report)
        stopped, over, leftovers = "", False, False
        try:
            seconds = self._options.seconds(input.timeout)
            deadline = anyio.current_time() + seconds
            while not over:
                stopped, over = await _step(child, output, feed, deadline)
                if text := feed.take(anyio.current_time()):
                    yield Progress(text=text)
        finally:
            leftovers = await child.end()
        output.close()
        moved = self._settle_cwd(shell, begun_in, _reported(report), notes)
        if stopped == "timeout":
            stopped = f"its time limit of {seconds:g} s"
        ended = _Ended(stopped, child.exit_code, child.signal, leftovers and not stopped)
        yield self._result(input, ended, output, notes, moved)

    def _settle_cwd(
        self, shell: Shell, begun_in: str, reported: str, notes: list[str]
    ) -> str | None:
        """Let `cd` carry over inside the workspace; gives back the folder if it is another."""
        before, now = shell.cwd, reported or begun_in
        if Path(now).resolve() == Path(begun_in).resolve():
            now = begun_in
        elif not self._options.keep_cwd or not _is_inside(now, shell.roots):
            now = shell.home
            notes.append(f"Shell cwd was reset to {now}")
        shell.cwd = now
        return now if now != before else None

    def _result(
        self, input: BashInput, ended: _Ended, output: Output, notes: list[str], moved: str | None
    ) -> ToolOutput:
        ending = ending_of(input.command, ended.exit_code, ended.by_signal)
        failed = bool(ended.stopped) or ending.failed
        limit = self._options.shown
        shown = output.shown(min(FAILED_SHOWN, limit) if failed else limit)
        lines = [_headline(ended, ending.remark, failed), shown.text.rstrip("\n")]
        if ended.leftovers:
            notes.append("Processes that the command had left running were ended with it.")
        text = "\n".join(line for line in (*lines, *notes) if line)
        data: Json = {
            "stdout": shown.text,
            "stderr": "",
            "interrupted": bool(ended.stopped),
            "exitCode": ended.exit_code,
            "returnCodeInterpretation": ending.remark or None,
            "persistedOutputPath": shown.path,
            "persistedOutputSize": shown.size if shown.path else None,
        }
        return ToolOutput(
            content=(Text(text=text or "(no output)"),),
            is_error=failed,
            error="timeout" if ended.stopped else None,
            data={key: value for key, value in data.items() if value is not None},
            cwd=moved,
        )


def _headline(ended: _Ended, remark: str, failed: bool) -> str:
    if ended.stopped:
        return (
            f"The command was stopped at {ended.stopped}; it may have done part of its work. "
            "Give a longer timeout, or run a smaller part. Output until then:"
        )
    if ended.exit_code is None:
        return f"The command was {remark}."
    if failed or remark:
        return f"Exit code {ended.exit_code}{f' ({remark})' if remark else ''}"
    return ""


async def _step(child: Child, output: Output, feed: Feed, deadline: float) -> tuple[str, bool]:
    """Wait for output or for the next thing that is due: why to stop, and whether it is over."""
    piece = None
    with anyio.CancelScope(deadline=min(deadline, feed.due())) as clock:
        piece = await child.next_output()
    waited = clock.cancelled_caught
    if piece is not None:
        feed.add(output.feed(piece.data))
    if output.received > MOST_OUTPUT:
        return "five gigabytes of output", True
    if anyio.current_time() >= deadline and (waited or piece is not None):
        return "timeout", True
    return "", piece is None and not waited


async def _started(
    command: str, cwd: str, base: Mapping[str, str], env_files: Sequence[str], report: Path
) -> Child:
    env = child_environment(base, UNATTENDED, {"PWD": cwd})
    shell = shutil.which("bash", path=env.get("PATH")) or "/bin/sh"
    try:
        script = _script(command, env_files, report)
        return await start([shell, "-c", script, "bash"], cwd=cwd, env=env, merge=True)
    except (OSError, ValueError) as error:
        raise ToolError(f"The shell could not be started: {error}. Nothing was run.") from error


def _script(command: str, env_files: Sequence[str], report: Path) -> str:
    """The command as data for `eval`, so that an unfinished one is an error of its own line.

    The folder is reported also when the command leaves by `exit`.
    """
    say = f"pwd >{shlex.quote(str(report))}"
    return (
        f"{sourcing(env_files)}trap {shlex.quote(say)} EXIT\n"
        f"eval {shlex.quote(command)}\n"
        f"{{ sidelight_code=$?; {say}; exit $sidelight_code; }} 2>/dev/null\n"
    )


def _folder(shell: Shell, notes: list[str]) -> str:
    """Where to run; the shell's folder may have been removed since the last call."""
    for folder in (shell.cwd, shell.home):
        if Path(folder).is_dir():
            if folder != shell.cwd:
                notes.append(f"{shell.cwd} is gone. Shell cwd was reset to {folder}")
            return folder
    raise ToolError(f"The working directory {shell.cwd} no longer exists. Nothing was run.")


def _reported(report: Path) -> str:
    """The folder in which the command ended; empty if it did not say."""
    try:
        return report.read_text("utf-8", "surrogateescape").removesuffix("\n")
    except OSError:
        return ""
    finally:
        report.unlink(missing_ok=True)


def _is_inside(folder: str, roots: Sequence[str]) -> bool:
    real = Path(folder).resolve()
    return any(real.is_relative_to(Path(root).resolve()) for root in roots)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None
