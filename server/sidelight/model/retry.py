"""When to ask again after a failed request; pure, so that the wait can be shown and cancelled."""

from collections.abc import Callable

from sidelight.core.errors import ModelError, ModelErrorKind

FIRST_S = 0.5
LONGEST_S = 32.0
JITTER = 0.25
TRIES = 10
LONGEST_ASKED_S = 600.0
"""A provider that asks for a longer wait than this is not waited for: the user decides."""

PASSING: frozenset[ModelErrorKind] = frozenset(
    {"rate_limit", "overloaded", "server", "connection", "timeout", "stalled", "cut_off"}
)
ONCE: frozenset[ModelErrorKind] = frozenset({"unknown"})


def delay(retries: int, error: ModelError, random: Callable[[], float]) -> float | None:
    """Seconds until the next try, after `retries` tries again; None when asking is no use.

    Doubles from 0.5 s to 32 s, give or take a quarter (`random` gives 0 to 1); a wait that the
    provider asked for is kept to.
    """
    allowed = TRIES if error.kind in PASSING else 1 if error.kind in ONCE else 0
    if retries >= allowed:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_ASKED_S else None
    base = min(LONGEST_S, FIRST_S * 2**retries)
    return base * (1 - JITTER + 2 * JITTER * random())
