"""A session's events as notifications of the wire; deltas of one moment become one update."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from sidelight.core.content import Json, Text
from sidelight.core.events import (
    AnswerDiscarded,
    Event,
    HistoryRepaired,
    HookEnded,
    MessageAdded,
    MessageDropped,
    ModeChanged,
    Notice,
    PauseChanged,
    PermissionAsked,
    PermissionDecided,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    Queued,
    RetryScheduled,
    ReviewChanged,
    SpendChanged,
    StepStarted,
    TasksChanged,
    TextDelta,
    ThinkingDelta,
    ToolCallEnded,
    ToolCallStarted,
    ToolProgress,
    TurnEnded,
    TurnStarted,
)
from sidelight.core.messages import AssistantMessage, UserMessage
from sidelight.core.spend import MAIN, Spent
from sidelight.wire.controls import QueuedPrompt, TasksShown
from sidelight.wire.methods import NoticeShown, Retry, State
from sidelight.wire.prompts import typed_words
from sidelight.wire.shapes import (
    call_decided,
    call_ended,
    call_started,
    dropped,
    mode_update,
    output_piece,
    piece_of_answer,
    piece_of_thinking,
    text_chunk,
    usage_update,
    user_chunks,
)

# What comes sooner than this after an update waits for more, but no longer than `LONGEST`.
TICK_SECONDS = 0.016
LONGEST_SECONDS = 0.045
MOST_DELTAS = 20

Send = Callable[[str, Json], None]


@dataclass(frozen=True, slots=True)
class Wire:
    """The way to one client.

    `send` queues a notification; `drain` waits while the client is slow to read; `window` gives
    a model's context size; `queued` the prompts that wait; `changed` is called when the hunks
    that wait for review are others.
    """

    send: Send
    drain: Callable[[], Awaitable[None]]
    window: Callable[[str], int | None]
    queued: Callable[[], Sequence[Queued]]
    changed: Callable[[], Awaitable[None]]


@dataclass(slots=True)
class _Growing:
    """Deltas of one kind and one message that wait for the tick."""

    key: tuple[str, str]
    texts: list[str] = field(default_factory=list[str])


class Feed:
    """The sink of one session. Order is kept: whatever is no delta sends the deltas first.

    A slow client slows whoever awaits the sink; nothing is dropped.
    """

    def __init__(self, session_id: str, wire: Wire) -> None:
        self._session_id = session_id
        self._wire = wire
        self._growing: _Growing | None = None
        self._timer: asyncio.Handle | None = None
        self._due = False
        self._sent_at = 0.0
        self._streamed: set[str] = set()
        self._turn_id: str | None = None
        self._started_at: int | None = None
        self._paused = False
        self._asking: set[str] = set()
        self._context: Spent | None = None

    async def __call__(self, event: Event) -> None:
        """Pass one event on; waits while the client is slow."""
        match event:
            case TextDelta():
                self._streamed.add(event.message_id)
                self._grow(("answer", event.message_id), event.text)
            case ThinkingDelta():
                self._grow(("thinking", event.message_id), event.text)
            case ToolProgress():
                self._grow(("output", event.tool_use_id), event.text)
            case _:
                self.flush()
                await self._other(event)
        await self._wire.drain()

    def update(self, update: Json) -> None:
        """Send a `session/update`."""
        self._wire.send("session/update", {"sessionId": self._session_id, "update": update})

    def flush(self) -> None:
        """Send the deltas that wait."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._due = False
        growing, self._growing = self._growing, None
        if growing is None:
            return
        self._sent_at = time.monotonic()
        (kind, name), text = growing.key, "".join(growing.texts)
        if kind == "answer":
            self.update(piece_of_answer(name, text))
        elif kind == "thinking":
            self.update(piece_of_thinking(name, text))
        else:
            self.update(output_piece(name, text))

    def _grow(self, key: tuple[str, str], text: str) -> None:
        if self._growing is not None and self._growing.key != key:
            self.flush()
        if self._growing is None:
            self._growing = _Growing(key)
        self._growing.texts.append(text)
        if len(self._growing.texts) >= MOST_DELTAS:
            self.flush()
        elif not self._due:
            self._plan()

    def _plan(self) -> None:
        """Send what waits: with all that is at hand now, or when more has come."""
        self._due = time.monotonic() - self._sent_at >= TICK_SECONDS
        loop = asyncio.get_running_loop()
        if self._due:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_soon(self.flush)
        elif self._timer is None:
            self._timer = loop.call_later(LONGEST_SECONDS, self.flush)

    async def _other(self, event: Event) -> None:
        match event:
            case MessageAdded() | MessageDropped():
                self._message(event)
            case ToolCallStarted() | ToolCallEnded() | PermissionAsked() | PermissionDecided():
                self._call(event)
            case TurnStarted() | TurnEnded() | QueueChanged():
                self._turn(event)
            case QuestionAsked() | QuestionAnswered():
                self._question(event)
            case SpendChanged():
                self.spent(event)
            case ModeChanged() | PauseChanged() | TasksChanged():
                self._state_of_the_session(event)
            case ReviewChanged():
                await self._wire.changed()
            case RetryScheduled() | HookEnded() | Notice():
                self._remark(event)
            case (
                StepStarted()
                | TextDelta()
                | ThinkingDelta()
                | ToolProgress()
                | HistoryRepaired()
                | AnswerDiscarded()
            ):
                pass  # no news by themselves, or said by a notice; deltas were taken before

    def _state_of_the_session(self, event: ModeChanged | PauseChanged | TasksChanged) -> None:
        match event:
            case ModeChanged():
                self.update(mode_update(event.mode))
            case PauseChanged():
                self._paused = event.paused
                self.state()
            case TasksChanged():
                tasks = TasksShown(session_id=self._session_id, tasks=event.tasks)
                self._wire.send("_sidelight/tasks", tasks.to_wire())

    def _message(self, event: MessageAdded | MessageDropped) -> None:
        if isinstance(event, MessageDropped):
            self._streamed.discard(event.message_id)
            self.update(dropped(event.message_id))
            return
        message = event.message
        if isinstance(message, UserMessage):
            for chunk in user_chunks(message):
                self.update(chunk)
        elif isinstance(message, AssistantMessage):
            if message.shown_as not in self._streamed:
                for block in message.content:
                    if isinstance(block, Text):
                        chunk = text_chunk("agent_message_chunk", message.shown_as, block.text)
                        self.update(chunk)
            self._streamed.discard(message.shown_as)

    def _call(
        self, event: ToolCallStarted | ToolCallEnded | PermissionAsked | PermissionDecided
    ) -> None:
        match event:
            case ToolCallStarted():
                self.update(call_started(event.call, event.summary))
            case ToolCallEnded():
                result = event.result
                if result.tool_use_id in self._asking:
                    self._asking.discard(result.tool_use_id)
                    self.state()
                self.update(
                    call_ended(
                        event.name,
                        result,
                        outcome=event.outcome,
                        error=event.error,
                        data=event.data,
                        duration_ms=event.duration_ms,
                        paths=event.paths_changed,
                    )
                )
            case PermissionAsked():
                self._asking.add(event.prompt.call.id)
                self.state()
            case PermissionDecided():
                if event.tool_use_id in self._asking:
                    self._asking.discard(event.tool_use_id)
                    self.state()
                self.update(call_decided(event.tool_use_id, event.decision))

    def _question(self, event: QuestionAsked | QuestionAnswered) -> None:
        if isinstance(event, QuestionAsked):
            self._asking.add(event.question.id)
        else:
            self._asking.discard(event.question_id)
        self.state()

    def spent(self, event: SpendChanged) -> None:
        """Tell what was spent; how full the context is follows the conversation's own requests."""
        if event.spent.source == MAIN or self._context is None:
            self._context = event.spent
        window = self._wire.window(self._context.model)
        if window is not None:
            self.update(usage_update(event, self._context.usage, window))

    def _turn(self, event: TurnStarted | TurnEnded | QueueChanged) -> None:
        if isinstance(event, TurnStarted):
            self._turn_id, self._started_at = event.turn_id, int(time.time() * 1000)
            self._asking.clear()
            self.state()
        elif isinstance(event, QueueChanged):
            self.state(event.prompts)
        else:
            began, self._started_at = self._started_at, None
            self._turn_id, self._paused = None, False
            self._asking.clear()
            duration = None if began is None else int(time.time() * 1000) - began
            self._wire.send(
                "_sidelight/state",
                State(
                    session_id=self._session_id,
                    state="idle",
                    turn_id=event.turn_id,
                    duration_ms=duration,
                    queued=_named(self._wire.queued()),
                    error=event.error,
                ).to_wire(),
            )

    def state(self, queued: Sequence[Queued] | None = None) -> None:
        """Tell what the session is doing."""
        running = "requires_action" if self._asking else "running"
        state = State(
            session_id=self._session_id,
            state=running if self._turn_id is not None else "idle",
            paused=self._paused and self._turn_id is not None,
            turn_id=self._turn_id,
            started_at=self._started_at,
            queued=_named(self._wire.queued() if queued is None else queued),
        )
        self._wire.send("_sidelight/state", state.to_wire())

    def _remark(self, event: RetryScheduled | HookEnded | Notice) -> None:
        if isinstance(event, RetryScheduled):
            retry = Retry(
                session_id=self._session_id,
                attempt=event.attempt,
                delay_ms=int(event.delay_s * 1000),
                cause=event.cause,
            )
            self._wire.send("_sidelight/retry", retry.to_wire())
            return
        notice = hook_notice(event) if isinstance(event, HookEnded) else event
        if notice is not None:
            shown = NoticeShown(
                session_id=self._session_id, severity=notice.severity, text=notice.text
            )
            self._wire.send("_sidelight/notice", shown.to_wire())


def _named(queued: Sequence[Queued]) -> tuple[QueuedPrompt, ...]:
    return tuple(QueuedPrompt(id=one.id, text=typed_words(one.content)) for one in queued)


def hook_notice(event: HookEnded) -> Notice | None:
    """What a person should know of a hook that ran; None for one that did what it should."""
    if event.outcome == "ok":
        return None
    detail = f": {event.detail}" if event.detail else ""
    if event.outcome == "blocked":
        return Notice(severity="info", text=f"A {event.event} hook objected{detail}")
    did = "took too long and was stopped" if event.outcome == "timeout" else "failed"
    return Notice(
        severity="warning", text=f"The {event.event} hook `{event.command}` {did}{detail}"
    )
