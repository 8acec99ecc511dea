"""One background task: a command that runs on, what it says, and how it ends."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import anyio

from sidelight.background.lines import Lines
from sidelight.core.events import BackgroundTask, TaskKind, TaskStatus
from sidelight.process.output import Output
from sidelight.process.question import question_in
from sidelight.process.run import Child, Piece

log = logging.getLogger(__name__)

MOST_OUTPUT = 5_000_000_000
"""Bytes after which a command is stopped; it would fill the disk of whoever it writes to."""
TOO_MUCH = "five gigabytes of output"


@dataclass(frozen=True, slots=True)
class Ending:
    """Whether a command failed, and a remark on its exit code for the reader, if any."""

    failed: bool
    remark: str = ""


Explain = Callable[[int | None, int | None], Ending]
"""From exit code and signal to what they mean."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What a task begins with. It is stopped after `life_s` seconds; `tidy` is called at its end.

    `by_person` says that a person moved it here.
    """

    kind: TaskKind
    command: str
    description: str
    tool_use_id: str
    life_s: float
    explain: Explain
    tidy: Callable[[], None]
    by_person: bool = False


class Task:
    """A running or ended task; it owns its child from the start. `run` is its whole life.

    `read` is how many characters of the output the model has seen, `told` whether it knows the
    end. After `quiet_s` seconds without output a question on the last line is taken for one.
    """

    def __init__(
        self, id: str, launch: Launch, child: Child, output: Output, quiet_s: float
    ) -> None:
        self.id = id
        self.launch = launch
        self.output = output
        self.lines = Lines() if launch.kind == "monitor" else None
        self.status: TaskStatus = "running"
        self.exit_code: int | None = None
        self.remark = ""
        self.read = 0
        self.told = False
        self.question = ""
        self.done = anyio.Event()
        self._news = anyio.Event()
        self._child = child
        self._scope = anyio.CancelScope()
        self._stopped = ""
        self._quiet_s = quiet_s
        self._began_ms = int(time.time() * 1000)
        self._deadline = anyio.current_time() + launch.life_s

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.done.is_set()

    @property
    def state(self) -> BackgroundTask:
        """What clients are told of it."""
        return BackgroundTask(
            id=self.id,
            kind=self.launch.kind,
            command=self.launch.command,
            description=self.launch.description,
            tool_use_id=self.launch.tool_use_id,
            status=self.status,
            started_at=self._began_ms,
            output_file=str(self.output.file),
        )

    def stop(self, why: str) -> None:
        """End it, for this reason; returns at once."""
        self._stopped = self._stopped or why
        self._scope.cancel()

    async def changed(self) -> None:
        """Wait until it has ended, or a monitor has lines to tell. Cancellable."""
        while self.running and not (self.lines and self.lines.waiting):
            await self._news.wait()

    async def run(self) -> None:
        """Listen until the command has ended or is stopped; ends it with its whole family."""
        try:
            with self._scope:
                await self._listen()
        except Exception:
            log.exception("the background task %s", self.id)
            self._stopped = "a fault of Sidelight's own"
        finally:
            await self._child.end()
            self._close()

    async def _listen(self) -> None:
        quiet_at = anyio.current_time() + self._quiet_s
        while True:
            piece: Piece | None = None
            with anyio.CancelScope(deadline=min(self._deadline, quiet_at)) as clock:
                piece = await self._child.next_output()
            now = anyio.current_time()
            if piece is not None:
                self._take(piece)
                quiet_at = now + self._quiet_s
            elif not clock.cancelled_caught:
                return
            elif now >= quiet_at:
                self.question, quiet_at = question_in(self.output.last_line), inf
            if now >= self._deadline:
                self._stopped = f"its time limit of {self.launch.life_s:g} s"
            elif self.output.received > MOST_OUTPUT:
                self._stopped = TOO_MUCH
            if self._stopped:
                return

    def _take(self, piece: Piece) -> None:
        text = self.output.feed(piece.data)
        if self.lines is not None and piece.stream == 1:
            self.lines.feed(text)
            if self.lines.waiting:
                self._announce()

    def _close(self) -> None:
        rest = self.output.close()
        if self.lines is not None:
            self.lines.feed(rest)
            self.lines.close()
        self.exit_code = self._child.exit_code
        ending = self.launch.explain(self.exit_code, self._child.signal)
        if self._stopped:
            self.status, self.remark = "stopped", self._stopped
        else:
            self.status = "failed" if ending.failed else "completed"
            self.remark = ending.remark
        self.launch.tidy()
        self.done.set()
        self._announce()

    def _announce(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()
