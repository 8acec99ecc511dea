"""A session's desk: a folder, a host, a ledger, and the file tools to work with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from sidelight.core.content import Json, Text
from sidelight.core.host import FileEdit, Host
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Shell, ToolContext, ToolOutput
from sidelight.headless.host import DiskHost
from sidelight.tools.edit import EditTool
from sidelight.tools.read import ReadTool
from sidelight.tools.registry import parse_input
from sidelight.tools.write import WriteTool
from tests.fakes.host import FakeHost


@dataclass
class Desk:
    """Calls tools as the loop does, with the input as JSON."""

    root: Path
    host: Host
    ledger: FileLedger = field(default_factory=FileLedger)
    read_tool: ReadTool = field(default_factory=ReadTool)
    roots: tuple[Path, ...] = ()

    @property
    def shell(self) -> Shell:
        return Shell(str(self.root), [str(root) for root in self.roots or (self.root,)])

    @property
    def context(self) -> ToolContext:
        return ToolContext("s", "t", self.host, self.ledger, self.shell, str(self.root / "scratch"))

    async def call(self, tool: AnyTool, input: Json) -> ToolOutput:
        """The tool's last word; raises ToolError."""
        parsed = parse_input(tool, input)
        with anyio.fail_after(20):
            *progress, output = [item async for item in tool.run(parsed, self.context)]
        assert progress == []
        assert isinstance(output, ToolOutput)
        return output

    async def preview(self, tool: AnyTool, input: Json) -> tuple[FileEdit, ...]:
        with anyio.fail_after(5):
            return tuple(await tool.preview(parse_input(tool, input), self.context))

    async def read(self, name: str, **more: int) -> str:
        return text_of(await self.call(self.read_tool, {"file_path": self.path(name), **more}))

    async def edit(self, name: str, old: str, new: str, **more: bool) -> ToolOutput:
        return await self.call(EditTool(), self.edit_input(name, old, new, **more))

    def edit_input(self, name: str, old: str, new: str, **more: bool) -> Json:
        return {"file_path": self.path(name), "old_string": old, "new_string": new, **more}

    async def write(self, name: str, content: str) -> ToolOutput:
        return await self.call(WriteTool(), {"file_path": self.path(name), "content": content})

    def path(self, name: str) -> str:
        return str(self.root / name)

    def put(self, name: str, data: bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


@dataclass
class EditorDesk(Desk):
    """A desk whose host is an editor in memory."""

    editor: FakeHost = field(default_factory=FakeHost)


def text_of(output: ToolOutput) -> str:
    return "".join(block.text for block in output.content if isinstance(block, Text))


def silent(severity: str, text: str) -> None:
    """Nobody listens to notices here."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, DiskHost(silent))


@pytest.fixture
def editor_desk(tmp_path: Path) -> EditorDesk:
    editor = FakeHost()
    return EditorDesk(tmp_path, editor, editor=editor)


Edited = Callable[[bytes, str, str], Awaitable[bytes]]


@pytest.fixture
def edited(desk: Desk) -> Edited:
    """Reads a file with these bytes, edits it once, and gives the bytes then."""

    async def edit(data: bytes, old: str, new: str) -> bytes:
        path = desk.put("file.txt", data)
        await desk.read("file.txt")
        await desk.edit("file.txt", old, new)
        return path.read_bytes()

    return edit
