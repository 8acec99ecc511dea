"""Matchers fit as the published rules say."""

import pytest

from sidelight.hooks.matcher import MatcherError, matches


@pytest.mark.parametrize(
    ("matcher", "subject", "fits"),
    [
        (None, "Edit", True),
        ("", "Edit", True),
        ("*", "Edit", True),
        ("Edit", "Edit", True),
        ("Edit", "NotebookEdit", False),
        ("Edit", "edit", False),
        ("Edit|Write", "Write", True),
        ("Edit, Write", "Write", True),
        ("Edit | Write", "Edit", True),
        ("my-agent", "my-agent", True),
        ("my-agent", "my-agent-2", False),
        ("mcp__server", "mcp__server__tool", False),
        ("mcp__server__.*", "mcp__server__tool", True),
        ("mcp__.*", "x_mcp__y", True),
        ("^Edit$", "NotebookEdit", False),
        ("Edit.", "Edits", True),
        ("Ed.t", "NotebookEdit", True),
        ("^(?!Read).*$", "Read", False),
        ("(?<kind>Ed)it", "Edit", True),
        ("(?<=N)x|(?<!N)Edit", "Edit", True),
        ("plugin:agent", "plugin:agent", True),
        (r"^\w+$", "Édit", False),
    ],
)
def test_a_matcher_fits_exactly_what_it_names(matcher: str | None, subject: str, fits: bool):
    assert matches(matcher, subject, "PreToolUse") is fits


@pytest.mark.parametrize(
    ("matcher", "subject", "fits"),
    [
        ("rate_limit|overloaded", "overloaded", True),
        ("rate_limit,overloaded", "overloaded", False),
        ("rate-limit", "a rate-limit b", True),
    ],
)
def test_some_events_have_a_narrower_exact_set(matcher: str, subject: str, fits: bool):
    assert matches(matcher, subject, "StopFailure") is fits


@pytest.mark.parametrize("matcher", ["(", "[", r"\p{L}", "*.py("])
def test_what_is_no_pattern_is_an_error_and_never_widens(matcher: str):
    with pytest.raises(MatcherError):
        matches(matcher, "Edit", "PreToolUse")
