"""Tools whose running a test steers: they wait at gates and note what they did."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from sidelight.core.access import Access
from sidelight.core.errors import ToolError, ToolErrorKind
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.pool import Offer
from sidelight.tools.registry import spec


class StepInput(PlainRecord):
    """`gate` is where the call waits; `fail` is what it fails with, of class `kind`; `size` the
    length of its result."""

    name: str
    gate: str = ""
    fail: str = ""
    kind: ToolErrorKind = "failed"
    bug: bool = False
    size: int = 0


@dataclass
class StepTool:
    """Implements Tool; `log` has `+name` for each start and `-name` for each end."""

    name: str = "Look"
    changes: bool = False
    log: list[str] = field(default_factory=list[str])
    input_type: type[PlainRecord] = StepInput
    _gates: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])
    _starts: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])

    def open(self, gate: str) -> None:
        self._gates.setdefault(gate, anyio.Event()).set()

    async def started(self, name: str) -> None:
        with anyio.fail_after(5):
            await self._starts.setdefault(name, anyio.Event()).wait()

    def summary(self, input: StepInput) -> str:
        return input.name

    def touches(self, input: StepInput, shell: Shell) -> Sequence[Access]:
        kind = "write" if self.changes else "read"
        return (Access(kind=kind, target=f"/w/{input.name}", mutates=self.changes),)

    async def preview(self, input: StepInput, context: ToolContext) -> Sequence[FileEdit]:
        return ()

    async def run(
        self, input: StepInput, context: ToolContext
    ) -> AsyncGenerator[Progress | ToolOutput]:
        self.log.append(f"+{input.name}")
        self._starts.setdefault(input.name, anyio.Event()).set()
        yield Progress(text=input.name)
        if input.gate:
            await self._gates.setdefault(input.gate, anyio.Event()).wait()
        self.log.append(f"-{input.name}")
        if input.bug:
            raise RuntimeError("a bug")
        if input.fail:
            raise ToolError(input.fail, input.kind)
        yield ToolOutput.of("x" * input.size or f"{input.name} done")


@dataclass
class StepSource:
    """Implements ToolSource with such tools, in the order in which they are named.

    `about` has descriptions, `hints` words to search by, `always` what is loaded always.
    """

    label: str
    names: Sequence[str]
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    hints: Mapping[str, str] = field(default_factory=dict[str, str])
    always: Sequence[str] = ()

    def offers(self) -> Sequence[Offer]:
        return [self._offer(name) for name in self.names]

    def _offer(self, name: str) -> Offer:
        tool = StepTool(name)
        told = spec(tool, lambda name: self.about.get(name, f"Does {name}."))
        return Offer(tool, told, self.hints.get(name, ""), name in self.always)
