"""What a conversation costs: counts every answered request, and asks before it goes too far."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import floor
from typing import Literal

import anyio

from sidelight.core.events import (
    AnswerDiscarded,
    Event,
    MessageAdded,
    Notice,
    Sink,
    SpendChanged,
)
from sidelight.core.host import Host, UserOption, UserQuestion
from sidelight.core.ids import new_id
from sidelight.core.messages import AssistantMessage, Message, Usage
from sidelight.core.spend import MAIN, Spent, Total
from sidelight.model.prices import shown
from sidelight.session.asking import ask
from sidelight.transcripts.replay import Replay

Price = Callable[[str, Usage, date], float | None]
"""Dollars for one answer of a model on a day; None when its price is unknown."""
Scope = Literal["conversation", "run"]

MORE, STOP = "more", "stop"
LABELS = ("Go on up to {higher}", "Stop")
TITLES: dict[Scope, str] = {
    "conversation": "This conversation has cost {spent}, its ceiling is {ceiling}. Go on?",
    "run": "This run has cost {spent}, its ceiling is {ceiling}. Go on?",
}
STOPPED: dict[Scope, str] = {
    "conversation": (
        "Stopped before the next request: this conversation has cost {spent}, its ceiling is "
        "{ceiling}. To go on, raise sidelight.limits.maxBudgetUsd in the settings."
    ),
    "run": (
        "Stopped before the next request: this run has cost {spent}, its ceiling is {ceiling}. "
        "To go on, resume the conversation with a new --max-budget-usd."
    ),
}


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Dollars that a conversation may cost, or what one run of it may add."""

    scope: Scope
    usd: float


class Ledger:
    """Sums of what was spent, in all and by turn, model and source."""

    def __init__(self) -> None:
        self.session = Total()
        self.turn = Total()
        self.models: dict[str, Total] = {}
        self.sources: dict[str, Total] = {}
        self.turn_id: str | None = None

    def begin(self, turn_id: str) -> None:
        """From here on requests belong to this turn."""
        self.turn_id, self.turn = turn_id, Total()

    def add(self, spent: Spent) -> None:
        """Count a request."""
        self.session = self.session.plus(spent)
        if spent.turn_id == self.turn_id:
            self.turn = self.turn.plus(spent)
        self.models[spent.model] = self.models.get(spent.model, Total()).plus(spent)
        self.sources[spent.source] = self.sources.get(spent.source, Total()).plus(spent)

    def told(self, spent: Spent) -> SpendChanged:
        """The event that tells of a request that was counted."""
        return SpendChanged(
            spent=spent,
            turn=self.turn,
            session=self.session,
            models=dict(self.models),
            sources=dict(self.sources),
        )


class Spending:
    """One conversation's ledger and its ceilings, which may be others at every look.

    `record` writes a request down, `tell` passes events on; an old conversation's requests are
    taken over from `stored`, by the prices of their day.
    """

    def __init__(
        self,
        price: Price,
        ceilings: Callable[[], Sequence[Ceiling]],
        stored: Replay,
        *,
        host: Host,
        record: Callable[[Spent], Awaitable[None]],
        tell: Sink,
    ) -> None:
        self._price = price
        self._ceilings = ceilings
        self._model = stored.opened.model
        self._host, self._record, self._tell = host, record, tell
        self.ledger = Ledger()
        self._newest: Spent | None = None
        for spent in _past(stored, price):
            self._count(spent)
        self._before = self.ledger.session
        self._raised: dict[Scope, float] = {}
        self._asking = anyio.Lock()
        self._warned = False

    @property
    def told(self) -> SpendChanged | None:
        """The sums as they stand, with the conversation's newest answer; None before one."""
        return self.ledger.told(self._newest) if self._newest is not None else None

    def begin(self, turn_id: str) -> None:
        """A turn begins."""
        self.ledger.begin(turn_id)

    async def hear(self, event: Event) -> None:
        """What was answered in the conversation itself; an answer that does not stay counts too."""
        match event:
            case MessageAdded(message=message):
                await self.note(message)
            case AnswerDiscarded(request_id=id, usage=usage, model=model):
                await self.note(AssistantMessage(id=id, content=(), usage=usage, model=model))
            case _:
                pass

    async def note(self, message: Message, source: str = MAIN) -> None:
        """A message joined a history; an answer is counted, written down and told."""
        if not isinstance(message, AssistantMessage) or not message.model:
            return
        day = datetime.now(UTC).date()
        spent = _priced(message, source, self.ledger.turn_id or "", self._price, day)
        await self._record(spent)
        self._count(spent)
        await self._tell(self.ledger.told(spent))

    async def may_spend(self) -> str | None:
        """Why another request may not be paid for; asks the person at a ceiling.

        Several askers wait for one answer. Cancelling closes the dialog.
        """
        async with self._asking:
            await self._say_what_cannot_be_kept()
            while (over := self._over()) is not None:
                if not await self._go_on(over):
                    return STOPPED[over.scope].format(**self._figures(over))
            return None

    def _count(self, spent: Spent) -> None:
        self.ledger.add(spent)
        if spent.source == MAIN:
            self._newest = spent

    def _over(self) -> Ceiling | None:
        """The first ceiling that is reached, as high as it was raised."""
        for ceiling in self._ceilings():
            usd = max(ceiling.usd, self._raised.get(ceiling.scope, 0.0))
            if self._spent(ceiling.scope) >= usd:
                return Ceiling(ceiling.scope, usd)
        return None

    def _spent(self, scope: Scope) -> float:
        before = self._before.known_usd if scope == "run" else 0.0
        return self.ledger.session.known_usd - before

    async def _go_on(self, over: Ceiling) -> bool:
        higher = self._higher(over)
        question = UserQuestion(
            id=new_id(),
            title=TITLES[over.scope],
            options=(
                UserOption(id=MORE, label=LABELS[0]),
                UserOption(id=STOP, label=LABELS[1]),
            ),
            fields={**self._figures(over), "higher": shown(higher)},
        )
        answer = await ask(question, self._host, self._tell)
        if answer == MORE:
            self._raised[over.scope] = higher
        return answer == MORE

    def _higher(self, over: Ceiling) -> float:
        """The next ceiling above what is spent, in steps of the one that was set."""
        set_usd = next(c.usd for c in self._ceilings() if c.scope == over.scope)
        beyond = self._spent(over.scope) - over.usd
        return over.usd + set_usd * (floor(beyond / set_usd) + 1)

    def _figures(self, over: Ceiling) -> dict[str, str]:
        return {"spent": shown(self._spent(over.scope)), "ceiling": shown(over.usd)}

    async def _say_what_cannot_be_kept(self) -> None:
        """Once: a ceiling in dollars means nothing where the price is unknown."""
        if self._warned or not self._ceilings():
            return
        today = datetime.now(UTC).date()
        unknown = [] if self._price(self._model, Usage(), today) is not None else [self._model]
        unknown += [name for name, total in self.ledger.models.items() if total.unpriced]
        if unknown:
            self._warned = True
            names = ", ".join(dict.fromkeys(unknown))
            text = (
                f"The price of {names} is unknown, so what it costs does not count towards the "
                f"spend ceiling of {shown(self._ceilings()[0].usd)}."
            )
            await self._tell(Notice(severity="warning", text=text))


def _past(stored: Replay, price: Price) -> Iterable[Spent]:
    """What an old conversation spent; an answer that was not written down as spent counts too."""
    yield from stored.spent.values()
    for message in stored.messages:
        known = message.id in stored.spent
        if isinstance(message, AssistantMessage) and message.model and not known:
            day = _day(stored.answered.get(message.id, ""))
            yield _priced(message, MAIN, "", price, day)


def _priced(message: AssistantMessage, source: str, turn: str, price: Price, day: date) -> Spent:
    return Spent(
        request_id=message.id,
        source=source,
        turn_id=turn,
        model=message.model,
        usage=message.usage,
        cost_usd=price(message.model, message.usage, day),
    )


def _day(at: str) -> date:
    try:
        return datetime.fromisoformat(at).date()
    except ValueError:
        return datetime.now(UTC).date()
