"""Background tasks as a session meets them: told at the next step, ended with the session."""

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.events import TasksChanged
from sidelight.core.messages import Attachment
from sidelight.process import group
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import Block, reply, tool_use
from tests.real_session import SECONDS, bash, hooks, opened, read

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-07")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "project").resolve()
    made.mkdir()
    return made


def leave(command: str) -> Block:
    given = {"command": command, "description": "a test", "run_in_background": True}
    return tool_use("Bash", given)


def look(task_id: str) -> Block:
    return tool_use("TaskOutput", {"task_id": task_id})


def reminders(texts: list[Attachment]) -> list[str]:
    return [each.text for each in texts if each.kind.startswith("task-")]


async def test_the_end_of_a_task_is_told_at_the_next_step_and_stored(folder: Path) -> None:
    os.mkfifo(folder / "gate")
    script = [
        reply(leave("cat gate; exit 5")),
        reply("Started."),
        reply("I see."),
        reply("Still."),
    ]
    with running_double(script) as double:
        async with opened(double, folder, mode="bypassPermissions") as desk:
            await desk.ask("start it")
            with anyio.fail_after(SECONDS):
                await anyio.Path(folder / "gate").write_text("go\n")
                await desk.session.background.idle()
            await desk.ask("and?")
            assert "The background task s1 (cat gate; exit 5) failed with exit code 5" in (
                str(double.requests[2].messages[-1]["content"])
            )
            await desk.ask("and now?")
            kept = [m for m in desk.session.history if isinstance(m, Attachment)]
            assert len(reminders(kept)) == 1
            told = [e.tasks for e in desk.events if isinstance(e, TasksChanged)]
            assert [[task.command for task in tasks] for tasks in told] == [
                ["cat gate; exit 5"],
                [],
            ]
        assert double.refusals == []


async def test_tasks_end_with_their_session_and_a_later_process_is_told_so(folder: Path) -> None:
    os.mkfifo(folder / "pids")
    command = "trap '' TERM; sleep 300 & echo $$ $! > pids; wait; sleep 300"
    script = [reply(leave(command)), reply("Started."), reply("I see."), reply("Yes.")]
    with running_double(script) as double:
        async with opened(double, folder, mode="bypassPermissions") as desk:
            await desk.ask("start it")
            with anyio.fail_after(SECONDS):
                pids = [
                    int(word) for word in (await anyio.Path(folder / "pids").read_text()).split()
                ]
            assert group.is_alive(pids[0])
            session_id = desk.session.id
        assert not group.is_alive(pids[0], frozenset(pids))
        async with opened(double, folder, session_id=session_id, mode="bypassPermissions") as desk:
            await desk.ask("does it run?")
            await desk.ask("sure?")
            kept = [m for m in desk.session.history if isinstance(m, Attachment)]
            assert reminders(kept) == [
                "The background task s1, started earlier in this conversation, has ended with the "
                "program that ran it; its output file is gone."
            ]


@pytest.mark.req("TOOL-11")
async def test_what_long_output_was_put_into_is_read_without_a_question(folder: Path) -> None:
    """TOOL-11: the scratch folder is the session's own; reading and writing there asks nobody."""
    script = [
        reply(bash("seq 1 20000")),
        reply(leave("echo there")),
        reply(look("s1")),
        reply("Done."),
    ]
    settings: dict[str, Any] = {
        "permissions": {"allow": ["Bash(seq *)", "Bash(echo *)"]},
        **hooks("PostToolUse", "cat > said", "Write"),
    }
    with running_double(script) as double:
        async with opened(double, folder, settings=settings) as desk:
            await desk.ask("count")
            scratch = desk.session.parts.scratch
            assert scratch.stat().st_mode & 0o777 == 0o700
            assert str(scratch) in desk.session.opened.system.dynamic
            # What hooks export steers every command; the model must not write there unasked.
            exports = [Path(file) for file in desk.session.parts.shell.env_files]
            assert [file for file in exports if file.is_relative_to(scratch)] == []
            files = sorted(scratch.glob("bash-*.txt"))
            made = scratch / "plan.md"
            write = tool_use("Write", {"file_path": str(made), "content": "x\n"})
            double.add(
                *(reply(read(file)) for file in files),
                reply(bash(f"grep -c 1 {files[0]}")),
                reply(write),
                reply("Read."),
            )
            await desk.ask("read them")
            assert [str(prompt.title) for prompt in desk.person.asked] == []
            assert made.read_text(encoding="utf-8") == "x\n"
            heard = json.loads((folder / "said").read_text(encoding="utf-8"))
            assert heard["scratchpad_dir"] == str(scratch)
            assert len(files) == 2
        assert not scratch.parent.exists()


async def test_the_login_environment_reaches_commands_and_its_failure_is_told(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    profile = home / ".bash_profile"
    profile.write_text("export MANAGER=here\nexport STAGE=login\n", encoding="utf-8")
    settings = {"env": {"STAGE": "settings"}}
    script = [reply(bash('echo "[$MANAGER $STAGE]"')), reply("Done.")]
    with running_double([*script, *script]) as double:
        async with opened(double, folder, mode="bypassPermissions", settings=settings) as desk:
            await desk.ask("look")
        assert list(double.requests[1].tool_results.values()) == ["[here settings]"]
        profile.write_text("exit 9\n", encoding="utf-8")
        async with opened(double, folder, mode="bypassPermissions", settings=settings) as desk:
            await desk.ask("look")
        (told,) = double.requests[3].tool_results.values()
    assert told == (
        "[ settings]\nThe environment of the login shell could not be read: /bin/bash ended early "
        "with code 9. Commands run without what its start files set."
    )
