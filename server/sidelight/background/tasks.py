"""The background tasks of one session: started, found, stopped, and told of."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidelight.background.task import Launch, Task
from sidelight.core.errors import ToolError
from sidelight.core.events import Event, Sink, TasksChanged
from sidelight.process.output import Output
from sidelight.process.run import Child

QUIET_S = 20.0
MOST_RUNNING = 20
MOST_KEPT = 50
"""Ended tasks that can still be asked for; the output files of older ones stay."""
LAST_WORDS = 1_500
"""Characters of the output that a reminder of a task's end shows."""
LOST = (
    "The background task {}, started earlier in this conversation, has ended with the program "
    "that ran it; its output file is gone."
)


@dataclass(frozen=True, slots=True)
class News:
    """What the model must hear of a task, once."""

    task_id: str
    text: str


class Background:
    """Owns its tasks; they end with `close`. All methods run on one event loop.

    `sink` hears whenever a task begins or ends. Calls that run in the foreground may offer to be
    moved here when a person asks for it.
    """

    def __init__(self, *, quiet_s: float = QUIET_S, most_running: int = MOST_RUNNING) -> None:
        self._quiet_s = quiet_s
        self._most_running = most_running
        self._tasks: dict[str, Task] = {}
        self._lives: set[asyncio.Task[None]] = set()
        self._offers: dict[str, Callable[[], None]] = {}
        self._count = 0
        self._lost: Sequence[str] = ()
        self.sink: Sink = _nobody

    @property
    def running(self) -> tuple[Task, ...]:
        """Tasks that have not ended, oldest first."""
        return tuple(task for task in self._tasks.values() if task.running)

    @property
    def state(self) -> TasksChanged:
        """What clients are told."""
        return TasksChanged(tasks=tuple(task.state for task in self.running))

    @property
    def has_room(self) -> bool:
        """Whether a further task may begin."""
        return len(self.running) < self._most_running

    def check_room(self) -> None:
        """Raise ToolError when no further task may begin."""
        if not self.has_room:
            raise ToolError(
                f"{self._most_running} background tasks run already. Stop one with TaskStop first: "
                f"{self._names()}.",
                "invalid_input",
            )

    def start(self, launch: Launch, child: Child, output: Output) -> Task:
        """Take over a running command; from here on it is ended by its task alone."""
        self._count += 1
        task = Task(f"{launch.kind[0]}{self._count}", launch, child, output, self._quiet_s)
        output.publish()
        self._tasks[task.id] = task
        life = asyncio.get_running_loop().create_task(self._live(task))
        self._lives.add(life)
        life.add_done_callback(self._lives.discard)
        self._forget_old()
        return task

    def get(self, task_id: str) -> Task:
        """A task by its id; raises ToolError that names those there are."""
        task = self._tasks.get(task_id)
        if task is None:
            there = f"Running: {self._names()}." if self.running else "None is running."
            raise ToolError(f"There is no background task {task_id!r}. {there}", "not_found")
        return task

    async def stop(self, task_id: str, why: str) -> bool:
        """End a task and wait until it has; False when it is not there or has ended."""
        task = self._tasks.get(task_id)
        if task is None or not task.running:
            return False
        task.stop(why)
        await task.done.wait()
        return True

    def offer(self, tool_use_id: str, move: Callable[[], None]) -> None:
        """A call may be moved here; `move` is called when a person asks for it."""
        self._offers[tool_use_id] = move

    def withdraw(self, tool_use_id: str) -> None:
        """The call may no longer be moved."""
        self._offers.pop(tool_use_id, None)

    def move(self, tool_use_id: str) -> bool:
        """A person wants this running call to go on here; False when it cannot."""
        move = self._offers.get(tool_use_id)
        if move is None:
            return False
        move()
        return True

    def take_up(self, started: int, lost: Sequence[str]) -> None:
        """So many tasks were started by earlier processes; of these the model knows no end."""
        self._count, self._lost = started, lost

    def take_news(self) -> Sequence[News]:
        """What the model has not heard yet; each is given once."""
        lost = [News(task_id, LOST.format(task_id)) for task_id in self._lost]
        self._lost = ()
        found = (_news_of(task) for task in self._tasks.values())
        return [*lost, *(news for news in found if news is not None)]

    async def idle(self) -> None:
        """Wait until nothing runs. Cancellable."""
        for task in self.running:
            await task.done.wait()

    async def close(self) -> None:
        """End every task and wait until all are gone."""
        for task in self.running:
            task.told = True
            task.stop("the end of the conversation")
        for life in tuple(self._lives):
            await asyncio.wait([life])

    async def _live(self, task: Task) -> None:
        try:
            await self._tell()
        finally:
            await task.run()
        await self._tell()

    async def _tell(self) -> None:
        await self.sink(self.state)

    def _forget_old(self) -> None:
        ended = [task.id for task in self._tasks.values() if not task.running and task.told]
        for task_id in ended[:-MOST_KEPT]:
            del self._tasks[task_id]

    def _names(self) -> str:
        return ", ".join(f"{task.id} ({_short(task.launch.command)})" for task in self.running)


def _news_of(task: Task) -> News | None:
    parts: list[str] = []
    if task.lines is not None and task.lines.waiting:
        parts.append(f"{_name(task)} printed:\n{_quoted(task.lines.take())}")
        task.read = task.output.length
    if task.question and task.running:
        parts.append(
            f"{_name(task)} seems to wait for an answer: {task.question}\n"
            "Nobody can type there. Stop it, and start it with an option or an input that answers."
        )
    task.question = ""
    if not task.running and not task.told:
        task.told = True
        parts.append(f"{_name(task)} {ending_words(task)}.{_last_words(task)}")
    return News(task.id, "\n".join(parts)) if parts else None


def ending_words(task: Task) -> str:
    """How a task stands, as the rest of a sentence."""
    remark = f" ({task.remark})" if task.remark else ""
    match task.status:
        case "running":
            return "is running"
        case "stopped":
            return f"was stopped: {task.remark}"
        case "completed":
            return f"has ended{remark}"
        case "failed":
            code = "" if task.exit_code is None else f" with exit code {task.exit_code}"
            return f"failed{code}{remark}"


def _last_words(task: Task) -> str:
    if task.lines is not None:
        return f" All it said is in {task.output.file}."
    unread = task.output.length - task.read
    if unread <= 0:
        return " It said nothing more."
    text = task.output.since(task.output.length - min(unread, LAST_WORDS)).strip("\n")
    return f" Its output is in {task.output.file}; the end of it:\n{_quoted(text)}"


def _quoted(text: str) -> str:
    """Output inside of a reminder: marked line by line, since it is nobody's instruction."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _name(task: Task) -> str:
    kind = "The monitor" if task.launch.kind == "monitor" else "The background task"
    return f"{kind} {task.id} ({_short(task.launch.command)})"


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= 80 else line[:79] + "…"


async def _nobody(event: Event) -> None:
    """Nobody listens."""
