"""Runs the calls of one step: each as soon as its block is complete, in an order that is safe.

Calls that only read run side by side; a call that changes something waits for all before it and
holds back all behind it, and a call waits for an equal one before it. Results keep the order of
the calls.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from sidelight.agent.limits import identity
from sidelight.agent.stream import Emit, Response
from sidelight.core.content import Text, ToolResult, ToolUse
from sidelight.core.events import AnswerDiscarded, Event, Notice, ToolCallEnded
from sidelight.core.ids import new_id
from sidelight.core.messages import Attachment, Message, UserMessage

INTERRUPTED = "The user interrupted this call while it ran. It may have partly run."
STOPPED = (
    "The user stopped this call while it ran. It may have partly run. Do not run it again unasked."
)
NOT_STARTED = "This call was not run: the user interrupted before it began."
NOT_WANTED = "This call was not run: the user stopped it before it began."
AFTER_DENIAL = "This call was not run: the user denied a call before it."
EVENTS_WAITING = 64


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A call's result; `stop` ends the turn, empty when a person said no and nothing else.

    `beside` is what hooks say to the model; it is ours, so it may not stand in the result, where
    everything is foreign text.
    """

    result: ToolResult
    stop: str | None = None
    beside: tuple[str, ...] = ()


RunCall = Callable[[ToolUse, Emit], Awaitable[CallOutcome]]


@dataclass(slots=True)
class _Slot:
    call: ToolUse
    changes: bool
    done: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    started: bool = False
    outcome: CallOutcome | None = None


class _Closed:
    """The response is over (complete or broken)."""


class ToolExecutor:
    """Owns the tasks of a turn, in the session's task group; its consumer is the loop."""

    def __init__(
        self,
        group: TaskGroup,
        run_call: RunCall,
        changes: Callable[[ToolUse], bool],
        max_parallel: int,
    ) -> None:
        self._group = group
        self._run_call = run_call
        self._changes = changes
        self._reading = anyio.CapacityLimiter(max_parallel)
        self._slots: list[_Slot] = []
        self._send, self._receive = anyio.create_memory_object_stream[Event | _Closed](
            EVENTS_WAITING
        )
        self._response: Response | None = None
        self._recorded = False
        self._due: list[Message] | None = None

    def begin(
        self, response: Response, receive: Callable[[], Awaitable[None]], quiet_s: float
    ) -> None:
        """Start receiving a response; the calls of the step before are forgotten.

        After `quiet_s` seconds without a sign of the model the person is told.
        """
        self._slots = []
        self._response = response
        self._recorded = False
        self._due = None
        self._group.start_soon(self._respond, response, receive, quiet_s)

    async def emit(self, event: Event) -> None:
        """Pass an event to the loop; waits while the loop's reader is slow."""
        await self._send.send(event)

    def submit(self, call: ToolUse) -> None:
        """Start a complete call; it waits by itself for those it must not overtake."""
        before = list(self._slots)
        slot = _Slot(call, self._changes(call))
        self._slots.append(slot)
        self._group.start_soon(self._run, slot, before)

    def stop(self, tool_use_id: str) -> bool:
        """End one call that has not ended; whether there was one. The others go on."""
        for slot in self._slots:
            if slot.call.id == tool_use_id and slot.outcome is None:
                slot.scope.cancel()
                return True
        return False

    async def events(self) -> AsyncIterator[Event]:
        """Events of the response and its calls, until the response is over.

        Afterwards `response` is final and `settle` gives the rest.
        """
        while not isinstance(item := await self._next(), _Closed):
            yield item

    async def _next(self) -> Event | _Closed:
        """What is at hand is taken without going round the loop."""
        try:
            return self._receive.receive_nowait()
        except anyio.WouldBlock:
            return await self._receive.receive()

    async def settle(self) -> AsyncIterator[Event]:
        """Events of the calls that still run, until all are done."""
        self._group.start_soon(self._close_when_done, list(self._slots))
        async for event in self.events():
            yield event

    def mark_recorded(self) -> None:
        """The response's message is in the history now."""
        self._recorded = True

    @property
    def has_calls(self) -> bool:
        """Whether the response asked for anything."""
        return bool(self._slots)

    @property
    def stopped(self) -> str | None:
        """Why a call's outcome ends the turn, empty if no more is to be said; None if none does."""
        outcomes = (slot.outcome for slot in self._slots if slot.outcome is not None)
        return next((outcome.stop for outcome in outcomes if outcome.stop is not None), None)

    def results(self) -> Iterator[Message]:
        """One result a call, in the order of the calls, then what hooks say of them.

        Each must join the history at once; those not asked for are given by `abandon`.
        """
        self._due = self._gathered()
        while self._due:
            yield self._due.pop(0)

    def discarded(self) -> AnswerDiscarded | None:
        """What was paid for an answer of which `abandon`, called next, keeps nothing."""
        response = self._response
        if response is None or self._recorded or self._due is not None:
            return None
        stays = response.message or response.salvage("cancelled")
        return None if stays else response.discarded()

    def abandon(self) -> tuple[Message, ...]:
        """What must still go into the history after a cancel so that it stays valid."""
        left: list[Message] = []
        if self._response is None:
            return ()
        if self._due is not None:
            return tuple(self._due)
        if not self._recorded:
            message = self._response.message or self._response.salvage("cancelled")
            if message is None:
                return ()
            left.append(message)
        if self._slots:
            left.extend(self._gathered())
        self._response = None
        return tuple(left)

    def forget(self) -> None:
        """The step's messages are all in the history."""
        self._response = self._due = None
        self._slots = []

    def close(self) -> None:
        """Release the channel; called by whoever made the executor."""
        self._send.close()
        self._receive.close()

    def _gathered(self) -> list[Message]:
        """The results; calls without one get an honest note."""
        content = tuple(_result(slot) for slot in self._slots)
        said = (
            Attachment(id=new_id(), kind="hook", text=f"On the call of {slot.call.name}: {text}")
            for slot in self._slots
            if slot.outcome is not None
            for text in slot.outcome.beside
        )
        return [UserMessage(id=new_id(), content=content, origin="tools"), *said]

    async def _respond(
        self, response: Response, receive: Callable[[], Awaitable[None]], quiet_s: float
    ) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._tell_of_silence, response, quiet_s)
            await receive()
            group.cancel_scope.cancel()
        await self._send.send(_Closed())

    async def _tell_of_silence(self, response: Response, quiet_s: float) -> None:
        heard, silent = -1, 0.0
        while True:
            if response.heard != heard:
                heard, silent = response.heard, 0.0
            elif silent:
                text = f"No data from the model for {silent:g} s; still waiting."
                await self.emit(Notice(severity="info", text=text))
            await anyio.sleep(quiet_s)
            silent += quiet_s

    async def _close_when_done(self, slots: list[_Slot]) -> None:
        for slot in slots:
            await slot.done.wait()
        await self._send.send(_Closed())

    async def _run(self, slot: _Slot, before: list[_Slot]) -> None:
        for earlier in before:
            if slot.changes or earlier.changes or identity(slot.call) == identity(earlier.call):
                await earlier.done.wait()
        if any(e.outcome is not None and e.outcome.stop is not None for e in before):
            slot.outcome = CallOutcome(_note(slot.call, AFTER_DENIAL))
        else:
            await self._carry(slot)
        slot.done.set()

    async def _carry(self, slot: _Slot) -> None:
        """Run a call; one that the person stopped gets a result that says so."""
        began = time.monotonic()
        with slot.scope:
            await anyio.lowlevel.checkpoint_if_cancelled()
            if slot.changes:
                slot.started = True
                slot.outcome = await self._run_call(slot.call, self.emit)
            else:
                async with self._reading:
                    slot.started = True
                    slot.outcome = await self._run_call(slot.call, self.emit)
        if slot.outcome is None:
            result = _note(slot.call, STOPPED if slot.started else NOT_WANTED)
            slot.outcome = CallOutcome(result)
            await self.emit(
                ToolCallEnded(
                    name=slot.call.name,
                    result=result,
                    outcome="stopped",
                    error="interrupted",
                    duration_ms=int((time.monotonic() - began) * 1000),
                )
            )


def _result(slot: _Slot) -> ToolResult:
    if slot.outcome is not None:
        return slot.outcome.result
    return _note(slot.call, INTERRUPTED if slot.started else NOT_STARTED)


def _note(call: ToolUse, text: str) -> ToolResult:
    return ToolResult(tool_use_id=call.id, content=(Text(text=text),), is_error=True)
