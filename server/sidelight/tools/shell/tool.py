"""Runs one command a call, in the foreground or as a background task."""

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, cast

import anyio
from pydantic import Field, model_validator

from sidelight.background.task import MOST_OUTPUT, TOO_MUCH, Launch, Task
from sidelight.background.tasks import Background
from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.process.output import Feed
from sidelight.process.question import question_in
from sidelight.tools.shell.dialect import Dialect
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.shell.result import Ended, ended_result, left_result
from sidelight.tools.shell.standing import settle
from sidelight.tools.shell.starting import Started, started

NO_BACKGROUND = (
    "background tasks are switched off here. Run it in the foreground with a timeout of up to "
    "600000 ms; to use a server, start it, use it and stop it within one command"
)
NO_SANDBOX = "there is no sandbox to leave; call it again without dangerouslyDisableSandbox"
TIME = "timeout"
MOVED = "moved"


class ForegroundInput(PlainRecord):
    """A command, how long it may take, and what it is for."""

    command: str = Field(description="The command, as the shell reads it", min_length=1)
    timeout: int | None = Field(
        default=None,
        description="Milliseconds; 120000 when left out, at most 600000",
    )
    description: str = Field(
        default="", description="What the command does, in five to ten words, for the user"
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_there(cls, data: Any) -> Any:
        """Fields that other versions of the tool have; set to false they mean nothing."""
        if not isinstance(data, dict):
            return data
        given = dict(cast("Json", data))
        if given.pop("dangerouslyDisableSandbox", False):
            raise ValueError(NO_SANDBOX)
        if "run_in_background" not in cls.model_fields and given.pop("run_in_background", False):
            raise ValueError(NO_BACKGROUND)
        return given

    @property
    def in_background(self) -> bool:
        """Whether the call is over as soon as the command has started."""
        return False


class ShellInput(ForegroundInput):
    """The same where commands may run on in the background."""

    timeout: int | None = Field(
        default=None,
        description=(
            "Milliseconds; 120000 when left out, at most 600000. In the background: 1800000 when "
            "left out, at most 7200000"
        ),
    )
    run_in_background: bool = Field(
        default=False, description="Start it as a background task and go on at once"
    )

    @property
    def in_background(self) -> bool:
        """Whether the call is over as soon as the command has started."""
        return self.run_in_background


class Offer:
    """A running call that a person may move to the background."""

    def __init__(self) -> None:
        self.taken = False
        self.scope: anyio.CancelScope | None = None

    def take(self) -> None:
        """A person asks for it; whatever is waited for is left."""
        self.taken = True
        if self.scope is not None:
            self.scope.cancel()


class ShellTool:
    """A shell; what a command leaves running ends with it, unless it is a background task."""

    def __init__(self, dialect: Dialect, options: ShellOptions, background: Background) -> None:
        self.name = dialect.name
        self.input_type = ShellInput if options.background else ForegroundInput
        self._dialect = dialect
        self._options = options
        self._background = background

    def summary(self, input: ForegroundInput) -> str:
        """The command in one line."""
        return " ".join(input.command.split())[:200]

    def touches(self, input: ForegroundInput, shell: Shell) -> Sequence[Access]:
        """Every command in the text with what it reads and writes."""
        return self._dialect.touches(input.command, shell)

    async def preview(self, input: ForegroundInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: what a command will change is not known before."""
        return ()

    async def run(
        self, input: ForegroundInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Run the command. Raises ToolError when it cannot be started."""
        notes = list[str]()
        if input.in_background:
            self._background.check_room()
        run = await started(input.command, self._dialect, self._options, context, notes)
        if input.in_background:
            task = self._leave(run, input, context, self._options.life_s(input.timeout))
            yield self._left(run, task, context, notes, "")
            return
        feed, offer, task = Feed(), Offer(), None
        stopped, over, leftovers = "", False, False
        seconds = self._options.seconds(input.timeout)
        if self._options.background:
            self._background.offer(context.tool_use_id, offer.take)
        try:
            deadline = anyio.current_time() + seconds
            while not over:
                stopped, over = await _step(run, feed, deadline, offer)
                if text := feed.take(anyio.current_time()):
                    yield Progress(text=text)
            if self._moves(stopped, input, run):
                life_s = self._options.life_s(None)
                task = self._leave(run, input, context, life_s, by_person=stopped == MOVED)
        finally:
            self._background.withdraw(context.tool_use_id)
            if task is None:
                leftovers = await run.child.end()
        if task is not None:
            over_time = f"{seconds:g}" if stopped == TIME else ""
            yield self._left(run, task, context, notes, over_time)
            return
        run.output.close()
        moved = settle(context.shell, run.folder, run.reported(), self._options.keep_cwd, notes)
        ended = Ended(
            stopped=f"its time limit of {seconds:g} s" if stopped == TIME else stopped,
            exit_code=run.child.exit_code,
            ending=self._dialect.ending(input.command, run.child.exit_code, run.child.signal),
            leftovers=leftovers and not stopped,
        )
        yield ended_result(ended, run.output, self._options.shown, notes, moved)

    def _moves(self, stopped: str, input: ForegroundInput, run: Started) -> bool:
        """Whether the command goes on in the background instead of being stopped."""
        if stopped == MOVED:
            return True
        if stopped != TIME or not self._options.background:
            return False
        asks = question_in(run.output.last_line)
        fit = not asks and self._dialect.may_go_on(input.command)
        return fit and self._background.has_room

    def _leave(
        self,
        run: Started,
        input: ForegroundInput,
        context: ToolContext,
        life_s: float,
        *,
        by_person: bool = False,
    ) -> Task:
        """Hand the running command over; from here on it belongs to its task."""
        launch = Launch(
            kind="shell",
            command=input.command,
            description=input.description,
            tool_use_id=context.tool_use_id,
            life_s=life_s,
            explain=partial(self._dialect.ending, input.command),
            tidy=run.tidy,
            by_person=by_person,
        )
        return self._background.start(launch, run.child, run.output)

    def _left(
        self, run: Started, task: Task, context: ToolContext, notes: list[str], over_time: str
    ) -> ToolOutput:
        moved = settle(context.shell, run.folder, "", self._options.keep_cwd, notes)
        return left_result(task, notes, moved, over_time)


async def _step(run: Started, feed: Feed, deadline: float, offer: Offer) -> tuple[str, bool]:
    """Wait for output or for the next thing that is due: why to stop, and whether it is over."""
    piece = None
    with anyio.CancelScope(deadline=min(deadline, feed.due())) as offer.scope:
        piece = await run.child.next_output()
    waited = offer.scope.cancelled_caught
    if piece is not None:
        feed.add(run.output.feed(piece.data))
    if run.output.received > MOST_OUTPUT:
        return TOO_MUCH, True
    over = piece is None and not waited
    if offer.taken and not over:
        return MOVED, True
    if anyio.current_time() >= deadline and not over:
        return TIME, True
    return "", over
