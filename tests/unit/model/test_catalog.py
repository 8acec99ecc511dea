"""Names, limits and prices of models."""

from dataclasses import replace
from datetime import date

import pytest

from sidelight.core.messages import Usage
from sidelight.model.catalog import ALIASES, MODELS, PriceTier, card
from sidelight.model.prices import cost, shown
from tests.fakes.messages_api import models as double

MILLION = 1_000_000
TODAY = date(2026, 12, 1)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("best", "claude-fable-5-2"),
        ("Opus", "claude-opus-5-5"),
        (" sonnet ", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("claude-opus-5", "claude-opus-5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
        ("qwen3:8b", "qwen3:8b"),
    ],
)
def test_an_alias_is_its_model_and_any_other_name_is_asked_for_as_it_is(
    name: str, model: str
) -> None:
    assert card(name).id == model


def test_a_dated_model_has_what_the_undated_one_has() -> None:
    dated, plain = card("claude-haiku-4-5-20251001"), card("claude-haiku-4-5")
    assert (dated.window, dated.thinking, dated.prices) == (
        plain.window,
        plain.thinking,
        plain.prices,
    )


@pytest.mark.req("MODEL-05")
@pytest.mark.parametrize("name", ["claude-next-9", "qwen3:8b", ""])
def test_an_unknown_model_gets_no_feature_and_its_price_is_unknown(name: str) -> None:
    unknown = card(name)
    assert (unknown.thinking, unknown.efforts, unknown.prices) == ("none", (), ())
    assert 0 < unknown.default_output <= unknown.output_cap < unknown.window
    assert shown(cost(Usage(input_tokens=5), unknown, TODAY)) == "price unknown"


def test_every_alias_leads_to_a_model_that_is_known() -> None:
    assert set(ALIASES.values()) <= set(MODELS)


@pytest.mark.parametrize("model", sorted(double.MODELS))
def test_the_catalogue_asks_a_model_for_nothing_that_it_refuses(model: str) -> None:
    ours, theirs = card(model), double.MODELS[model]
    assert (ours.window, ours.output_cap) == (theirs.window, theirs.max_output)
    assert ours.efforts == theirs.efforts
    assert {"adaptive": "adaptive", "budget": "enabled"}[ours.thinking] in theirs.thinking


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-opus-5-5", Usage(input_tokens=MILLION), 4),
        ("claude-opus-5-5", Usage(output_tokens=MILLION), 20),
        ("claude-opus-5-5", Usage(cache_write_5m_tokens=MILLION), 5),
        ("claude-opus-5-5", Usage(cache_write_1h_tokens=MILLION), 8),
        ("claude-opus-5-5", Usage(cache_read_input_tokens=MILLION), 0.4),
        ("claude-sonnet-5-5", Usage(cache_read_input_tokens=MILLION), 0.1),
        ("claude-haiku-5-5", Usage(input_tokens=100_000, output_tokens=1_000), 0.0105),
        ("claude-haiku-5-5", Usage(input_tokens=100_001, output_tokens=1_000), 0.0525005),
        ("claude-haiku-5-5", Usage(cache_read_input_tokens=200_000), 0.01),
        ("claude-fable-5-2", Usage(), 0),
    ],
)
def test_a_response_costs_what_its_tokens_cost(model: str, usage: Usage, dollars: float) -> None:
    found = cost(usage, card(model), TODAY)
    assert found is not None
    assert round(found, 9) == dollars


def test_the_last_tier_of_a_model_holds_for_prompts_of_any_size() -> None:
    assert all(known.prices and known.prices[-1].up_to is None for known in MODELS.values())


@pytest.mark.req("MODEL-05")
@pytest.mark.parametrize(
    ("day", "prompt", "dollars"),
    [
        (date(2026, 2, 28), 10, None),
        (date(2026, 3, 1), 10, 10.0),
        (date(2026, 8, 31), 1_000_000, 1_000_000.0),
        (date(2026, 9, 1), 100, 200.0),
        (date(2026, 9, 1), 101, 404.0),
        (date(2027, 1, 1), 100, 200.0),
    ],
)
def test_a_price_holds_from_its_day_and_for_its_size_of_prompt(
    day: date, prompt: int, dollars: float | None
) -> None:
    def tier(price: float, since: str, up_to: int | None = None) -> PriceTier:
        return PriceTier(price * MILLION, 0, 0, 0, 0, up_to=up_to, since=since)

    tiers = (tier(1, "2026-03-01"), tier(2, "2026-09-01", up_to=100), tier(4, "2026-09-01"))
    model = replace(card("claude-opus-5-5"), prices=tiers)
    assert cost(Usage(input_tokens=prompt), model, day) == dollars


@pytest.mark.parametrize(
    ("dollars", "words"),
    [
        (None, "price unknown"),
        (0.0, "$0.00"),
        (0.00009, "under $0.0001"),
        (0.0001, "$0.0001"),
        (0.5, "$0.5000"),
        (1.0, "$1.00"),
        (1234.567, "$1234.57"),
    ],
)
def test_what_is_not_free_is_never_shown_as_nothing(dollars: float | None, words: str) -> None:
    assert shown(dollars) == words


def test_a_cost_is_shown_in_dollars() -> None:
    assert shown(0.01234567) == "$0.0123"
