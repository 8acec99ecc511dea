"""What requests to models cost: one of them, and sums of many."""

from sidelight.core.messages import Usage
from sidelight.core.record import Record

MAIN = "main"
"""The source of what the conversation itself asks; others are named after who asked."""


class Spent(Record):
    """One request that was answered. `cost_usd` is None when the model's price is unknown."""

    request_id: str
    source: str = MAIN
    turn_id: str = ""
    model: str
    usage: Usage
    cost_usd: float | None = None


class Total(Record):
    """A sum of requests; `known_usd` leaves out the `unpriced` ones, so ask for `cost_usd`."""

    requests: int = 0
    unpriced: int = 0
    known_usd: float = 0.0
    usage: Usage = Usage()

    @property
    def cost_usd(self) -> float | None:
        """Dollars; None as soon as one request has no known price."""
        return None if self.unpriced else self.known_usd

    def plus(self, spent: Spent) -> "Total":
        """This sum with one request more."""
        return Total(
            requests=self.requests + 1,
            unpriced=self.unpriced + (spent.cost_usd is None),
            known_usd=self.known_usd + (spent.cost_usd or 0.0),
            usage=self.usage + spent.usage,
        )
