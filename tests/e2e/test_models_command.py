"""`sidelight models`, as a process: who answers, and what may be asked of each model."""

from pathlib import Path

import pytest

from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply, text
from tests.headless import sidelight


@pytest.mark.req("MODEL-04")
def test_the_command_says_who_answers_and_what_each_model_can(home: Path, tmp_path: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"fallbackModel": ["haiku", "default"]}', encoding="utf-8")
    with running_double([]) as double:
        ran = sidelight(tmp_path, double, "models", "--model", "opus")
        assert [(each.method, each.path) for each in double.all_requests] == [("GET", "/v1/models")]
        again = sidelight(tmp_path, double, "models")
        assert len(double.all_requests) == 1, "the list is kept for a day"
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("Answers:   ANTHROPIC_API_KEY (environment), to 127.0.0.1:")
    assert lines[2:5] == [
        "Main:      claude-opus-5-5",
        "Small:     claude-haiku-5-5",
        "Fallback:  claude-haiku-5-5, claude-sonnet-5-5",
    ]
    assert lines[5].startswith("Known:     told by the provider on ")
    assert (
        "  claude-haiku-4-5                        200000 tokens, 64000 out; thinking budget; "
        "effort none; context editing, documents, eager input, strict tools; $1/$5 per million"
    ) in lines
    assert "Main:      claude-sonnet-5-5" in again.stdout


def test_without_a_model_the_command_says_what_to_do(tmp_path: Path) -> None:
    ran = sidelight(tmp_path, None, "models", "--model", "opus")
    assert ran.returncode == 1
    assert "Set ANTHROPIC_API_KEY" in ran.stderr


@pytest.mark.req("MODEL-04")
def test_the_flag_names_a_model_for_one_run(tmp_path: Path) -> None:
    with running_double([reply(text("hello"))]) as double:
        ran = sidelight(
            tmp_path, double, "-p", "go", "--model", "haiku", "--fallback-model", "sonnet,opus"
        )
        assert double.requests[0].body["model"] == "claude-haiku-5-5"
    assert (ran.returncode, ran.stdout.strip()) == (0, "hello")
