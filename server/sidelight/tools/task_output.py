"""TaskOutput: what a background task has said since the model looked last."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
from pydantic import Field, model_validator

from sidelight.background.task import Task
from sidelight.background.tasks import Background, ending_words
from sidelight.core.access import Access
from sidelight.core.content import Json, is_object
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput

LONGEST_MS = 600_000


class TaskOutputInput(PlainRecord):
    """A task, and how long to wait for it."""

    task_id: str = Field(description="The task's id, as the call that started it said it")
    block: bool = Field(
        default=True,
        description="Wait until it ends (a monitor: until it prints); false looks at once",
    )
    timeout: int = Field(
        default=30_000, description="Milliseconds to wait at most, up to 600000", ge=0
    )

    @model_validator(mode="before")
    @classmethod
    def _former_names(cls, data: Any) -> Any:
        """Earlier forms of the tool called the task `bash_id`."""
        if is_object(data) and "bash_id" in data and "task_id" not in data:
            return {("task_id" if key == "bash_id" else key): data[key] for key in data}
        return data


class TaskOutputTool:
    """Shows each piece of a task's output once."""

    name = "TaskOutput"
    input_type = TaskOutputInput

    def __init__(self, background: Background) -> None:
        self._background = background

    def summary(self, input: TaskOutputInput) -> str:
        """The task's id."""
        return input.task_id

    def touches(self, input: TaskOutputInput, shell: Shell) -> Sequence[Access]:
        """The session's own notes only; the command was judged when it was started."""
        return (Access(kind="session", target=self.name),)

    async def preview(self, input: TaskOutputInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing is edited."""
        return ()

    async def run(
        self, input: TaskOutputInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Wait if asked to, then show what is new. Raises ToolError for an unknown task."""
        task = self._background.get(input.task_id)
        if input.block:
            with anyio.move_on_after(min(input.timeout, LONGEST_MS) / 1000):
                await task.changed()
        yield _shown(task)


def _shown(task: Task) -> ToolOutput:
    text = task.output.since(task.read)
    task.read = task.output.length
    if task.lines is not None:
        task.lines.take()
    if not task.running:
        task.told = True
    head = f"The task {task.id} {ending_words(task)}."
    body = text.rstrip("\n") or "(nothing new)"
    state: Json = {
        "task_id": task.id,
        "task_type": task.launch.kind,
        "status": task.status,
        "description": task.launch.description,
        "output": text,
        "exitCode": task.exit_code,
    }
    return ToolOutput.of(f"{head}\n{body}", data={"task": state})
