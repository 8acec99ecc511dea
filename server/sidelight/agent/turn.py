"""Everything that one turn needs, gathered by the session and frozen."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from sidelight.agent.limits import RepeatLimits, Repeats
from sidelight.context.sent import Sent
from sidelight.core.content import Json
from sidelight.core.decision import PermissionUpdate
from sidelight.core.messages import Message, Repairs
from sidelight.core.model import Effort, ModelClient, SystemPrompt, ToolSpec
from sidelight.core.tool import AnyTool, ToolContext
from sidelight.hooks.outcome import HookOutcome
from sidelight.model.catalog import ModelCard, card
from sidelight.model.retry import Backoff
from sidelight.permissions.policy import Policy


class Hooks(Protocol):
    """What the loop asks of the hooks."""

    async def fire(self, event: str, extra: Json, subject: str | None = None) -> HookOutcome:
        """Run every hook of the event that matches `subject`; never raises."""
        ...

    def listens(self, event: str) -> bool:
        """Whether a hook of the event can run."""
        ...

    def watch_list(self) -> Sequence[str]:
        """Paths and globs that FileChanged hooks want to hear of, as of now."""
        ...


class Rules(Protocol):
    """The session's permissions as they stand now; they may change while a turn runs."""

    @property
    def policy(self) -> Policy:
        """The policy to judge the next call by."""
        ...

    async def remember(self, updates: Sequence[PermissionUpdate]) -> None:
        """Keep what a person decided for more than this once; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Arrived:
    """What has come in since the last step, already stored; `refused` says why the turn's prompt
    may not be answered, when there is nothing else to answer."""

    messages: Sequence[Message] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a turn may go; times in seconds.

    `token_target` counts output tokens. After `quiet_s` without a sign of the model the person is
    told. A Stop hook may object `stop_hook_cap` times in a row, 0 for any number of times.
    `fallbacks` are the models that stand in, one after the other, for one that is overloaded;
    `fast` begins the turn in the model's fast mode.
    """

    max_steps: int
    max_parallel: int = 10
    token_target: int | None = None
    quiet_s: float = 20.0
    stop_hook_cap: int = 8
    repeats: RepeatLimits = RepeatLimits()
    backoff: Backoff = Backoff()
    fallbacks: tuple[str, ...] = ()
    fast: bool = False


async def nothing_to_wait_for() -> None:
    """Stands for a gate that is always open."""


async def may_always_spend() -> str | None:
    """Stands for a ceiling that is nowhere set."""
    return None


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn's world. `history` is the session's own list: the turn only appends.

    `arrivals` gives what has come in since the last step (prompts typed meanwhile, reminders).
    `unpaused` returns when the next step may begin, `may_spend` says why it may not be paid for,
    `card` says what may be asked of a model, `sleep` takes seconds. `system` and `specs` are the
    same bytes for the whole session, and `sent` knows what was sent of its history.
    """

    id: str
    prompt_id: str
    history: list[Message]
    system: SystemPrompt
    model: ModelClient
    model_name: str
    effort: Effort | None
    tools: Mapping[str, AnyTool]
    specs: tuple[ToolSpec, ...]
    rules: Rules
    hooks: Hooks
    context_for: Callable[[str], ToolContext]
    arrivals: Callable[[], Awaitable[Arrived]]
    bounds: Bounds
    card: Callable[[str], ModelCard] = card
    repairs: Repairs = Repairs()
    repeats: Repeats = field(default_factory=Repeats)
    sent: Sent = field(default_factory=Sent)
    unpaused: Callable[[], Awaitable[None]] = nothing_to_wait_for
    may_spend: Callable[[], Awaitable[str | None]] = may_always_spend
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
