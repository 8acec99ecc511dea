"""A workspace with a shell and background tasks, in which tools are called as the loop does."""

import os
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import anyio

from sidelight.background.tasks import Background
from sidelight.core.content import Json, Text
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.bash.tool import Bash, bash_tool
from sidelight.tools.monitor import MonitorTool
from sidelight.tools.registry import parse_input
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.task_output import TaskOutputTool
from sidelight.tools.task_stop import TaskStopTool
from tests.fakes.host import FakeHost


class Bench:
    """Calls are numbered; whoever makes a bench closes its background."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "app"
        self.scratch = folder / "scratch"
        self.root.mkdir()
        self.scratch.mkdir()
        self.environment: Mapping[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
        }
        self.shell = Shell(str(self.root), [str(self.root)])
        self.host = FakeHost()
        self.background = Background()
        self.progress: list[str] = []
        self.shown = anyio.Event()
        """Something of a running command was shown."""
        self.calls = 0
        self.limits: dict[str, Any] = {}

    @property
    def options(self) -> ShellOptions:
        return ShellOptions(lambda: self.environment, **self.limits)

    async def call(self, tool: AnyTool, input: Json) -> ToolOutput:
        """The tool's last word; raises ToolError."""
        self.calls += 1
        context = ToolContext(
            session_id="s",
            tool_use_id=f"toolu_{self.calls}",
            host=self.host,
            ledger=FileLedger(),
            shell=self.shell,
            scratch_dir=str(self.scratch),
        )
        output: ToolOutput | None = None
        with anyio.fail_after(20):
            running = tool.run(parse_input(tool, input), context)
            async with aclosing(cast("Any", running)) as items:
                async for item in items:
                    if isinstance(item, Progress):
                        self.progress.append(item.text)
                        self.shown.set()
                    else:
                        output = item
        assert output is not None
        return output

    async def run(self, command: str, timeout: int | None = None, **more: Any) -> ToolOutput:
        tool = bash_tool(self.options, self.background)
        return await self.call(tool, {"command": command, "timeout": timeout, **more})

    async def text(self, command: str, timeout: int | None = None) -> str:
        return text_of(await self.run(command, timeout))

    async def leave(self, command: str, timeout: int | None = None) -> ToolOutput:
        """Start it in the background."""
        return await self.run(command, timeout, run_in_background=True)

    async def monitor(self, command: str, **more: Any) -> ToolOutput:
        tool = MonitorTool(Bash(), self.options, self.background)
        return await self.call(tool, {"command": command, "description": "a test", **more})

    async def look(self, task_id: str, **more: Any) -> str:
        """What TaskOutput says of a task."""
        tool = TaskOutputTool(self.background)
        return text_of(await self.call(tool, {"task_id": task_id, **more}))

    async def stop(self, **input: Any) -> ToolOutput:
        return await self.call(TaskStopTool(self.background), input)

    def news(self) -> list[str]:
        return [news.text for news in self.background.take_news()]


def text_of(output: ToolOutput) -> str:
    (block,) = output.content
    assert isinstance(block, Text)
    return block.text
