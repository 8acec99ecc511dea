"""The moments of a session at which hooks run: its start and end, prompts, files, folders."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import anyio.to_thread

from sidelight.core.content import Json
from sidelight.core.events import Notice, Sink
from sidelight.core.host import Host, UserQuestion
from sidelight.core.ids import new_id
from sidelight.core.messages import Attachment
from sidelight.hooks.engine import HookEngine
from sidelight.hooks.outcome import HookOutcome
from sidelight.session.asking import ask
from sidelight.session.inbox import Waiting

LET_RUN, NOT_NOW = "run", "not_now"


class Consent(Protocol):
    """What the person has to agree to before a folder's hooks run."""

    def question(self) -> UserQuestion | None:
        """What to ask, None when there is nothing; its options are `LET_RUN` and `NOT_NOW`."""
        ...

    def let_run(self) -> None:
        """The person agreed; from now on the hooks count. Blocks."""
        ...

    def refuse(self) -> None:
        """The person said no; this session does not ask for the same hooks again."""
        ...


@dataclass(frozen=True, slots=True)
class Judged:
    """What hooks say of a prompt: why it may not be answered, or what goes along with it."""

    refused: str | None = None
    beside: tuple[Attachment, ...] = ()


class Moments:
    """Fires the hooks that belong to no step of the loop. `watch` takes up further paths."""

    def __init__(
        self,
        hooks: HookEngine,
        consent: Consent,
        tell: Sink,
        watch: Callable[[], Awaitable[None]],
    ) -> None:
        self._hooks = hooks
        self._consent = consent
        self._tell = tell
        self._watch = watch

    @property
    def judges_prompts(self) -> bool:
        """Whether a prompt must be shown to hooks before the model sees it."""
        return self._hooks.listens("UserPromptSubmit")

    async def agree(self, host: Host) -> None:
        """Ask about hooks that are held back, if there are any. A closed dialog is no answer."""
        question = self._consent.question()
        if question is None:
            return
        answer = await ask(question, host, self._tell)
        if answer == LET_RUN:
            await anyio.to_thread.run_sync(self._consent.let_run)
            await self._watch()
        elif answer == NOT_NOW:
            self._consent.refuse()

    async def begin(self, source: str, model: str) -> tuple[Attachment, ...]:
        """SessionStart; `source` is startup or resume. What hooks say stands at the beginning."""
        outcome = await self.fire("SessionStart", {"source": source, "model": model})
        return _said("A SessionStart hook says", outcome)

    async def judge(self, waiting: Waiting) -> Judged:
        """UserPromptSubmit; a hook may refuse the prompt or add to it. Cancellable."""
        fields = {"prompt": waiting.text, "prompt_id": waiting.id}
        outcome = await self.fire("UserPromptSubmit", fields)
        refused = outcome.block if outcome.block is not None else outcome.stop
        if refused is not None:
            return Judged(refused=f"A hook kept the prompt from the model: {refused}")
        return Judged(beside=_said("A UserPromptSubmit hook says", outcome))

    async def end(self) -> None:
        """SessionEnd; it can change nothing."""
        await self.fire("SessionEnd", {"reason": "other"})

    async def fire(self, event: str, fields: Json, subject: str | None = None) -> HookOutcome:
        """Run the event's hooks; what they say to people is told."""
        outcome = await self._hooks.fire(event, fields, subject)
        for run in outcome.runs:
            await self._tell(run)
        for text in outcome.messages:
            await self._tell(Notice(severity="info", text=text))
        if outcome.watch_paths is not None:
            await self._watch()
        return outcome


def _said(lead: str, outcome: HookOutcome) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(id=new_id(), kind="hook", text=f"{lead}: {text}") for text in outcome.contexts
    )
