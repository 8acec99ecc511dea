"""Runs that are killed outright at any stage, and what the next run still knows."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sidelight.core.content import Text
from sidelight.core.messages import AssistantMessage, UserMessage
from sidelight.transcripts.replay import Replay, replay
from tests.conftest import SCALE
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import Reply, gate, reply, text, tool_use
from tests.headless import SECONDS, sidelight, started, wait_for_word
from tests.real_session import hooks, project_settings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
KILLS = {"small": 20, "full": 200}[SCALE]
OPTIONS = ("--continue", "--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--trust")
WAITING = "echo $$ > go; exec sleep 1000"
STAGES = ("before the first byte", "in the words", "after an edit", "while a command runs")


def replies(stage: str, number: int, folder: Path) -> list[Reply]:
    here = f"gate {number}"
    if stage == "before the first byte":
        return [reply("never heard", hold=here)]
    if stage == "in the words":
        return [reply(text(f"words {number}", gate(here)))]
    if stage == "after an edit":
        made = {"file_path": str(folder / f"made-{number}.txt"), "content": f"{number}\n"}
        return [reply(tool_use("Write", made), text("more", gate(here)))]
    return [reply("I run it.", tool_use("Bash", {"command": WAITING, "description": "waits"}))]


def reach(stage: str, number: int, folder: Path, double: Double) -> int | None:
    """Block until the run stands where it is to be killed; a process that it leaves behind."""
    if stage == "before the first byte":
        double.wait_for_requests(number + 1, timeout=SECONDS)
    elif stage == "in the words":
        double.wait_for_gate(f"gate {number}", timeout=SECONDS)
    else:
        return int(wait_for_word(folder / "go", SECONDS))
    return None


def stored(home: Path) -> Replay:
    (path,) = (home / "sidelight" / "sessions").glob("*/*.jsonl")
    return replay(path)


def prompts(messages: list[Any]) -> list[str]:
    return [
        block.text
        for message in messages
        if isinstance(message, UserMessage)
        for block in message.content
        if isinstance(block, Text)
    ]


@pytest.mark.req("SESSION-01")
def test_runs_that_are_killed_at_every_stage_lose_nothing_that_was_acknowledged(
    tmp_path: Path, home: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    os.mkfifo(folder / "go")
    project_settings(folder, hooks("PostToolUse", WAITING, "Write"))
    with running_double([reply("Begun.")]) as double:
        assert sidelight(folder, double, "-p", "begin").stdout == "Begun.\n"
        for number in range(1, KILLS + 1):
            stage = STAGES[number % len(STAGES)]
            double.add(*replies(stage, number, folder))
            process = started(folder, double, "-p", f"prompt {number}", *OPTIONS)
            left = reach(stage, number, folder, double)
            process.kill()
            if left is not None:
                with suppress(ProcessLookupError):  # the guard was faster, or the start too fresh
                    os.kill(left, signal.SIGKILL)
            process.communicate(timeout=SECONDS)
            assert f"prompt {number}" in prompts(stored(home).messages)
        double.add(reply("I know it all."))
        assert sidelight(folder, double, "-p", "end", *OPTIONS).stdout == "I know it all.\n"
        sent = double.requests[-1].messages
    kept = stored(home)
    expected = ["begin", *(f"prompt {n}" for n in range(1, KILLS + 1)), "end"]
    assert prompts(kept.messages) == expected
    assert kept.waiting == {}
    words = [b["text"] for m in sent if m["role"] == "user" for b in m["content"] if "text" in b]
    assert [word for word in words if not word.startswith("<system-reminder>")] == expected
    calls = [
        call.input.get("file_path") or call.input["command"]
        for message in kept.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_uses
    ]
    made = sorted(str(path) for path in folder.glob("made-*.txt"))
    assert sorted(call for call in calls if "made-" in call) == made
    assert len([call for call in calls if "sleep" in call]) == KILLS // len(STAGES)
