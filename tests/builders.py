"""A turn in a few readable words, for tests of the loop."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

import anyio

from sidelight.agent.executor import ToolExecutor
from sidelight.agent.limits import Repeats
from sidelight.agent.loop import run_turn
from sidelight.agent.prepared import must_run_alone
from sidelight.agent.tool_call import run_call
from sidelight.agent.turn import Arrived, Bounds, Turn
from sidelight.core.content import Json, Text
from sidelight.core.decision import Mode, PermissionUpdate
from sidelight.core.events import Event
from sidelight.core.ledger import FileLedger
from sidelight.core.messages import Message, UserMessage
from sidelight.core.model import ModelClient, SystemPrompt
from sidelight.core.tool import AnyTool, Shell, ToolContext
from sidelight.hooks.outcome import HookOutcome
from sidelight.model.catalog import ModelCard, card
from sidelight.permissions.policy import Policy
from sidelight.session.pause import Gate
from tests.fakes.host import FakeHost


@dataclass
class NoHooks:
    """Hooks of a session without any; `fired` is what was asked for."""

    fired: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    answers: dict[str, HookOutcome] = field(default_factory=dict[str, HookOutcome])

    async def fire(self, event: str, extra: Json, subject: str | None = None) -> HookOutcome:
        self.fired.append((event, extra))
        return self.answers.get(event, HookOutcome())

    def listens(self, event: str) -> bool:
        return event in self.answers

    def watch_list(self) -> Sequence[str]:
        return ()


@dataclass
class FixedRules:
    """A policy that a test chooses."""

    policy: Policy
    remembered: list[PermissionUpdate] = field(default_factory=list[PermissionUpdate])

    async def remember(self, updates: Sequence[PermissionUpdate]) -> None:
        self.remembered.extend(updates)


@dataclass
class Stage:
    """A turn with everything around it; `history` begins with one prompt."""

    model: ModelClient
    tools: Sequence[AnyTool]
    mode: Mode = "bypassPermissions"
    host: FakeHost = field(default_factory=FakeHost)
    hooks: NoHooks = field(default_factory=NoHooks)
    max_steps: int = 20
    model_name: str = "scripted"
    card: Callable[[str], ModelCard] = card
    bounds: Bounds = Bounds(max_steps=20)
    spent: str | None = None
    refused: str | None = None
    waits: list[float] = field(default_factory=list[float])
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    pause: Gate = field(default_factory=Gate)
    hear: Callable[[Event], Awaitable[None]] | None = None
    history: list[Message] = field(default_factory=list[Message])
    events: list[Event] = field(default_factory=list[Event])
    ledger: FileLedger = field(default_factory=FileLedger)
    scratch: str = "/scratch"

    def __post_init__(self) -> None:
        self.shell = Shell("/w", ("/w",))
        self.rules = FixedRules(Policy(mode=self.mode, roots=("/w",), cwd="/w", home="/h"))
        self._prompt: list[Message] = [UserMessage(id="p", content=(Text(text="go"),))]

    def prompt_later(self, message: Message) -> None:
        """It arrives before the next step."""
        self._prompt.append(message)

    async def _arrivals(self) -> Arrived:
        found, self._prompt = self._prompt, []
        return Arrived(found, self.refused)

    async def _may_spend(self) -> str | None:
        return self.spent

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await self.sleep(seconds)

    def _context(self, tool_use_id: str) -> ToolContext:
        return ToolContext("s", tool_use_id, self.host, self.ledger, self.shell, self.scratch)

    def turn(self) -> Turn:
        return Turn(
            id="t",
            prompt_id="p",
            history=self.history,
            system=SystemPrompt(stable="You are a test."),
            model=self.model,
            card=self.card,
            model_name=self.model_name,
            effort=None,
            tools={tool.name: tool for tool in self.tools},
            specs=(),
            rules=self.rules,
            hooks=self.hooks,
            context_for=self._context,
            arrivals=self._arrivals,
            bounds=replace(self.bounds, max_steps=self.max_steps),
            repeats=Repeats(self.bounds.repeats),
            unpaused=self.pause.passed,
            may_spend=self._may_spend,
            sleep=self._sleep,
        )

    async def run(self) -> list[Event]:
        """Play the turn; a cancelled one is closed as the session closes it."""
        turn = self.turn()
        executor: ToolExecutor | None = None
        try:
            async with anyio.create_task_group() as group:
                self.scope = group.cancel_scope
                executor = ToolExecutor(
                    group,
                    lambda call, emit: run_call(call, turn, emit),
                    lambda call: must_run_alone(call, turn.tools, self.shell),
                    turn.bounds.max_parallel,
                )
                events: AsyncGenerator[Event, None] = run_turn(turn, executor)
                async with aclosing(events):
                    async for event in events:
                        self.events.append(event)
                        if self.hear is not None:
                            await self.hear(event)
                        await anyio.lowlevel.checkpoint()
        finally:
            if executor is not None:
                self.history.extend(executor.abandon())
                executor.close()
        return self.events


def results(history: Sequence[Message]) -> list[tuple[str, str, bool]]:
    """Every result in the history: the call's id, its text, whether it is an error."""
    return [
        (
            block.tool_use_id,
            "".join(p.text for p in block.content if isinstance(p, Text)),
            bool(block.is_error),
        )
        for message in history
        if isinstance(message, UserMessage)
        for block in message.content
        if block.type == "tool_result"
    ]
