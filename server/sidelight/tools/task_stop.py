"""TaskStop: ends a background task with its whole family of processes."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic import Field, model_validator

from sidelight.background.tasks import Background, ending_words
from sidelight.core.access import Access
from sidelight.core.content import Json, is_object
from sidelight.core.errors import ToolError
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput


class TaskStopInput(PlainRecord):
    """The task to end."""

    task_id: str = Field(description="The task's id, as the call that started it said it")

    @model_validator(mode="before")
    @classmethod
    def _former_names(cls, data: Any) -> Any:
        """Earlier forms of the tool called the task `shell_id`."""
        if is_object(data) and "shell_id" in data and "task_id" not in data:
            return {("task_id" if key == "shell_id" else key): data[key] for key in data}
        return data


class TaskStopTool:
    """Ends tasks of this session, and no other processes."""

    name = "TaskStop"
    input_type = TaskStopInput

    def __init__(self, background: Background) -> None:
        self._background = background

    def summary(self, input: TaskStopInput) -> str:
        """The task's id."""
        return input.task_id

    def touches(self, input: TaskStopInput, shell: Shell) -> Sequence[Access]:
        """The session's own tasks only."""
        return (Access(kind="session", target=self.name),)

    async def preview(self, input: TaskStopInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing is edited."""
        return ()

    async def run(
        self, input: TaskStopInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """End it and wait until it is gone. Raises ToolError if it is not running."""
        task = self._background.get(input.task_id)
        if not await self._background.stop(task.id, "by TaskStop"):
            task.told = True
            raise ToolError(
                f"The task {task.id} {ending_words(task)}; there is nothing to stop. "
                f"Its output is in {task.output.file}.",
                "not_found",
            )
        task.told = True
        message = f"The task {task.id} was stopped. Its output is in {task.output.file}."
        data: Json = {
            "message": message,
            "task_id": task.id,
            "task_type": task.launch.kind,
            "command": task.launch.command,
        }
        yield ToolOutput.of(message, data=data)
