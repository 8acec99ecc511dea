"""What a session is built from."""

import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio.to_thread

from sidelight.agent.turn import Bounds
from sidelight.background.tasks import Background
from sidelight.core.decision import Mode
from sidelight.core.messages import Attachment
from sidelight.core.model import Effort, ModelClient, SystemPrompt
from sidelight.core.tool import AnyTool, Shell
from sidelight.hooks.engine import HookEngine
from sidelight.model.catalog import ModelCard
from sidelight.review.ledger import ReviewLedger
from sidelight.session.moments import Consent
from sidelight.session.rules import SessionRules
from sidelight.session.spend import Ceiling, Price


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts; made by the composition root, owned by the session.

    `card` says what may be asked of a model by its name, `opening` gives the reminders that go
    ahead of the first prompt, `system_for` the prefix for a model (blocking), `mode_reminder` what
    the model is told when the mode changed (old, new), `refresh` takes up settings that changed on
    disk (blocking) and gives sentences about them, `consent` knows which hooks are held back,
    `notices` are told when the session starts, `bounds` are those of the next turn with a model,
    `ceilings` are what may be spent, as of now.
    """

    model: ModelClient
    card: Callable[[str], ModelCard]
    effort: Effort | None
    tools: dict[str, AnyTool]
    hooks: HookEngine
    consent: Consent
    rules: SessionRules
    review: ReviewLedger
    shell: Shell
    background: Background
    scratch: Path
    opening: Callable[[], Awaitable[Sequence[Attachment]]]
    system_for: Callable[[str], SystemPrompt]
    mode_reminder: Callable[[Mode, Mode], str | None]
    refresh: Callable[[], Sequence[str]]
    notices: Sequence[str]
    bounds: Callable[[str], Bounds]
    price: Price
    ceilings: Callable[[], Sequence[Ceiling]]

    async def dispose(self) -> None:
        """End what runs beside the turns, and remove the private folder that holds `scratch`."""
        await self.background.close()
        await anyio.to_thread.run_sync(partial(shutil.rmtree, self.scratch.parent, True))
