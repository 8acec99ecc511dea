"""`sidelight -p` as a process: what it prints, how it ends, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import gate, http_error, reply, text, tool_use

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 40


def environment(double: Double | None) -> dict[str, str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
    if double is not None:
        env |= {"ANTHROPIC_BASE_URL": double.base_url, "ANTHROPIC_API_KEY": double.api_key}
    return env


def sidelight(
    folder: Path, double: Double | None, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "sidelight", *arguments],
        cwd=folder,
        env=environment(double),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    # A folder of the user's with our own names must not stand in for the program.
    for name in ("sidelight", "server", "anthropic"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise SystemExit('decoy')", encoding="utf-8")
    return folder


def edits(folder: Path) -> list[Any]:
    path = str(folder / "a.txt")
    change = {"file_path": path, "old_string": "one", "new_string": "ONE"}
    return [
        reply(tool_use("Read", {"file_path": path})),
        reply(text("Changing."), tool_use("Edit", change)),
        reply(text("It is done.")),
    ]


def test_text_prints_the_answer_alone_and_the_file_is_changed(project: Path) -> None:
    with running_double(edits(project)) as double:
        done = sidelight(project, double, "-p", "go", "--permission-mode", "acceptEdits")
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is done.\n", "")
    assert (project / "a.txt").read_text(encoding="utf-8") == "ONE\ntwo\n"


def test_what_would_ask_is_denied_and_listed_in_the_result(project: Path) -> None:
    with running_double(edits(project)) as double:
        done = sidelight(project, double, "-p", "go", "--output-format", "json")
    result = json.loads(done.stdout)
    assert (result["type"], result["subtype"], result["is_error"]) == ("result", "success", False)
    assert (result["result"], result["num_turns"]) == ("It is done.", 3)
    assert [denial["tool_name"] for denial in result["permission_denials"]] == ["Edit"]
    assert (project / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"


def test_a_stream_has_every_message_as_a_line_and_deltas_when_asked(project: Path) -> None:
    with running_double(edits(project)) as double:
        done = sidelight(
            project,
            double,
            "-p",
            "go",
            "--output-format",
            "stream-json",
            "--include-partial-messages",
            "--verbose",
            "--allowedTools",
            "Edit",
        )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["type"] for line in lines if line["type"] != "stream_event"]
    assert kinds == [
        "system",
        "assistant",
        "user",
        "assistant",
        "assistant",
        "user",
        "assistant",
        "result",
    ]
    assert len({line["session_id"] for line in lines}) == 1
    deltas = [line["event"]["delta"]["text"] for line in lines if line["type"] == "stream_event"]
    assert "".join(deltas) == "Changing.It is done."


def test_a_conversation_is_continued_and_resumed_by_its_name(project: Path) -> None:
    with running_double([reply(text("first")), reply(text("second")), reply(text("third"))]) as d:
        first = json.loads(sidelight(project, d, "-p", "1", "--output-format", "json").stdout)
        assert sidelight(project, d, "-p", "2", "--continue").stdout == "second\n"
        name = first["session_id"]
        assert sidelight(project, d, "-p", "3", "--resume", name).stdout == "third\n"
        assert d.prefix_problems() == []
        assert len(d.requests[-1].messages) == 5
        missing = sidelight(project, d, "-p", "4", "--resume", "nobody")
    assert missing.returncode == 1
    assert "There is no conversation nobody" in missing.stderr


def test_a_limit_of_steps_and_a_refused_key_end_with_1_and_say_why(project: Path) -> None:
    with running_double(edits(project)[:1]) as double:
        done = sidelight(project, double, "-p", "go", "--max-turns", "1", "--output-format", "json")
        assert (done.returncode, json.loads(done.stdout)["subtype"]) == (1, "error_max_turns")
    with running_double([http_error(401)]) as double:
        done = sidelight(project, double, "-p", "go")
        assert done.returncode == 1
        assert double.api_key not in done.stderr
        assert "key" in done.stderr.lower()


def test_a_wrong_call_says_what_to_do(project: Path) -> None:
    assert "say what to do" in sidelight(project, None, "-p", "").stderr
    wrong = sidelight(project, None, "-p", "x", "--settings", "{")
    assert (wrong.returncode, "--settings is not JSON" in wrong.stderr) == (2, True)
    assert sidelight(project, None, "nonsense").returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_termination_cancels_the_turn_keeps_it_and_ends_with_143(project: Path) -> None:
    with running_double([reply(text("half", gate("never"))), reply(text("whole"))]) as double:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sidelight", "-p", "go"],
            cwd=project,
            env=environment(double),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        double.wait_for_gate("never", timeout=20)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        assert process.returncode == 143
        assert sidelight(project, double, "-p", "again", "--continue").stdout == "whole\n"


@pytest.mark.parametrize(
    ("settings", "arguments", "sentence"),
    [
        ({"statusLine": {}, "theme": "x"}, [], "not used by this version: statusLine, theme"),
        ({}, ["--permission-mode", "auto"], "The mode auto does not exist in this version"),
        (
            {
                "permissions": {
                    "defaultMode": "bypassPermissions",
                    "disableBypassPermissionsMode": "disable",
                }
            },
            [],
            "permissions.disableBypassPermissionsMode forbids the mode bypassPermissions",
        ),
    ],
)
def test_a_setting_without_effect_is_said_and_a_forbidden_mode_asks(
    project: Path, home: Path, settings: dict[str, Any], arguments: list[str], sentence: str
) -> None:
    (home / ".claude").mkdir()
    file = home / ".claude" / "settings.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    with running_double(edits(project)) as double:
        done = sidelight(project, double, "-p", "go", *arguments)
    assert sentence in done.stderr
    assert (project / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"
