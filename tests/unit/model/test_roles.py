"""Which model is the main one, which the small one, and which are fallen back on."""

from typing import Any

import pytest

from sidelight.model.roles import Roles, roles_of

pytestmark = pytest.mark.req("MODEL-04")


@pytest.mark.parametrize(
    ("env", "given", "expected"),
    [
        ({}, {}, Roles("sonnet", "haiku")),
        ({}, {"setting": "opus"}, Roles("opus", "haiku")),
        ({"ANTHROPIC_DEFAULT_MODEL": "fable"}, {}, Roles("fable", "haiku")),
        ({"ANTHROPIC_DEFAULT_MODEL": "fable"}, {"setting": "opus"}, Roles("opus", "haiku")),
        ({"ANTHROPIC_MODEL": "m"}, {"setting": "opus"}, Roles("m", "haiku")),
        ({"ANTHROPIC_MODEL": "m"}, {"setting": "opus", "chosen": "c"}, Roles("c", "haiku")),
        ({"ANTHROPIC_MODEL": " "}, {"chosen": " "}, Roles("sonnet", "haiku")),
        ({}, {"chosen": "default"}, Roles("sonnet", "haiku")),
        ({"ANTHROPIC_SMALL_FAST_MODEL": "tiny"}, {"small": "s"}, Roles("sonnet", "tiny")),
        ({}, {"small": "s"}, Roles("sonnet", "s")),
        (
            {},
            {"chosen": "opus", "fallbacks": ["default", "opus", "haiku", "haiku", "a", "b"]},
            Roles("opus", "haiku", ("sonnet", "haiku", "a")),
        ),
        ({}, {"fallbacks": ["default", " "]}, Roles("sonnet", "haiku")),
        (
            {"ANTHROPIC_DEFAULT_MODEL": "fable"},
            {"chosen": "opus", "fallbacks": ["claude-opus-5-5", "default", "claude-fable-5-2"]},
            Roles("opus", "haiku", ("fable",)),
        ),
    ],
)
def test_the_roles_come_from_flags_variables_and_settings_in_their_order(
    env: dict[str, str], given: Any, expected: Roles
) -> None:
    assert roles_of(env, **given) == expected
