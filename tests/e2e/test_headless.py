"""`sidelight -p` as a process: what it prints, how it ends, and what it refuses."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sidelight.process.group import members
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import gate, http_error, reply, text, tool_use
from tests.headless import SECONDS, command, environment, masked, sidelight, started, wait_for_word

USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 0,
}
COUNTED = {
    **USAGE,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
}


def counted(times: int = 1) -> dict[str, Any]:
    """What so many answers are counted as."""
    return {**COUNTED, **{key: times * count for key, count in USAGE.items()}}


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
        reply(tool_use("Read", {"file_path": path}), usage=COUNTED),
        reply(text("Changing."), tool_use("Edit", change), usage=COUNTED),
        reply(text("It is done."), usage=COUNTED),
    ]


def test_text_prints_the_answer_alone_and_the_file_is_changed(project: Path) -> None:
    with running_double(edits(project)) as double:
        done = sidelight(project, double, "-p", "go", "--permission-mode", "acceptEdits")
    assert (done.returncode, done.stdout, done.stderr) == (0, "It is done.\n", "")
    assert (project / "a.txt").read_text(encoding="utf-8") == "ONE\ntwo\n"


def test_json_is_one_object_and_what_would_ask_is_denied_and_listed_in_it(project: Path) -> None:
    with running_double(edits(project)) as double:
        done = sidelight(project, double, "-p", "go", "--output-format", "json")
    path = str(project / "a.txt")
    assert masked(json.loads(done.stdout)) == {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 3,
        "result": "It is done.",
        "stop_reason": "end_turn",
        "session_id": "session_id",
        "total_cost_usd": 0.00021,
        "usage": counted(3),
        "modelUsage": {
            "claude-sonnet-5-5": {
                "inputTokens": 30,
                "outputTokens": 15,
                "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 0,
                "webSearchRequests": 0,
                "costUSD": 0.00021,
                "contextWindow": 1_000_000,
            }
        },
        "terminal_reason": "completed",
        "permission_denials": [
            {
                "tool_name": "Edit",
                "tool_use_id": "toolu_",
                "tool_input": {"file_path": path, "old_string": "one", "new_string": "ONE"},
            }
        ],
        "uuid": "uuid",
    }
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        [
            "sidelight: held back:",
            f"  Edit {path}: It changes a file: {path}. Nobody can be asked in this run. "
            "To let it through, run it with --permission-mode acceptEdits.",
        ],
    )
    assert (project / "a.txt").read_text(encoding="utf-8") == "one\ntwo\n"


def shell(command: str) -> Any:
    return tool_use("Bash", {"command": command, "description": "a test"})


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_a_command_in_an_untrusted_folder_says_why_and_what_to_do_once_on_stderr(
    project: Path, form: str
) -> None:
    script = [
        reply(shell("touch made"), shell("touch made")),
        reply(shell("echo $HOME > /etc/x")),
        reply("It could not be done."),
    ]
    with running_double(script) as double:
        done = sidelight(project, double, "-p", "go", "--output-format", form)
        told = [text for request in double.requests for text in request.tool_results.values()]
    assert done.returncode == 0
    head, first, second = done.stderr.splitlines()
    assert head == "sidelight: held back:"
    assert first == (
        "  Bash touch made: This folder is not trusted yet; no command runs in it unasked. "
        "Nobody can be asked in this run. To let it through, run it with --trust "
        "--permission-mode acceptEdits."
    )
    assert second.startswith("  Bash echo $HOME > /etc/x: This folder is not trusted yet;")
    assert told[0].startswith(first.removeprefix("  Bash touch made: "))
    assert "Name in the final answer what could not be done" in told[0]


def test_what_the_advice_of_a_denial_says_lets_the_call_through(project: Path) -> None:
    def run(*more: str) -> tuple[str, str]:
        script = [reply(shell("./make.sh now")), reply("Done.")]
        (project / "make.sh").write_text("#!/bin/sh\ntouch made\n")
        (project / "make.sh").chmod(0o755)
        with running_double(script) as double:
            done = sidelight(project, double, "-p", "go", *more)
            return done.stderr, double.requests[-1].last_text

    advice = run()[0].rpartition("run it with ")[2].strip().removesuffix(".")
    assert advice == "--trust --allowedTools 'Bash(./make.sh *)'"
    assert not (project / "made").exists()
    assert run(*shlex.split(advice))[0] == ""
    assert (project / "made").exists()


def test_a_stream_has_every_block_as_a_line_and_deltas_when_asked(project: Path) -> None:
    more = ("--output-format", "stream-json", "--include-partial-messages", "--verbose")
    with running_double(edits(project)) as double:
        done = sidelight(project, double, "-p", "go", *more, "--allowedTools", "Edit")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({line["session_id"] for line in lines}) == 1
    path = str(project / "a.txt")
    assert [masked(line, known={path: "FILE", str(project): "FOLDER"}) for line in lines] == [
        told("system", subtype="init", cwd="FOLDER", **INIT),
        assistant(call("Read", file_path="FILE")),
        result("     1\tone\n     2\ttwo", lines[2]),
        delta("Changing."),
        assistant({"type": "text", "text": "Changing."}),
        assistant(call("Edit", file_path="FILE", old_string="one", new_string="ONE")),
        result("Edited FILE, in line 1.\n\n     1\tONE\n     2\ttwo", lines[6]),
        delta("It is done."),
        assistant({"type": "text", "text": "It is done."}),
        masked(lines[-1]),
    ]
    assert (lines[2]["tool_use_result"]["type"], lines[6]["tool_use_result"]["oldString"]) == (
        "text",
        "one",
    )
    assert (lines[-1]["result"], lines[-1]["permission_denials"]) == ("It is done.", [])


INIT: dict[str, Any] = {
    "tools": [
        *("Bash", "Edit", "Glob", "Grep", "Monitor", "NotebookEdit", "Read"),
        *("TaskOutput", "TaskStop", "Write"),
    ],
    "model": "sonnet",
    "permissionMode": "default",
    "mcp_servers": [],
    "slash_commands": [],
    "claude_code_version": "0.1.0",
}


def told(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "session_id": "session_id", "uuid": "uuid", **more}


def call(name: str, **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_", "name": name, "input": given}


def assistant(block: dict[str, Any]) -> dict[str, Any]:
    message = {
        "id": "message",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [block],
        "stop_reason": None,
        "usage": counted(),
    }
    return told("assistant", message=message, parent_tool_use_id=None)


def result(words: str, line: dict[str, Any]) -> dict[str, Any]:
    """A result's line; what the tool gives beside its words is as it stands in `line`."""
    block = {
        "type": "tool_result",
        "tool_use_id": "toolu_",
        "content": [{"type": "text", "text": words}],
        "is_error": False,
    }
    path = line["tool_use_result"].get("filePath") or line["tool_use_result"]["file"]["filePath"]
    beside = masked(line["tool_use_result"], known={path: "FILE"})
    message = {"role": "user", "content": [block]}
    return told("user", message=message, parent_tool_use_id=None, tool_use_result=beside)


def delta(words: str) -> dict[str, Any]:
    event: dict[str, Any] = {"type": "content_block_delta", "index": 0}
    event["delta"] = {"type": "text_delta", "text": words}
    return told("stream_event", event=event, parent_tool_use_id=None)


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


@pytest.mark.parametrize(
    "settings", ['{"permissions": []}', '{"permissions": {"allow": "Edit"}}', "[]", "no-such-file"]
)
def test_settings_of_a_wrong_shape_are_refused_in_a_sentence(project: Path, settings: str) -> None:
    given = ("--settings", settings, "--allowedTools", "Edit")
    done = sidelight(project, None, "-p", "x", *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sidelight: --settings")
    assert len(done.stderr.splitlines()) == 1


def test_a_limit_of_no_steps_is_refused(project: Path) -> None:
    done = sidelight(project, None, "-p", "x", "--max-turns", "0")
    assert (done.returncode, "0 is less than 1" in done.stderr) == (2, True)


def test_a_state_folder_that_cannot_be_written_is_said(project: Path, home: Path) -> None:
    (home / "sidelight").write_text("a file where a folder should be", encoding="utf-8")
    done = sidelight(project, None, "-p", "x")
    assert done.returncode == 1
    assert done.stderr.startswith("sidelight: The conversation cannot be kept:")
    assert len(done.stderr.splitlines()) == 1


def test_without_a_key_and_a_server_the_run_says_what_to_set(project: Path) -> None:
    done = sidelight(project, None, "-p", "go")
    assert (done.returncode, done.stdout) == (1, "")
    assert "ANTHROPIC_API_KEY" in done.stderr


def test_what_is_piped_in_goes_along_with_the_task(project: Path) -> None:
    with running_double([reply("Yes."), reply("Again.")]) as double:
        assert sidelight(project, double, "-p", "why?", stdin="a log\n").stdout == "Yes.\n"
        assert sidelight(project, double, "-p", stdin="the task itself\n").stdout == "Again.\n"
        words = [request.last_text for request in double.requests]
    assert words[0].endswith("why?\na log")
    assert words[1].endswith("the task itself")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_that_stays_silent_does_not_hold_the_run(project: Path) -> None:
    reading, writing = os.pipe()
    with running_double([reply("Yes.")]) as double:
        done = subprocess.run(
            command("-p", "go"),
            cwd=project,
            env=environment(double),
            stdin=reading,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    os.close(reading)
    os.close(writing)
    assert (done.returncode, done.stdout) == (0, "Yes.\n")
    assert done.stderr == "sidelight: nothing comes on standard input; going on without it\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("how", ["text", "stream-json"])
def test_an_output_that_nobody_reads_ends_the_run_quietly(project: Path, how: str) -> None:
    script = [reply(text("a", gate("closed"), *"bcdef", chunk=1)), reply("Next.")]
    more = ("--output-format", how, "--include-partial-messages")
    with running_double(script) as double:
        process = started(project, double, "-p", "go", *more)
        assert process.stdout is not None
        double.wait_for_gate("closed", timeout=20)
        process.stdout.close()
        double.open("closed")
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(SECONDS) == 141
        process.stderr.close()
        assert said == b""
        assert sidelight(project, double, "-p", "again", "--continue").stdout == "Next.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_termination_ends_a_command_and_all_that_it_started(project: Path) -> None:
    os.mkfifo(project / "go")
    line = "echo $$ > pid; sleep 1000 & echo $! >> pid; echo ready > go; wait"
    script = [reply(tool_use("Bash", {"command": line, "description": "never ends"}))]
    with running_double(script) as double:
        more = ("--allowedTools", "Bash", "--trust", "--output-format", "json")
        process = started(project, double, "-p", "go", *more)
        assert wait_for_word(project / "go") == "ready\n"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=SECONDS)
    ended = json.loads(out)
    assert process.returncode == 143
    assert (ended["subtype"], ended["is_error"], ended["errors"]) == (
        "error_during_execution",
        True,
        ["cancelled"],
    )
    for number in (project / "pid").read_text(encoding="utf-8").split():
        assert members(int(number)) == frozenset()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_termination_cancels_the_turn_keeps_it_and_ends_with_143(project: Path) -> None:
    with running_double([reply(text("half", gate("never"))), reply(text("whole"))]) as double:
        process = started(project, double, "-p", "go")
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
