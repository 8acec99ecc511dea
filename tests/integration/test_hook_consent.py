"""Hooks that a trusted folder changes afterwards, by `git pull` say, wait for the person's word."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.app.consent import DETAIL, TITLE
from sidelight.core.events import Notice, QuestionAnswered, QuestionAsked
from sidelight.session.moments import LET_RUN, NOT_NOW
from sidelight.settings.approved import FILE
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply
from tests.real_session import SECONDS, Desk, opened, project_settings

pytestmark = [pytest.mark.anyio, pytest.mark.req("PERM-08")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "project").resolve()
    made.mkdir()
    return made


def settings(folder: Path, **commands: str) -> Path:
    """The folder's hooks: at each event a command that leaves a line in the log."""
    log = folder.parent / "log"
    groups = {
        event: [{"hooks": [{"type": "command", "command": f"echo {word} >> {log}"}]}]
        for event, word in commands.items()
    }
    return project_settings(folder, {"hooks": groups})


def ran(folder: Path) -> list[str]:
    log = folder.parent / "log"
    return log.read_text(encoding="utf-8").split() if log.exists() else []


async def turn(double: Double, folder: Path, *choices: str, prompts: int = 1) -> Desk:
    async with opened(double, folder) as desk:
        desk.person.choices = list(choices)
        for _ in range(prompts):
            assert (await desk.ask("go on")).reason == "completed"
    return desk


async def test_trust_covers_what_the_folder_has_and_what_comes_later_is_asked_once(
    folder: Path,
) -> None:
    path = settings(folder, UserPromptSubmit="old")
    with running_double([reply("1"), reply("2"), reply("3")]) as double:
        first = await turn(double, folder)
        assert (first.person.questions, first.notices, ran(folder)) == ([], [], ["old"])
        settings(folder, UserPromptSubmit="old", Stop="new")
        second = await turn(double, folder, LET_RUN)
        (question,) = second.person.questions
        log = folder.parent / "log"
        assert (question.title, question.detail) == (TITLE, DETAIL)
        assert question.fields == {"hooks": f"Stop: echo new >> {log}"}
        assert second.notices == [
            "Hooks of this folder are new or changed since you trusted it, so they do not run: "
            f"Stop in {path}. Look at them; at your next prompt you are asked, or "
            "`sidelight trust` lets them run."
        ]
        told = [e for e in second.events if isinstance(e, QuestionAsked | QuestionAnswered)]
        assert told == [
            QuestionAsked(question=question),
            QuestionAnswered(question_id=question.id, option=LET_RUN),
        ]
        third = await turn(double, folder)
        assert (third.person.questions, third.notices) == ([], [])
    assert ran(folder) == ["old", "old", "new", "old", "new"]


async def test_a_no_holds_for_the_session_and_what_was_agreed_to_goes_on_running(
    folder: Path,
) -> None:
    settings(folder, UserPromptSubmit="old")
    with running_double([reply(str(n)) for n in range(5)]) as double:
        await turn(double, folder)
        settings(folder, UserPromptSubmit="old", Stop="new")
        refused = await turn(double, folder, NOT_NOW, prompts=2)
        assert len(refused.person.questions) == 1
        assert ran(folder) == ["old"] * 3
        again = await turn(double, folder, LET_RUN)
        assert len(again.person.questions) == 1
        assert ran(folder)[3:] == ["old", "new"]


async def test_a_closed_dialog_is_no_answer_and_a_changed_command_is_another_hook(
    folder: Path,
) -> None:
    settings(folder, UserPromptSubmit="old")
    with running_double([reply(str(n)) for n in range(3)]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("one")
            settings(folder, UserPromptSubmit="changed")
            await desk.ask("two")
            await desk.ask("three")
    assert len(desk.person.questions) == 2
    assert ran(folder) == ["old"]
    said = [event.text for event in desk.events if isinstance(event, Notice)]
    assert [text.partition(",")[0] for text in said] == [
        "Hooks of this folder are new or changed since you trusted it"
    ]


async def test_a_cancel_closes_the_question_and_lets_nothing_run(folder: Path) -> None:
    settings(folder)
    with running_double([reply("1"), reply("2")]) as double:
        await turn(double, folder)
        settings(folder, UserPromptSubmit="new")
        async with opened(double, folder) as desk:
            desk.person.away = True
            async with anyio.create_task_group() as group:
                group.start_soon(desk.ask, "go on")
                with anyio.fail_after(SECONDS):
                    while not desk.person.open_dialogs:
                        await anyio.lowlevel.checkpoint()
                desk.session.cancel()
            assert desk.person.open_dialogs == 0
            assert ran(folder) == []
            desk.person.away, desk.person.choices = False, [LET_RUN]
            assert (await desk.ask("again")).reason == "completed"
    assert ran(folder) == ["new"]


@pytest.mark.parametrize("broken", ["", "{", "[]", "{FOLDER: 7}"])
async def test_a_broken_list_of_what_may_run_lets_nothing_run(folder: Path, broken: str) -> None:
    settings(folder, UserPromptSubmit="old")
    with running_double([reply("1"), reply("2")]) as double:
        await turn(double, folder)
        (kept,) = [path async for path in anyio.Path(os.environ["SIDELIGHT_HOME"]).rglob(FILE)]
        text = broken.replace("FOLDER", json.dumps(str(folder)))
        await anyio.Path(kept).write_text(text, encoding="utf-8")
        again = await turn(double, folder)
    assert len(again.person.questions) == 1
    assert ran(folder) == ["old"]


async def test_trusting_the_folder_again_lets_its_present_hooks_run_and_shows_them(
    folder: Path,
) -> None:
    settings(folder)
    with running_double([reply("1"), reply("2")]) as double:
        await turn(double, folder)
        settings(folder, UserPromptSubmit="new")
        command = [sys.executable, "-P", "-m", "sidelight", "trust", str(folder)]
        done = await anyio.run_process(command)
        log = folder.parent / "log"
        assert done.stdout.decode().splitlines() == [
            f"trusted: {folder}",
            f"  runs at UserPromptSubmit: echo new >> {log}",
        ]
        after = await turn(double, folder)
    assert (after.person.questions, ran(folder)) == ([], ["new"])


async def test_the_flag_trust_lets_all_run_for_one_run_and_remembers_nothing(folder: Path) -> None:
    settings(folder)
    with running_double([reply(str(n)) for n in range(3)]) as double:
        await turn(double, folder)
        settings(folder, UserPromptSubmit="new")
        env: dict[str, Any] = {
            **os.environ,
            "ANTHROPIC_BASE_URL": double.base_url,
            "ANTHROPIC_API_KEY": double.api_key,
        }
        command = [sys.executable, "-P", "-m", "sidelight", "-p", "hello", "--trust"]
        await anyio.run_process(command, cwd=folder, env=env)
        assert ran(folder) == ["new"]
        after = await turn(double, folder)
    assert len(after.person.questions) == 1
    assert ran(folder) == ["new"]
