"""One conversation: it owns history, files, rules and the running turn, and nothing else."""

import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from sidelight.agent.executor import ToolExecutor
from sidelight.agent.limits import Repeats, token_target
from sidelight.agent.loop import run_turn
from sidelight.agent.prepared import must_run_alone
from sidelight.agent.tool_call import run_call
from sidelight.agent.turn import Arrived, Turn
from sidelight.context.sent import Sent
from sidelight.core.content import UserBlock
from sidelight.core.decision import Mode
from sidelight.core.events import (
    Event,
    HistoryRepaired,
    MessageAdded,
    ModeChanged,
    Notice,
    QueueChanged,
    Queued,
    Sink,
    SpendChanged,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
    counted,
)
from sidelight.core.host import FileChange, Host
from sidelight.core.ids import new_id
from sidelight.core.ledger import FileLedger
from sidelight.core.messages import Message
from sidelight.core.tool import ToolContext
from sidelight.permissions.pipeline import withheld
from sidelight.session import queue
from sidelight.session.arrivals import Arrivals
from sidelight.session.inbox import Inbox, Waiting
from sidelight.session.model_choice import choose
from sidelight.session.moments import Moments
from sidelight.session.parts import Parts
from sidelight.session.pause import Gate, Pause
from sidelight.session.recorder import Recorder
from sidelight.session.review_host import ReviewHost
from sidelight.session.reviewing import Reviewing
from sidelight.session.spend import Spending
from sidelight.transcripts.entry import Opened
from sidelight.transcripts.replay import Replay

log = logging.getLogger(__name__)

CLOSED = "This conversation is closed; open it again to go on."
BUG = "Sidelight failed by a fault of its own; the log has the details. Nothing was lost."


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
        self.background = parts.background
        self.background.sink = self.tell
        self._inbox = Inbox.of(replay.waiting.values())
        self._sink = sink
        self._recorder = recorder
        self.reviewing = Reviewing(self.review, host, self.ledger, recorder, self.tell)
        self._host = ReviewHost(host, self.review, self.reviewing.changed)
        self._turns = anyio.Lock()
        self._scope: anyio.CancelScope | None = None
        self._executor: ToolExecutor | None = None
        self._moments = Moments(parts.hooks, parts.consent, self.tell, self._watch)
        self._gate = Gate()
        self.pause = Pause(self._gate, self._moments, self.tell)
        self._repairs = replay.repairs
        self._so_far = TurnEnded(turn_id="", reason="cancelled")
        self._arrivals = Arrivals(
            self._inbox,
            self.ledger,
            self.review,
            moments=self._moments,
            model=lambda: self.opened.model,
            erase=self._erase,
            opening=parts.opening,
            mode_reminder=parts.mode_reminder,
            background=parts.background,
            history=self.history,
        )
        self.spending = Spending(
            parts.price,
            parts.ceilings,
            replay,
            host=host,
            record=recorder.spent,
            tell=self.tell,
        )
        self._own = ""
        self._coming = 0
        self._stop_next = False
        self._closed = False

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
    def model(self) -> str:
        """The model that answers, as it was asked for."""
        return self.opened.model

    @property
    def host(self) -> Host:
        """The session's host; edits through it wait for review."""
        return self._host

    @property
    def queued(self) -> tuple[Queued, ...]:
        """Prompts that wait, oldest first."""
        return self._inbox.queued()

    @property
    def spent(self) -> SpendChanged | None:
        """What the conversation has cost so far; None before its first answer."""
        return self.spending.told

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        return self._scope is not None

    async def prompt(self, content: Sequence[UserBlock], prompt_id: str | None = None) -> TurnEnded:
        """Run a turn, or join the running one at its next step.

        The prompt is on disk before anything else happens. `cancel()` ends the turn with reason
        `cancelled`; cancelling the caller does too, and raises. Failures are in the result.
        A prompt that was taken up is in the history, however its turn ended; one that a hook
        refused is nowhere, and answered with `blocked`.
        """
        if self._closed:
            return TurnEnded(turn_id=new_id(), reason="failed", error=CLOSED)
        waiting = self._inbox.add(prompt_id or new_id(), content)
        self._coming += 1
        try:
            await self._recorder.prompt(waiting.id, waiting.content)
            if self.running and not waiting.taken:
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

    async def edit_queued(self, prompt_id: str, change: queue.Change) -> bool:
        """Change a prompt that waits; False when a turn has taken it up already."""
        done = await queue.edit(self._inbox, self._recorder, prompt_id, change)
        await self.tell(QueueChanged(prompts=self.queued))
        return done

    async def remove_queued(self, prompt_id: str) -> bool:
        """Take back a prompt that waits; False when a turn has taken it up already."""
        done = await queue.remove(self._inbox, self._recorder, prompt_id)
        await self.tell(QueueChanged(prompts=self.queued))
        return done

    def stop_call(self, tool_use_id: str) -> bool:
        """End one running call; the turn goes on with what it says. False when it runs no more."""
        return self._executor is not None and self._executor.stop(tool_use_id)

    def withheld(self, path: str) -> str:
        """Why a file's text must not go along with a prompt; empty if it may. Looks at the disk."""
        return withheld(path, self.parts.rules.policy)

    async def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, also for the running turn's next call."""
        self.parts.rules.set_mode(mode)
        await self._recorder.mode(mode)
        await self.tell(ModeChanged(mode=mode))

    async def set_model(self, model: str) -> None:
        """Another model from the next turn on; raises AgentError while a turn runs."""
        system = self.parts.system_for
        self.opened = await choose(self.opened, model, self._turns, self._recorder, system)

    async def start(self) -> None:
        """Tell what was wrong at the start, and the editor what to watch; called once."""
        for text in self.parts.notices:
            await self.tell(Notice(severity="warning", text=text))
        await self._watch()

    async def file_changed(self, change: FileChange) -> None:
        """A file changed: its hooks run, and the model is told if it knows another text of it."""
        self._arrivals.touch(change.path)
        if change.event == "unlink":
            await self.reviewing.file_removed(change.path)
        fields = {"file_path": change.path, "event": change.event}
        await self._moments.fire("FileChanged", fields, change.path)

    async def cwd_changed(self, old_cwd: str, new_cwd: str) -> None:
        """The workspace's folders or a terminal's folder are others; our own folder stays."""
        await self._moments.fire("CwdChanged", {"old_cwd": old_cwd, "new_cwd": new_cwd}, "")

    async def text_changed(self, path: str, text: str) -> None:
        """The editor's text of a file is another one."""
        self._arrivals.touch(path)
        await self.reviewing.text_changed(path, text)

    async def close(self) -> None:
        """Cancel, and wait until the turn has ended and everything is on disk.

        Prompts that still wait for a turn stay stored, and are taken up with the next one.
        """
        self._closed = True
        self.cancel()
        with anyio.CancelScope(shield=True):
            async with self._turns:
                if self._arrivals.begun:
                    await self._moments.end()
                await self.parts.dispose()
                await self._recorder.close()

    async def _run(self, waiting: Waiting) -> TurnEnded:
        turn_id, self._own = new_id(), waiting.id
        self._so_far = TurnEnded(turn_id=turn_id, reason="cancelled")
        self._arrivals.begin()
        self.spending.begin(turn_id)
        try:
            for text in await anyio.to_thread.run_sync(self.parts.refresh):
                await self.tell(Notice(severity="warning", text=text))
            ended = await self._play(self._turn(waiting, turn_id))
        except BaseException:
            await self._finish(waiting, None)
            raise
        return await self._finish(waiting, ended)

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
            ended = self._so_far.model_copy(update={"reason": "failed", "error": BUG})
        return ended

    def _make_executor(self, group: TaskGroup, turn: Turn) -> ToolExecutor:
        return ToolExecutor(
            group,
            lambda call, emit: run_call(call, turn, emit),
            lambda call: must_run_alone(call, turn.tools, self.parts.shell),
            turn.bounds.max_parallel,
        )

    async def _finish(self, own: Waiting, ended: TurnEnded | None) -> TurnEnded:
        """Leave a valid history behind on every way out, and answer every prompt taken up."""
        last = self._so_far
        with anyio.CancelScope(shield=True):
            self._scope, self._stop_next = None, False
            self._gate.release()
            left, executor = self._arrivals.give_up(own), self._executor
            discarded = executor.discarded() if executor is not None else None
            if executor is not None:
                left = (*left, *executor.abandon())
                executor.close()
                self._executor = None
            self.history += left
            for event in [*(MessageAdded(message=each) for each in left), discarded]:
                if event is not None:
                    await self._pass_on(event)
            last = ended or self._so_far
            self._inbox.end(last)
            await self._recorder.turn(last)
            await self.tell(last)
        return last

    def _turn(self, waiting: Waiting, turn_id: str) -> Turn:
        bounds = self.parts.bounds(self.opened.model)
        target = token_target(waiting.typed) or bounds.token_target
        return Turn(
            id=turn_id,
            prompt_id=waiting.id,
            history=self.history,
            system=self.opened.system,
            model=self.parts.model,
            model_name=self.opened.model,
            effort=self.parts.effort,
            card=self.parts.card,
            tools=self.parts.tools,
            specs=self.opened.tools,
            rules=self.parts.rules,
            hooks=self.parts.hooks,
            context_for=self._context,
            arrivals=self._gather,
            bounds=replace(bounds, token_target=target),
            repairs=self._repairs,
            repeats=Repeats(bounds.repeats),
            sent=self._sent,
            unpaused=self._gate.passed,
            may_spend=self.spending.may_spend,
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

    async def _gather(self) -> Arrived:
        waited = bool(self._inbox.queued())
        found = await self._arrivals.gather(self.mode, self._host)
        if waited:
            await self.tell(QueueChanged(prompts=()))
        return found

    async def _pass_on(self, event: Event) -> None:
        self._so_far = counted(self._so_far, event)
        if isinstance(event, MessageAdded):
            self._arrivals.joined(event.message)
            await self._recorder.message(event.message)
        elif isinstance(event, HistoryRepaired):
            self._repairs = event.repairs
            await self._recorder.repairs(event.repairs)
        elif isinstance(event, ToolCallStarted):
            await self._recorder.call_begun(event.call)
        elif isinstance(event, ToolCallEnded):
            await self._recorder.call(event)
        await self.tell(event)
        await self.spending.hear(event)

    async def _erase(self, waiting: Waiting, reason: str) -> None:
        """A hook refused the prompt: it joins nothing, on no way, and its sender is answered."""
        await self._recorder.dropped(waiting.id)
        if waiting.id != self._own:
            await self.tell(Notice(severity="warning", text=reason))
        ended = TurnEnded(turn_id=self._so_far.turn_id, reason="blocked", error=reason)
        self._inbox.drop(waiting, ended)

    async def _watch(self) -> None:
        await self._host.watch(self.parts.hooks.watch_list())

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
