"""Monitor: a command in the background whose lines are told as they come."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from pydantic import Field, model_validator

from sidelight.background.task import Launch
from sidelight.background.tasks import Background
from sidelight.core.access import Access
from sidelight.core.content import Json, is_object
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.shell.dialect import Dialect
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.shell.standing import settle
from sidelight.tools.shell.starting import started

DEFAULT_MS = 300_000
LONGEST_MS = 1_800_000
NO_SOCKETS = "only commands can be watched; to watch a WebSocket, run a program that prints it"


class MonitorInput(PlainRecord):
    """What to watch for, with which command, and for how long."""

    description: str = Field(description="What is watched for, in five to ten words, for the user")
    timeout_ms: int = Field(
        default=DEFAULT_MS,
        description="Milliseconds after which it is stopped; 300000 when left out, at most 1800000",
        gt=0,
    )
    command: str = Field(
        description="Prints a line for each event, and ends when there is nothing more to watch",
        min_length=1,
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_there(cls, data: Any) -> Any:
        if is_object(data) and "ws" in data:
            raise ValueError(NO_SOCKETS)
        return data


class MonitorTool:
    """Starts a watching command; each line of its standard output is told once."""

    name = "Monitor"
    input_type = MonitorInput

    def __init__(self, dialect: Dialect, options: ShellOptions, background: Background) -> None:
        self._dialect = dialect
        self._options = options
        self._background = background

    def summary(self, input: MonitorInput) -> str:
        """The command in one line."""
        return " ".join(input.command.split())[:200]

    def touches(self, input: MonitorInput, shell: Shell) -> Sequence[Access]:
        """Every command in the text with what it reads and writes."""
        return self._dialect.touches(input.command, shell)

    async def preview(self, input: MonitorInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: what a command will change is not known before."""
        return ()

    async def run(
        self, input: MonitorInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Start it. Raises ToolError when it cannot be started."""
        self._background.check_room()
        notes = list[str]()
        run = await started(
            input.command, self._dialect, self._options, context, notes, merge=False
        )
        timeout_ms = min(input.timeout_ms, LONGEST_MS)
        launch = Launch(
            kind="monitor",
            command=input.command,
            description=input.description,
            tool_use_id=context.tool_use_id,
            life_s=timeout_ms / 1000,
            explain=partial(self._dialect.ending, input.command),
            tidy=run.tidy,
        )
        task = self._background.start(launch, run.child, run.output)
        moved = settle(context.shell, run.folder, "", self._options.keep_cwd, notes)
        text = (
            f"The monitor {task.id} watches for {timeout_ms / 1000:g} s at most. You will be told "
            f"of its lines; TaskOutput waits for the next ones, TaskStop ends it. "
            f"All it prints goes to {task.output.file}"
        )
        data: Json = {"taskId": task.id, "timeoutMs": timeout_ms}
        yield ToolOutput.of("\n".join((text, *notes)), data=data, cwd=moved)
