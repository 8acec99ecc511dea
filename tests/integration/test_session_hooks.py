"""Hooks, settings and trust as a session meets them, with hooks that are real programs."""

import json
from pathlib import Path

import anyio
import pytest

from sidelight.core.events import HookEnded, MessageAdded
from sidelight.core.host import FileChange
from sidelight.core.messages import Attachment
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply
from tests.real_session import SECONDS, bash, edit, hooks, opened, project_settings, read

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "project").resolve()
    (made / "sub").mkdir(parents=True)
    (made / "a.txt").write_text("one\n", encoding="utf-8")
    return made


async def test_a_hook_that_exits_with_2_denies_the_call_in_its_words(folder: Path) -> None:
    file = folder / "a.txt"
    project_settings(folder, hooks("PreToolUse", "echo not on Mondays >&2; exit 2", "Edit"))
    script = [reply(read(file)), reply(edit(file, "one", "two")), reply("I see.")]
    with running_double(script) as double:
        async with opened(double, folder, mode="acceptEdits") as desk:
            assert (await desk.ask("change it")).reason == "completed"
        assert "not on Mondays" in double.requests[2].last_text
    assert file.read_text(encoding="utf-8") == "one\n"
    ended = [event for event in desk.events if isinstance(event, HookEnded)]
    assert [(event.event, event.outcome) for event in ended] == [("PreToolUse", "blocked")]


async def test_what_a_hook_says_after_a_call_stands_beside_its_result(folder: Path) -> None:
    told = {"hookEventName": "PostToolUse", "additionalContext": "mind the tests"}
    said = json.dumps({"hookSpecificOutput": told})
    project_settings(folder, hooks("PostToolUse", f"echo '{said}'", "Read"))
    with running_double([reply(read(folder / "a.txt")), reply("I do.")]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("read it")
        asked = double.requests[1]
        assert list(asked.tool_results.values()) == ["     1\tone"]
        assert asked.messages[-1]["content"][-1]["text"] == (
            "<system-reminder>\nOn the call of Read: mind the tests\n</system-reminder>"
        )


async def test_a_save_and_the_watchers_report_of_it_run_a_hook_once(folder: Path) -> None:
    file, log = folder / "a.txt", folder.parent / "log"
    project_settings(folder, hooks("FileChanged", f"cat >> {log}", "a.txt"))
    with running_double() as double:
        async with opened(double, folder) as desk:
            assert desk.host.watched == (str(file),)
            for text, reports in (("two\n", 2), ("three\n", 3)):
                file.write_text(text, encoding="utf-8")
                for _ in range(reports):
                    with anyio.fail_after(SECONDS):
                        await desk.sessions.file_changed(FileChange(path=str(file), event="change"))
    told = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [(one["hook_event_name"], one["file_path"], one["event"]) for one in told] == [
        ("FileChanged", str(file), "change")
    ] * 2


async def test_a_command_that_moves_the_shell_runs_the_hook_and_what_it_exports_counts(
    folder: Path,
) -> None:
    log = folder.parent / "log"
    command = f'cat >> {log}; echo "export PLACE=there" >> "$CLAUDE_ENV_FILE"'
    project_settings(folder, hooks("CwdChanged", command))
    script = [reply(bash("cd sub")), reply(bash('echo "it is $PLACE in $(pwd)"')), reply("Moved.")]
    with running_double(script) as double:
        async with opened(double, folder, mode="bypassPermissions") as desk:
            await desk.ask("go there")
        (result,) = double.requests[2].tool_results.values()
    assert f"it is there in {folder / 'sub'}" in result
    (told,) = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert (told["old_cwd"], told["new_cwd"]) == (str(folder), str(folder / "sub"))


async def test_settings_that_are_not_json_are_named_with_their_line_and_the_rest_works(
    folder: Path, home: Path
) -> None:
    path = project_settings(folder, '{\n  "hooks": [,]\n}')
    (home / ".claude").mkdir()
    deny = json.dumps({"permissions": {"deny": ["Read(//**/a.txt)"]}})
    (home / ".claude" / "settings.json").write_text(deny, encoding="utf-8")
    with running_double([reply(read(folder / "a.txt")), reply("Denied.")]) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("read it")).reason == "completed"
        (result,) = double.requests[1].tool_results.values()
    assert desk.notices == [
        f"{path}:2: this is not JSON, the whole file is ignored: Expecting value, column 13"
    ]
    assert "denies" in result


async def test_settings_that_break_while_a_session_runs_loosen_nothing(folder: Path) -> None:
    deny = {"permissions": {"deny": ["Read(a.txt)"]}}
    path = project_settings(folder, deny)
    script = [reply(read(folder / "a.txt")), reply("1"), reply(read(folder / "a.txt")), reply("2")]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            await desk.ask("read it")
            path.write_text('{"permissions": {', encoding="utf-8")
            await desk.ask("and now")
        results = [list(request.tool_results.values()) for request in double.requests]
    assert results[3] == results[1]
    assert [text.partition(": ")[0] for text in desk.notices] == [f"{path}:1"]


async def test_a_folder_that_is_not_trusted_runs_none_of_its_hooks_and_says_so(
    folder: Path,
) -> None:
    log = folder.parent / "log"
    path = project_settings(folder, hooks("PreToolUse", f"echo ran >> {log}"))
    with running_double([reply(read(folder / "a.txt")), reply("Read.")]) as double:
        async with opened(double, folder, trusted=False) as desk:
            await desk.ask("read it")
    assert not log.exists()
    assert desk.notices == [
        f"This folder is not trusted, so hooks, environment and allow rules in {path} do not "
        "count. `sidelight trust` lets them."
    ]


async def test_a_cancel_between_the_reminders_and_the_prompt_loses_neither(folder: Path) -> None:
    with running_double([reply("Both.")]) as double:
        async with opened(double, folder) as desk:
            desk.hold = lambda event: (
                isinstance(event, MessageAdded) and isinstance(event.message, Attachment)
            )
            async with anyio.create_task_group() as group:
                group.start_soon(desk.ask, "first")
                with anyio.fail_after(SECONDS):
                    await desk.held.wait()
                desk.session.cancel()
            assert [message.role for message in desk.session.history] == ["attachment", "user"]
            assert (await desk.ask("second")).reason == "completed"
        words = double.requests[0].last_text
    assert words.index("first") < words.index("second")


async def test_a_change_that_a_cancel_interrupts_telling_of_is_told_at_the_next_step(
    folder: Path,
) -> None:
    file = folder / "a.txt"
    with running_double([reply(read(file)), reply("Read."), reply("I see.")]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("read it")
            file.write_text("two\n", encoding="utf-8")
            await desk.session.file_changed(FileChange(path=str(file), event="change"))
            desk.hold = lambda event: isinstance(event, MessageAdded)
            async with anyio.create_task_group() as group:
                group.start_soon(desk.ask, "second")
                with anyio.fail_after(SECONDS):
                    await desk.held.wait()
                desk.session.cancel()
            await desk.ask("third")
        assert double.requests[2].last_text.count("-one\n+two") == 1
