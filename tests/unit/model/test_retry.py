"""How long to wait before asking again, and when not to."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.errors import ModelError, ModelErrorKind
from sidelight.model.retry import OUTAGES, PASSING, Backoff, slices

BUSY = ModelError("overloaded", "busy")
USUAL = Backoff()
delay, TRIES, LONGEST_ASKED_S = USUAL.delay, USUAL.tries, USUAL.longest_asked_s


@pytest.mark.req("MODEL-02")
def test_the_wait_doubles_from_half_a_second_to_thirty_two() -> None:
    waits = [delay(retries, BUSY, lambda: 0.5) for retries in range(TRIES + 1)]
    assert waits == [0.5, 1, 2, 4, 8, 16, 32, 32, 32, 32, None]


@given(st.integers(0, TRIES - 1), st.floats(0, 1))
def test_a_wait_strays_by_a_quarter_at_most(retries: int, chance: float) -> None:
    straight = min(32.0, 0.5 * 2**retries)
    wait = delay(retries, BUSY, lambda: chance)
    assert wait is not None
    assert straight * 0.75 <= wait <= straight * 1.25


@pytest.mark.parametrize(
    ("asked", "wait"),
    [(0, 0), (7, 7), (LONGEST_ASKED_S, LONGEST_ASKED_S), (LONGEST_ASKED_S + 1, None)],
)
def test_the_provider_is_obeyed_unless_it_asks_for_too_long(
    asked: float, wait: float | None
) -> None:
    error = ModelError("rate_limit", "slow down", retry_after=asked)
    assert delay(0, error, lambda: 0.5) == wait


@pytest.mark.parametrize("kind", sorted(get_args(ModelErrorKind)))
def test_only_what_passes_by_itself_is_tried_again(kind: ModelErrorKind) -> None:
    error = ModelError(kind, "x")
    tries = sum(delay(retries, error, lambda: 0.5) is not None for retries in range(TRIES + 5))
    assert tries == (TRIES if kind in PASSING else 1 if kind == "unknown" else 0)


@pytest.mark.parametrize("kind", sorted(get_args(ModelErrorKind)))
def test_an_unattended_run_waits_out_an_outage_and_nothing_else(kind: ModelErrorKind) -> None:
    patient = Backoff(unattended=True)
    error = ModelError(kind, "x", retry_after=LONGEST_ASKED_S + 1)
    expected = LONGEST_ASKED_S + 1 if kind in OUTAGES else None
    assert patient.delay(100_000, error, lambda: 0.5) == expected
    if kind in OUTAGES:
        assert patient.delay(100_000, ModelError(kind, "x"), lambda: 0.5) == 32


def test_a_long_wait_is_told_anew_every_half_minute() -> None:
    assert list(slices(7)) == [(7, 7)]
    assert list(slices(70)) == [(70, 30), (40, 30), (10, 10)]
