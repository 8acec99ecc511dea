"""Everything that one turn needs, gathered by the session and frozen."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sidelight.context.sent import Sent
from sidelight.core.content import Json
from sidelight.core.decision import PermissionUpdate
from sidelight.core.messages import Message
from sidelight.core.model import Effort, ModelClient, SystemPrompt, ToolSpec
from sidelight.core.tool import AnyTool, ToolContext
from sidelight.hooks.outcome import HookOutcome
from sidelight.permissions.policy import Policy


class Hooks(Protocol):
    """What the loop asks of the hooks."""

    async def fire(self, event: str, extra: Json, subject: str | None = None) -> HookOutcome:
        """Run every hook of the event that matches `subject`; never raises."""
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
class Turn:
    """One turn's world. `history` is the session's own list: the turn only appends.

    `arrivals` gives what has come in since the last step (prompts typed meanwhile, reminders),
    already stored. `system` and `specs` are the same bytes for the whole session,
    and `sent` knows what was sent of its history.
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
    arrivals: Callable[[], Awaitable[Sequence[Message]]]
    max_steps: int
    max_parallel: int = 10
    sent: Sent = field(default_factory=Sent)
