"""What a provider tells of its models goes before the shipped table; what it omits stays."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sidelight.model.catalog import MODELS, ModelCard, card
from sidelight.model.learned import cards_of, file_of, is_fresh, keep, stored

pytestmark = pytest.mark.req("MODEL-07")
YES: Any = {"supported": True}
NO: Any = {"supported": False}


def entry(id: str, **more: Any) -> dict[str, Any]:
    return {"type": "model", "id": id, "max_input_tokens": 500_000, "max_tokens": 64_000, **more}


def capabilities(**more: Any) -> dict[str, Any]:
    return {
        "context_management": {"supported": True, "clear_tool_uses_20250919": YES},
        "effort": {"supported": True, "low": YES, "medium": YES, "high": NO, "max": NO},
        "structured_outputs": YES,
        "thinking": {"supported": True, "types": {"adaptive": YES, "enabled": NO}},
        **more,
    }


def told(*entries: Any) -> dict[str, ModelCard]:
    return cards_of({"data": list(entries)})


def test_a_new_model_gets_what_the_provider_says_and_no_more() -> None:
    cards = told(entry("claude-nova-6", capabilities=capabilities()))
    assert cards == {
        "claude-nova-6": ModelCard(
            "claude-nova-6",
            500_000,
            output_cap=64_000,
            default_output=32_000,
            thinking="adaptive",
            efforts=("low", "medium"),
            caching=True,
            features=frozenset({"context_editing", "strict_tools"}),
        )
    }
    assert card("claude-nova-6").features == frozenset(), "without it nothing is known of it"


def test_a_known_model_keeps_its_prices_and_loses_what_the_provider_denies() -> None:
    able = capabilities(
        thinking={"supported": True, "types": {"adaptive": NO, "enabled": YES}},
        structured_outputs=NO,
        context_management=NO,
        effort=NO,
    )
    (one,) = told(entry("claude-sonnet-5-5", capabilities=able)).values()
    assert (one.thinking, one.efforts, one.effort_default) == ("budget", (), None)
    assert one.features == frozenset({"deferred_tools", "eager_input"})
    assert (one.window, one.prices) == (500_000, MODELS["claude-sonnet-5-5"].prices)


def test_thinking_that_is_not_there_is_not_asked_for() -> None:
    able = capabilities(thinking={"supported": False, "types": {"adaptive": YES}})
    (one,) = told(entry("claude-x-9", capabilities=able)).values()
    assert one.thinking == "none"


def test_without_capabilities_the_features_are_those_that_were_known() -> None:
    (one,) = told(entry("claude-opus-5-5", capabilities=None)).values()
    assert (one.features, one.efforts) == (
        MODELS["claude-opus-5-5"].features,
        MODELS["claude-opus-5-5"].efforts,
    )


@pytest.mark.parametrize(
    "listed",
    [
        None,
        [],
        {"data": "no"},
        {"data": [{"id": "gpt", "object": "model", "owned_by": "x"}]},
        {"data": [entry("x", max_tokens=None)]},
        {"data": [entry("x", max_input_tokens=True)]},
        {"data": [entry("x", max_input_tokens=-5)]},
        {"data": [{"max_input_tokens": 1, "max_tokens": 1, "id": 7}]},
    ],
)
def test_a_list_that_tells_no_limits_teaches_nothing(listed: Any) -> None:
    assert cards_of(listed) == {}


def test_what_was_kept_for_one_host_is_not_taken_for_another(tmp_path: Path) -> None:
    answer = {"data": [entry("claude-nova-6")]}
    keep(tmp_path / "models", "one:443", answer, date(2026, 11, 30))
    cards, as_of = stored(tmp_path / "models", "one:443")
    assert (list(cards), as_of) == (["claude-nova-6"], "2026-11-30")
    assert stored(tmp_path / "models", "two:443") == ({}, "")
    file_of(tmp_path / "models", "one:443").rename(file_of(tmp_path / "models", "two:443"))
    assert stored(tmp_path / "models", "two:443") == ({}, "")
    assert [file.suffix for file in (tmp_path / "models").iterdir()] == [".json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"host": "h"}', json.dumps({"host": "h"}) + " "])
def test_a_broken_file_is_as_none(tmp_path: Path, text: str) -> None:
    file_of(tmp_path, "h").write_text(text, encoding="utf-8")
    assert stored(tmp_path, "h") == ({}, "")


@pytest.mark.parametrize(
    ("as_of", "fresh"),
    [("2026-11-30", True), ("2026-11-29", False), ("2026-12-01", False), ("", False), ("x", False)],
)
def test_a_list_is_fresh_for_a_day(as_of: str, fresh: bool) -> None:
    assert is_fresh(as_of, date(2026, 11, 30)) is fresh
