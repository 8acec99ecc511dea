"""One prompt without an editor: runs the turn, prints it, and says by exit code how it went."""

import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from sidelight.core.content import Text
from sidelight.core.events import Event, TurnEnded
from sidelight.core.ids import new_id
from sidelight.headless.output import Output
from sidelight.headless.watch import watch_files
from sidelight.session.manager import SessionManager
from sidelight.session.session import Session

OUTPUT_CLOSED = 141
TERMINATED = 143
INTERRUPTED = 130
GRACE_S = 5.0
"""How long background tasks may go on after the last answer."""


@dataclass(slots=True)
class Printer:
    """The sink of a run: what happens before the output is ready is kept for it."""

    output: Output | None = None
    early: list[Event] | None = None

    async def __call__(self, event: Event) -> None:
        """Print an event; the end of the turn is printed by `run_prompt`."""
        if self.output is None:
            self.early = [*(self.early or []), event]
        elif not isinstance(event, TurnEnded):
            self.output.event(event)

    def start(self, output: Output) -> None:
        """From here on events are printed, those kept so far first."""
        self.output = output
        for event in self.early or []:
            output.event(event)
        self.early = None


async def run_prompt(
    sessions: SessionManager,
    session: Session,
    text: str,
    output: Output,
    watched: Callable[[], tuple[str, ...]],
) -> int:
    """Run one turn to its end; the exit code.

    0 completed, 1 failed or stopped by a limit, 130 and 143 after SIGINT and SIGTERM, 141 when
    nobody reads the output any more: then the turn was cancelled and everything is on disk.
    `watched` gives the paths whose changes FileChanged hooks want to hear of.
    """
    caught: list[int] = []
    grace = anyio.CancelScope()
    async with anyio.create_task_group() as group:
        group.start_soon(_stop_on_signal, session, caught, grace)
        group.start_soon(watch_files, session.cwd, watched, sessions.file_changed)
        ended = await session.prompt((Text(text=text),), new_id())
        try:
            output.end(ended)
        except BrokenPipeError:
            group.cancel_scope.cancel()
            return OUTPUT_CLOSED
        except OSError as error:
            group.cancel_scope.cancel()
            _say(f"the answer cannot be written: {error.strerror}; it is kept in the conversation")
            _say(f"read it with: sidelight --resume {session.id} -p 'Say it again.'")
            return 1
        if not caught:
            await _last_moment(session, grace)
        group.cancel_scope.cancel()
        if caught:
            return TERMINATED if caught[0] == signal.SIGTERM else INTERRUPTED
        return 0 if ended.reason in {"completed", "blocked"} and ended.error is None else 1
    raise AssertionError("the task group ends with a return")


def _say(text: str) -> None:
    print(f"sidelight: {text}", file=sys.stderr)


async def _last_moment(session: Session, grace: anyio.CancelScope) -> None:
    """Background tasks may still end by themselves; whatever does not ends with the run."""
    grace.deadline = anyio.current_time() + GRACE_S
    with grace:
        await session.background.idle()
    for task in session.background.running:
        command = " ".join(task.launch.command.split())[:80]
        _say(f"ended with the run: {command}")


async def _stop_on_signal(session: Session, caught: list[int], grace: anyio.CancelScope) -> None:
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            caught.append(number)
            session.cancel()
            grace.cancel()
