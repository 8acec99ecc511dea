"""`--max-budget-usd`: a run of the program stops before the request that would begin above it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply, tool_use
from tests.headless import masked, sidelight

USAGE = {
    "input_tokens": 100_000,
    "output_tokens": 20_000,
    "cache_read_input_tokens": 500_000,
    "cache_creation_input_tokens": 35_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 20_000, "ephemeral_1h_input_tokens": 15_000},
}
# Sonnet 5.5: 100 k at 2, 20 k at 10, 500 k read at 0.10, 20 k written at 2.50, 15 k at 4.
DOLLARS = 0.2 + 0.2 + 0.05 + 0.05 + 0.06


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n", encoding="utf-8")
    return folder


def run(project: Path, double: Double, *more: str) -> tuple[int, dict[str, Any], str]:
    arguments = ("-p", "go", "--output-format", "json", *more)
    done = sidelight(project, double, *arguments)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_a_run_stops_at_its_budget_with_figures_and_a_resumed_one_has_its_own(
    project: Path,
) -> None:
    look = tool_use("Read", {"file_path": str(project / "a.txt")})
    script = [reply(look, usage=USAGE), reply("Done.", usage=USAGE)]
    with running_double(script) as double:
        code, first, stderr = run(project, double, "--max-budget-usd", "0.5")
        again = ("--max-budget-usd", "0.75", "--resume", first["session_id"])
        code_again, second, _ = run(project, double, *again)
        assert double.prefix_problems() == []
    counted: dict[str, Any] = {
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 1,
        "session_id": "session_id",
        "total_cost_usd": DOLLARS,
        "usage": USAGE,
        "modelUsage": {
            "claude-sonnet-5-5": {
                "inputTokens": 100_000,
                "outputTokens": 20_000,
                "cacheReadInputTokens": 500_000,
                "cacheCreationInputTokens": 35_000,
                "webSearchRequests": 0,
                "costUSD": DOLLARS,
                "contextWindow": 1_000_000,
            }
        },
        "permission_denials": [],
        "uuid": "uuid",
    }
    assert (code, stderr) == (1, "")
    assert masked(first) == {
        **counted,
        "type": "result",
        "subtype": "error_max_budget_usd",
        "is_error": True,
        "terminal_reason": "budget_exhausted",
        "errors": [
            "Stopped before the next request: this run has cost $0.5600, its ceiling is $0.5000. "
            "To go on, resume the conversation with a new --max-budget-usd."
        ],
    }
    assert code_again == 0
    assert masked(second) == {
        **counted,
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "terminal_reason": "completed",
        "result": "Done.",
        "stop_reason": "end_turn",
    }


@pytest.mark.parametrize("amount", ["0", "-1", "nan", "inf", "much"])
def test_a_budget_that_is_no_amount_is_refused(project: Path, amount: str) -> None:
    done = sidelight(project, None, "-p", "go", f"--max-budget-usd={amount}")
    assert done.returncode == 2
    assert "--max-budget-usd" in done.stderr
