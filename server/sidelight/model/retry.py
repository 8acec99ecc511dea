"""When to ask again after a failed request; pure, so that the wait can be shown and cancelled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sidelight.core.errors import ModelError, ModelErrorKind

JITTER = 0.25
SLICE_S = 30.0
"""A long wait is told anew after so many seconds, so that nobody takes it for a standstill."""

PASSING: frozenset[ModelErrorKind] = frozenset(
    {"rate_limit", "overloaded", "server", "connection", "timeout", "stalled", "cut_off"}
)
OUTAGES: frozenset[ModelErrorKind] = frozenset(
    {"rate_limit", "overloaded", "server", "connection", "timeout"}
)
ONCE: frozenset[ModelErrorKind] = frozenset({"unknown"})


@dataclass(frozen=True, slots=True)
class Backoff:
    """How patiently to ask; times in seconds.

    A provider that asks for a longer wait than `longest_asked_s` is not waited for: the user
    decides. An `unattended` run waits out an outage, however long it lasts.
    """

    first_s: float = 0.5
    longest_s: float = 32.0
    tries: int = 10
    longest_asked_s: float = 600.0
    unattended: bool = False

    def delay(self, retries: int, error: ModelError, random: Callable[[], float]) -> float | None:
        """Seconds until the next try, after `retries` tries again; None when asking is no use.

        Doubles from the first wait to the longest, give or take a quarter (`random` gives 0 to 1);
        a wait that the provider asked for is kept to.
        """
        waits_out = self.unattended and error.kind in OUTAGES
        if not waits_out and retries >= self._allowed(error.kind):
            return None
        if error.retry_after is not None:
            patient = waits_out or error.retry_after <= self.longest_asked_s
            return error.retry_after if patient else None
        # The exponent is bounded: an unattended run may count its tries in thousands.
        base = min(self.longest_s, self.first_s * 2 ** min(retries, 30))
        return base * (1 - JITTER + 2 * JITTER * random())

    def _allowed(self, kind: ModelErrorKind) -> int:
        return self.tries if kind in PASSING else 1 if kind in ONCE else 0


def slices(wait: float) -> Iterator[tuple[float, float]]:
    """A wait in parts of at most `SLICE_S`: what is left at each part's beginning, and the part."""
    left = wait
    while left > SLICE_S:
        yield left, SLICE_S
        left -= SLICE_S
    yield left, left
