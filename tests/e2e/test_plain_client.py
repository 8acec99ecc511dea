"""The same agent for editors that know only the protocol: messages, progress, files."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.fakes.editor import silence

pytestmark = [pytest.mark.anyio, pytest.mark.req("EDITOR-09")]
Open = Callable[..., AbstractAsyncContextManager[Desk]]


def put(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def get(path: Path) -> str:
    return path.read_bytes().decode()


async def nothing(_: Any) -> Any:
    return None


async def success(_: Any) -> Any:
    return {"success": True}


async def run(desk: Desk, text: str) -> None:
    command = {"command": "sidelight.run", "arguments": [text]}
    assert await desk.client.ask("workspace/executeCommand", command) is None


async def ended(desk: Desk) -> Any:
    """The words with which the progress ended."""
    message = await desk.client.wait_for(
        lambda one: one.get("method") == "$/progress" and one["params"]["value"]["kind"] == "end"
    )
    return message["params"]["value"]["message"]


def with_progress(desk: Desk) -> Desk:
    desk.client.answers["window/workDoneProgress/create"] = nothing
    desk.client.answers["window/showDocument"] = success
    return desk


async def test_a_long_answer_is_shown_as_a_file_of_ours(open_desk: Open, home: Path) -> None:
    async with open_desk(ours=False) as desk:
        with_progress(desk)
        await run(desk, "say # Title\\n\\nText")
        shown = await desk.client.wait_for_method("window/showDocument")
        path = desk.editor.path(shown["params"]["uri"])
        assert shown["params"]["takeFocus"] is False  # B046
        assert path.parent == home / "sidelight" / "answers"
        assert path.suffix == ".md"
        assert get(path) == "# Title\n\nText\n"
        assert await ended(desk) == "Done"
        assert desk.client.named("session/update") == []
        assert [name for name in methods(desk) if name.startswith("_sidelight")] == []


def methods(desk: Desk) -> list[str]:
    return [message.get("method", "") for message in desk.client.messages]


async def test_a_short_answer_is_a_message_and_a_failure_too(open_desk: Open) -> None:
    async with open_desk(ours=False) as desk:
        with_progress(desk)
        await run(desk, "say forty-two")
        shown = await desk.client.wait_for_method("window/showMessage")
        assert shown["params"] == {"type": 3, "message": "forty-two"}
        desk.client.messages.clear()
        await run(desk, "notice no {room} left")
        shown = await desk.client.wait_for_method("window/showMessage")
        assert shown["params"] == {"type": 2, "message": "no {room} left"}
        await ended(desk)
        desk.client.messages.clear()
        await run(desk, "fail")
        shown = await desk.client.wait_for_method("window/showMessage")
        assert shown["params"] == {"type": 1, "message": "Failed: The model is away."}


async def test_an_edit_goes_through_the_editor_and_to_the_disk(open_desk: Open) -> None:
    async with open_desk(ours=False) as desk:
        with_progress(desk)
        path = put(desk.folder / "a.txt", "one\n")
        uri = await desk.editor.open(path)
        await run(desk, f"edit {path} one two")
        assert await ended(desk) == "Done"
        assert (desk.editor.texts[uri], get(path)) == ("two\n", "two\n")
        (report,) = [
            value["value"]["message"]
            for value in desk.client.named("$/progress")
            if value["value"]["kind"] == "report"
        ]
        assert report == f"Edit {path}"
        lenses = await desk.client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        show = lenses[2]["command"]
        assert show["command"] == "sidelight.showDiff"
        command = {"command": show["command"], "arguments": show["arguments"]}
        await desk.client.ask("workspace/executeCommand", command)
        shown = desk.client.named("window/showDocument")[-1]
        assert get(desk.editor.path(shown["uri"])) == "```diff\n-one\n+two\n```\n"


async def test_a_task_is_stopped_by_command_and_by_its_progress(open_desk: Open) -> None:
    async with open_desk(ours=False) as desk:
        with_progress(desk)
        await run(desk, "wait")
        begun = await desk.client.wait_for_method("$/progress")
        await run(desk, "say second")
        shown = await desk.client.wait_for_method("window/showMessage")
        assert shown["params"]["message"] == "A task is running already; stop it first."
        token = {"token": begun["params"]["token"]}
        await desk.client.notify("window/workDoneProgress/cancel", token)
        assert await ended(desk) == "Stopped"
        desk.client.messages.clear()
        await run(desk, "wait")
        await desk.client.wait_for_method("$/progress")
        uri = await desk.editor.open(put(desk.folder / "a.txt", "a\n"))
        place = {"line": 0, "character": 0}
        actions = await desk.client.ask(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": uri},
                "range": {"start": place, "end": place},
                "context": {"diagnostics": []},
            },
        )
        assert [one["title"] for one in actions] == ["Sidelight: stop the agent"]
        await desk.client.ask("workspace/executeCommand", {"command": "sidelight.stop"})
        assert await ended(desk) == "Stopped"
        await desk.client.notify("window/workDoneProgress/cancel", {"token": "long gone"})
        assert await desk.client.end() == 0
        assert desk.client.stderr == b""


async def test_explain_runs_a_turn_with_the_selection(open_desk: Open) -> None:
    async with open_desk(ours=False, locale="zh-CN") as desk:
        with_progress(desk)
        uri = await desk.editor.open(put(desk.folder / "a.py", "a = 1\nb = 2\n"))
        target = {
            "uri": uri,
            "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 5}},
        }
        command = {"command": "sidelight.explain", "arguments": [target]}
        await desk.client.ask("workspace/executeCommand", command)
        shown = await desk.client.wait_for_method("window/showDocument")
        assert get(desk.editor.path(shown["params"]["uri"])) == (
            f'解释这段代码。\n<editor_context uri="{uri}#L2-L2">\nb = 2\n\n</editor_context>\n'
        )
        command = {"command": "sidelight.addToChat", "arguments": [target]}
        answer = await desk.client.answer_to(
            await desk.client.begin("workspace/executeCommand", command)
        )
        assert "no chat panel" in answer["error"]["message"]


@pytest.mark.req("EDITOR-06")
@pytest.mark.parametrize(
    ("picked", "word"),
    [
        ({"title": "Allow once"}, "allow"),
        ({"title": "Allow for this session: Bash(make x)"}, "allow"),
        ({"title": "Deny"}, "deny"),
        ({"title": "something else"}, "deny"),
        (None, "deny"),
    ],
)
async def test_a_question_is_a_message_and_only_a_known_answer_is_a_yes(
    open_desk: Open, picked: object, word: str
) -> None:
    async with open_desk(ours=False) as desk:
        with_progress(desk)

        async def pick(_: Any) -> Any:
            return picked

        desk.client.answers["window/showMessageRequest"] = pick
        await run(desk, "ask make x")
        assert await ended(desk) == "Done"
        (asked,) = desk.client.named("window/showMessageRequest")
        assert asked == {
            "type": 2,
            "message": "Bash:\nmake x\nWhy: No rule allows it.",
            "actions": [
                {"title": "Allow once"},
                {"title": "Allow for this session: Bash(make x)"},
                {"title": "Allow in this project: Bash(make x)"},
                {"title": "Always allow: Bash(make x)"},
                {"title": "Deny"},
            ],
        }
        shown = await desk.client.wait_for_method("window/showMessage")
        assert shown["params"]["message"] == word


async def test_an_editor_that_cannot_ask_is_a_no_at_once_and_not_asked_again(
    open_desk: Open,
) -> None:
    """B166."""
    async with open_desk(ours=False) as desk:
        with_progress(desk)
        await run(desk, "ask make")
        assert await ended(desk) == "Done"
        assert len(desk.client.named("window/showMessageRequest")) == 1
        desk.client.messages.clear()
        await run(desk, "ask make")
        assert await ended(desk) == "Done"
        assert desk.client.named("window/showMessageRequest") == []


async def test_a_question_is_closed_when_its_task_is_stopped(open_desk: Open) -> None:
    async with open_desk(ours=False) as desk:
        with_progress(desk)
        desk.client.answers["window/showMessageRequest"] = silence
        await run(desk, "ask make")
        question = await desk.client.wait_for_method("window/showMessageRequest")
        await desk.client.ask("workspace/executeCommand", {"command": "sidelight.stop"})
        cancelled = await desk.client.wait_for_method("$/cancelRequest")
        assert cancelled["params"] == {"id": question["id"]}
        assert await ended(desk) == "Stopped"
