"""One conversation: it owns history, files, rules and the running turn, and nothing else."""

import logging
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from sidelight.agent.executor import ToolExecutor
from sidelight.agent.loop import run_turn
from sidelight.agent.prepared import must_run_alone
from sidelight.agent.tool_call import run_call
from sidelight.agent.turn import Turn
from sidelight.context.sent import Sent
from sidelight.core.content import Json, UserBlock
from sidelight.core.decision import Mode
from sidelight.core.events import (
    Event,
    MessageAdded,
    ModeChanged,
    Notice,
    QueueChanged,
    ReviewChanged,
    Sink,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
)
from sidelight.core.host import FileChange, Host
from sidelight.core.ids import new_id
from sidelight.core.ledger import FileLedger
from sidelight.core.messages import Attachment, Message
from sidelight.core.model import Effort, ModelClient
from sidelight.core.tool import AnyTool, Shell, ToolContext
from sidelight.hooks.engine import HookEngine
from sidelight.permissions.pipeline import withheld
from sidelight.review.ledger import ReviewLedger
from sidelight.session.arrivals import Arrivals
from sidelight.session.inbox import Inbox, Waiting
from sidelight.session.recorder import Recorder
from sidelight.session.review_host import ReviewHost
from sidelight.session.rules import SessionRules
from sidelight.transcripts.entry import Opened
from sidelight.transcripts.replay import Replay

log = logging.getLogger(__name__)

CLOSED = "This conversation is closed; open it again to go on."
BUG = "Sidelight failed by a fault of its own; the log has the details. Nothing was lost."


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is built from; made by the composition root, owned by the session.

    `opening` gives the reminders that go ahead of the first prompt, `mode_reminder` what the
    model is told when the mode changed (old, new), `refresh` takes up settings that changed on
    disk (blocking) and gives sentences about them, `notices` are told when the session starts.
    """

    model: ModelClient
    effort: Effort | None
    tools: dict[str, AnyTool]
    hooks: HookEngine
    rules: SessionRules
    review: ReviewLedger
    shell: Shell
    scratch: Path
    opening: Callable[[], Awaitable[Sequence[Attachment]]]
    mode_reminder: Callable[[Mode, Mode], str | None]
    refresh: Callable[[], Sequence[str]]
    notices: Sequence[str]
    max_steps: int


class Session:
    """A conversation bound to one client and one folder. All methods run on one event loop."""

    def __init__(
        self, replay: Replay, parts: Parts, host: Host, sink: Sink, recorder: Recorder
    ) -> None:
        self.opened: Opened = replay.opened
        self.title: str | None = replay.title
        self.calls = replay.calls
        self.parts = parts
        self.history: list[Message] = replay.messages
        self._sent = Sent()
        self.ledger = FileLedger()
        self.review = parts.review
        self._inbox = Inbox()
        self._sink = sink
        self._recorder = recorder
        self._inner = host
        self._host = ReviewHost(host, self.review, self.review_changed)
        self._turns = anyio.Lock()
        self._scope: anyio.CancelScope | None = None
        self._executor: ToolExecutor | None = None
        self._arrivals = Arrivals(
            self._inbox,
            self.ledger,
            self.review,
            opening=parts.opening,
            mode_reminder=parts.mode_reminder,
            history=self.history,
        )
        self._coming = 0
        self._stop_next = False
        self._closed = False
        for stored in replay.waiting.values():
            self._inbox.add(stored.prompt_id, stored.content)

    @property
    def id(self) -> str:
        """The session's name."""
        return self.opened.session_id

    @property
    def cwd(self) -> str:
        """The folder that the conversation is about."""
        return self.opened.cwd

    @property
    def mode(self) -> Mode:
        """The present permission mode."""
        return self.parts.rules.policy.mode

    @property
    def host(self) -> Host:
        """The session's host; edits through it wait for review."""
        return self._host

    @property
    def queued(self) -> tuple[str, ...]:
        """Texts of prompts that wait, oldest first."""
        return self._inbox.queued()

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self._scope is not None

    async def prompt(self, content: Sequence[UserBlock], prompt_id: str | None = None) -> TurnEnded:
        """Run a turn, or join the running one at its next step.

        The prompt is on disk before anything else happens. `cancel()` ends the turn with reason
        `cancelled`; cancelling the caller does too, and raises. Failures are in the result.
        A prompt that was taken up is in the history, however its turn ended.
        """
        if self._closed:
            return TurnEnded(turn_id=new_id(), reason="failed", error=CLOSED)
        waiting = self._inbox.add(prompt_id or new_id(), content)
        self._coming += 1
        try:
            await self._recorder.prompt(waiting.id, waiting.content)
            if self.running:
                await self.tell(QueueChanged(prompts=self._inbox.queued()))
            async with self._turns:
                if waiting.ended is not None:
                    return waiting.ended
                if self._closed:
                    return TurnEnded(turn_id=new_id(), reason="cancelled")
                return await self._run(waiting)
        finally:
            self._coming -= 1
            self._stop_next = self._stop_next and self._coming > 0

    def cancel(self) -> None:
        """Stop the running turn, or the one that is about to run; returns at once."""
        if self._scope is not None:
            self._scope.cancel()
        else:
            self._stop_next = self._coming > 0

    def withheld(self, path: str) -> str:
        """Why a file's text must not go along with a prompt; empty if it may. Looks at the disk."""
        return withheld(path, self.parts.rules.policy)

    async def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, also for the running turn's next call."""
        self.parts.rules.set_mode(mode)
        await self._recorder.mode(mode)
        await self.tell(ModeChanged(mode=mode))

    async def review_changed(self) -> None:
        """The pending hunks are others: store what they rest on, and say so."""
        await self._recorder.reviews(self.review.files())
        await self.tell(ReviewChanged())

    async def keep(self, path: str | None, hunk_id: str | None) -> int:
        """Settle hunks as they are: one, a file's, or all. How many."""
        count = self.review.keep(path, hunk_id)
        await self.review_changed()
        return count

    async def undo(self, path: str | None, hunk_id: str | None) -> tuple[int, str | None]:
        """Take hunks back through the editor; how many, and why some could not be.

        One edit for the editor's own undo; the model hears of it at the next step.
        """
        done, problem = 0, None
        for edit, count in self.review.undo_edits(path, hunk_id):
            outcome = await self._inner.apply_edit((edit,), "Undo")
            if not outcome.applied:
                problem = outcome.detail or f"{edit.path} changed meanwhile; look at it again."
                continue
            after = outcome.after[0].text if outcome.after else None
            self.review.note_undone(edit, after)
            if after is not None and self.ledger.seen(edit.path) is not None:
                self.ledger.note_write(edit.path, after)
            done += count
        await self.review_changed()
        return done, problem

    async def start(self) -> None:
        """Tell what was wrong at the start, and the editor what to watch; called once."""
        for text in self.parts.notices:
            await self.tell(Notice(severity="warning", text=text))
        await self._host.watch(self.parts.hooks.watch_list())

    async def file_changed(self, change: FileChange) -> None:
        """A file changed: its hooks run, and the model is told if it knows another text of it."""
        self._arrivals.touch(change.path)
        if change.event == "unlink" and self.review.file_removed(change.path):
            await self.review_changed()
        fields = {"file_path": change.path, "event": change.event}
        await self._fire("FileChanged", fields, change.path)

    async def cwd_changed(self, old_cwd: str, new_cwd: str) -> None:
        """The workspace's folders or a terminal's folder are others; our own folder stays."""
        await self._fire("CwdChanged", {"old_cwd": old_cwd, "new_cwd": new_cwd}, "")

    async def text_changed(self, path: str, text: str) -> None:
        """The editor's text of a file is another one."""
        self._arrivals.touch(path)
        if self.review.text_changed(path, text):
            await self.review_changed()

    async def _fire(self, event: str, fields: Json, subject: str) -> None:
        """Run hooks that cannot block anything; what they say is told."""
        outcome = await self.parts.hooks.fire(event, fields, subject)
        for run in outcome.runs:
            await self.tell(run)
        for text in outcome.messages:
            await self.tell(Notice(severity="info", text=text))
        if outcome.watch_paths is not None:
            await self._host.watch(self.parts.hooks.watch_list())

    async def close(self) -> None:
        """Cancel, and wait until the turn has ended and everything is on disk.

        Prompts that still wait for a turn stay stored, and are taken up with the next one.
        """
        self._closed = True
        self.cancel()
        with anyio.CancelScope(shield=True):
            async with self._turns:
                await self._recorder.close()
                await anyio.to_thread.run_sync(partial(shutil.rmtree, self.parts.scratch, True))

    async def _run(self, waiting: Waiting) -> TurnEnded:
        turn = self._turn(waiting)
        self._arrivals.begin()
        try:
            for text in await anyio.to_thread.run_sync(self.parts.refresh):
                await self.tell(Notice(severity="warning", text=text))
            ended = await self._play(turn)
        except BaseException:
            await self._finish(turn, waiting, None)
            raise
        return await self._finish(turn, waiting, ended)

    async def _play(self, turn: Turn) -> TurnEnded | None:
        """Run the loop in a task group of its own; None when it was cancelled."""
        ended: TurnEnded | None = None
        try:
            async with anyio.create_task_group() as group:
                self._scope = group.cancel_scope
                if self._stop_next:
                    self.cancel()
                self._executor = self._make_executor(group, turn)
                events = run_turn(turn, self._executor)
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, TurnEnded):
                            ended = event
                        else:
                            await self._pass_on(event)
        except* Exception as problems:
            log.exception("turn of session %s failed", self.id, exc_info=problems)
            ended = TurnEnded(turn_id=turn.id, reason="failed", error=BUG)
        return ended

    def _make_executor(self, group: TaskGroup, turn: Turn) -> ToolExecutor:
        return ToolExecutor(
            group,
            lambda call, emit: run_call(call, turn, emit),
            lambda call: must_run_alone(call, turn.tools, self.parts.shell),
            turn.max_parallel,
        )

    async def _finish(self, turn: Turn, own: Waiting, ended: TurnEnded | None) -> TurnEnded:
        """Leave a valid history behind on every way out, and answer every prompt taken up."""
        ended = ended or TurnEnded(turn_id=turn.id, reason="cancelled")
        with anyio.CancelScope(shield=True):
            self._scope, self._stop_next = None, False
            left = self._arrivals.give_up(own)
            if self._executor is not None:
                left = (*left, *self._executor.abandon())
            for message in left:
                self.history.append(message)
                await self._pass_on(MessageAdded(message=message))
            if self._executor is not None:
                self._executor.close()
                self._executor = None
            self._inbox.end(ended)
            await self._recorder.turn(ended)
            await self.tell(ended)
        return ended

    def _turn(self, waiting: Waiting) -> Turn:
        return Turn(
            id=new_id(),
            prompt_id=waiting.id,
            history=self.history,
            system=self.opened.system,
            model=self.parts.model,
            model_name=self.opened.model,
            effort=self.parts.effort,
            tools=self.parts.tools,
            specs=self.opened.tools,
            rules=self.parts.rules,
            hooks=self.parts.hooks,
            context_for=self._context,
            arrivals=self._gather,
            max_steps=self.parts.max_steps,
            sent=self._sent,
        )

    def _context(self, tool_use_id: str) -> ToolContext:
        return ToolContext(
            session_id=self.id,
            tool_use_id=tool_use_id,
            host=self._host,
            ledger=self.ledger,
            shell=self.parts.shell,
            scratch_dir=str(self.parts.scratch),
        )

    async def _gather(self) -> Sequence[Message]:
        waited = bool(self._inbox.queued())
        found = await self._arrivals.gather(self.mode, self._host)
        if waited:
            await self.tell(QueueChanged(prompts=()))
        return found

    async def _pass_on(self, event: Event) -> None:
        if isinstance(event, MessageAdded):
            self._arrivals.joined(event.message)
            await self._recorder.message(event.message)
        elif isinstance(event, ToolCallStarted):
            await self._recorder.call_begun(event.call)
        elif isinstance(event, ToolCallEnded):
            await self._recorder.call(event)
        await self.tell(event)

    async def tell(self, event: Event) -> None:
        """Pass an event to the client; one that no longer listens ends the turn."""
        try:
            await self._sink(event)
        except BrokenPipeError:
            log.warning("nobody reads the output of session %s any more", self.id)
            self.cancel()
        except Exception:
            log.exception("the client of session %s no longer listens", self.id)
            self.cancel()
