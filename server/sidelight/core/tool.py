"""What a tool is: a name, an input type, what it touches, and how it runs."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sidelight.core.access import Access
from sidelight.core.content import Json, ResultBlock, Text
from sidelight.core.errors import ToolErrorKind
from sidelight.core.host import FileEdit, Host
from sidelight.core.ledger import FileLedger
from sidelight.core.record import PlainRecord, Record


class Progress(Record):
    """A piece of output for people while the tool runs."""

    text: str


class ToolOutput(Record):
    """A tool's last word. `content` goes to the model, `data` to hooks and the panel.

    `data` has the field names of the published result objects. `cwd` is set when the call moved
    the session's shell. `error` is the class of a failure that has output, as of a command.
    """

    content: tuple[ResultBlock, ...]
    is_error: bool = False
    error: ToolErrorKind | None = None
    paths_changed: tuple[str, ...] = ()
    data: Json = {}
    cwd: str | None = None

    @staticmethod
    def of(text: str, **fields: Any) -> "ToolOutput":
        """An output that is one text."""
        return ToolOutput(content=(Text(text=text),), **fields)


class Shell:
    """Where the session's commands run: `cwd` moves with `cd`, `home` is where it began."""

    def __init__(self, cwd: str, roots: Sequence[str]) -> None:
        self.cwd = cwd
        self.home = cwd
        self.roots = tuple(roots)
        self.env_files: list[str] = []


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running call may use; owned by the session, shared by its calls.

    `scratch_dir` is a private folder of the session for outputs that are too long to show.
    """

    session_id: str
    tool_use_id: str
    host: Host
    ledger: FileLedger
    shell: Shell
    scratch_dir: str


I_contra = TypeVar("I_contra", bound=PlainRecord, contravariant=True)


class Tool(Protocol[I_contra]):
    """A tool; the input type gives the schema, its field docs are the descriptions."""

    @property
    def name(self) -> str:
        """The name that the model, rules and hooks use."""
        ...

    @property
    def input_type(self) -> type[PlainRecord]:
        """The input's type; instances of it are what the other methods get."""
        ...

    def summary(self, input: I_contra) -> str:
        """One line for people: the verb's target, as `src/app.py` or `npm test`."""
        ...

    def touches(self, input: I_contra, shell: Shell) -> Sequence[Access]:
        """What the call would read, change, run or contact. Pure; may raise ToolError."""
        ...

    async def preview(self, input: I_contra, context: ToolContext) -> Sequence[FileEdit]:
        """The edits that a dialog shows; () for tools that edit nothing. May raise ToolError."""
        ...

    def run(self, input: I_contra, context: ToolContext) -> AsyncIterator[Progress | ToolOutput]:
        """Do it; an async generator whose last item is the ToolOutput. May raise ToolError."""
        ...


AnyTool = Tool[Any]
