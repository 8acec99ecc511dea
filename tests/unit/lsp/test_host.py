"""Questions, notices and watching, over the protocol."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.content import ToolUse
from sidelight.core.decision import Reason
from sidelight.core.errors import HostError
from sidelight.core.host import (
    FileEdit,
    PermissionPrompt,
    PermissionReply,
    TextEdit,
    UserOption,
    UserQuestion,
)
from sidelight.core.ledger import digest_of
from tests.fakes.editor import PLAIN, silence
from tests.unit.lsp.conftest import World

pytestmark = pytest.mark.anyio
Make = Callable[..., AbstractAsyncContextManager[World]]


def prompt(command: str = "make", *edits: FileEdit) -> PermissionPrompt:
    return PermissionPrompt(
        id=f"p-{command}",
        call=ToolUse(id=f"t-{command}", name="Bash", input={"command": command}),
        title="Run it",
        reason=Reason(layer="mode"),
        preview=edits,
    )


async def test_messages_with_buttons_come_one_after_the_other(make: Make) -> None:
    """A second one would lie over the first, which is then never answered."""
    async with make(ours=False) as world:
        open_now, most = 0, 0

        async def pick(_: Any) -> Any:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            await anyio.lowlevel.checkpoint()
            open_now -= 1
            return {"title": "Allow once"}

        world.editor.client.answers["window/showMessageRequest"] = pick
        replies: list[str] = []

        async def ask(command: str) -> None:
            replies.append((await world.host.ask_permission(prompt(command))).behavior)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for command in "abc":
                    tasks.start_soon(ask, command)
        assert replies == ["allow"] * 3
        assert most == 1


async def test_nobody_there_is_a_no_and_the_next_question_does_not_wait(make: Make) -> None:
    """B166: the second question is answered without another wait."""
    async with make(ours=False, patience=0.05) as world:
        world.editor.client.answers["window/showMessageRequest"] = silence
        with anyio.fail_after(5):
            first = await world.host.ask_permission(prompt("a"))
            second = await world.host.ask_permission(prompt("b"))
        assert first == PermissionReply(behavior="deny")
        assert second.behavior == "deny"
        assert "This editor shows no questions" in second.feedback
        assert len(world.editor.client.named("window/showMessageRequest")) == 1
        await world.editor.client.wait_for_method("$/cancelRequest")


async def test_a_question_after_a_cancelled_one_is_asked(make: Make) -> None:
    """B047: the late answer to the first belongs to nobody."""
    async with make() as world:
        late = anyio.Event()

        async def answer(params: Any) -> Any:
            if params["toolCall"]["toolCallId"] == "t-a":
                await late.wait()
                return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
            late.set()
            await anyio.lowlevel.checkpoint()
            return {"outcome": {"outcome": "selected", "optionId": "reject_once"}}

        world.editor.client.answers["session/request_permission"] = answer
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(world.host.ask_permission, prompt("a"))
            await world.editor.client.wait_for_method("session/request_permission")
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            reply = await world.host.ask_permission(prompt("b"))
        assert reply.behavior == "deny"


@pytest.mark.parametrize("answer", [None, {}, {"outcome": "yes"}, {"outcome": {"outcome": "ok"}}])
async def test_an_answer_of_another_shape_is_a_no(make: Make, answer: object) -> None:
    async with make() as world:

        async def give(_: Any) -> Any:
            return answer

        world.editor.client.answers["session/request_permission"] = give
        with anyio.fail_after(5):
            assert await world.host.ask_permission(prompt()) == PermissionReply(behavior="deny")


@pytest.mark.parametrize("old", ["b", "b\nc\n"], ids=["one line", "two lines"])
async def test_edits_of_any_shape_are_shown_as_a_diff_of_the_buffer(
    make: Make, tmp_path: Path, old: str
) -> None:
    """B055; the base is the unsaved text."""
    async with make() as world:
        path = tmp_path / "a.txt"
        world.server.buffers.open(path.as_uri(), 1, "a\nb\nc\n", "text")

        async def deny(_: Any) -> Any:
            return {"outcome": {"outcome": "selected", "optionId": "reject_once"}}

        world.editor.client.answers["session/request_permission"] = deny
        part = TextEdit(start=2, end=2 + len(old), new_text="B")
        edit = FileEdit(path=str(path), base=digest_of("a\nb\nc\n"), edits=(part,))
        with anyio.fail_after(5):
            await world.host.ask_permission(prompt("edit", edit))
        (asked,) = world.editor.client.named("session/request_permission")
        detail = asked["_meta"]["sidelight"]
        assert detail["kind"] == "edit"
        assert [line["text"] for line in detail["diffs"][0]["lines"] if line["sign"] == "+"] == [
            "B"
        ]


async def test_a_question_to_an_editor_that_is_gone_raises(make: Make) -> None:
    async with make() as world:
        world.server.protocol.lose_client()
        with pytest.raises(HostError, match="the editor is gone"):
            await world.host.ask_permission(prompt())


async def test_notices_go_to_the_panel_or_become_messages(make: Make) -> None:
    async with make() as world:
        await world.host.notify("warning", "careful")
        told = await world.editor.client.wait_for_method("_sidelight/notice")
        assert told["params"] == {"sessionId": "s1", "severity": "warning", "text": "careful"}
    async with make(ours=False) as world:
        await world.host.notify("error", "broken")
        shown = await world.editor.client.wait_for_method("window/showMessage")
        assert shown["params"] == {"type": 1, "message": "broken"}


async def nothing(_: Any) -> Any:
    return None


async def test_a_watch_list_replaces_the_one_before(make: Make) -> None:
    async with make() as world:
        client = world.editor.client
        client.answers["client/registerCapability"] = nothing
        client.answers["client/unregisterCapability"] = nothing
        with anyio.fail_after(5):
            await world.host.watch(("/w/.env", "/w/src/[id]/**/*.py", "/w/.env"))
            await world.host.watch(("/w/.env", "/w/src/[id]/**/*.py"))
            await world.host.watch(())
        (registered,) = client.named("client/registerCapability")
        (registration,) = registered["registrations"]
        assert registration["method"] == "workspace/didChangeWatchedFiles"
        assert [one["globPattern"] for one in registration["registerOptions"]["watchers"]] == [
            {"baseUri": "file:///w", "pattern": ".env"},
            {"baseUri": "file:///w/src/%5Bid%5D", "pattern": "**/*.py"},
        ]
        (unregistered,) = client.named("client/unregisterCapability")
        assert [one["id"] for one in unregistered["unregisterations"]] == [registration["id"]]


async def test_an_editor_that_watches_nothing_is_logged(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    """B137: no watcher is no reason to fail."""
    async with make(capabilities={}) as world:
        await world.host.watch(("/w/a",))
        assert world.editor.client.named("client/registerCapability") == []
        assert "only saves are seen" in caplog.text
    async with make(ours=False, capabilities=PLAIN) as world:
        with anyio.fail_after(5):
            await world.host.watch(("/w/a",))
        assert "does not watch 1 paths: no client/registerCapability here" in caplog.text


QUESTION = UserQuestion(
    id="q-1",
    title="Go on above {limit}?",
    detail="It cost {spent}.",
    options=(
        UserOption(id="more", label="Go on up to {next}"),
        UserOption(id="stop", label="Stop"),
    ),
    fields={"limit": "$1.00", "spent": "$1.02", "next": "$2.00"},
)


async def test_a_question_with_answers_of_its_own_is_a_card_in_our_panel(make: Make) -> None:
    async with make() as world:

        async def pick(_: Any) -> Any:
            return {"outcome": {"outcome": "selected", "optionId": "more"}}

        world.editor.client.answers["session/request_permission"] = pick
        with anyio.fail_after(5):
            assert await world.host.ask_user(QUESTION) == "more"
        (asked,) = world.editor.client.named("session/request_permission")
        asked.pop("sessionId")
        assert asked == {
            "toolCall": {
                "toolCallId": "q-1",
                "title": "Go on above $1.00?",
                "kind": "other",
                "status": "pending",
                "rawInput": {},
                "locations": [],
            },
            "options": [
                {"optionId": "more", "name": "Go on up to $2.00", "kind": "allow_once"},
                {"optionId": "stop", "name": "Stop", "kind": "reject_once"},
            ],
            "_meta": {
                "sidelight": {
                    "id": "q-1",
                    "kind": "other",
                    "tool": "",
                    "title": "Go on above $1.00?",
                    "why": "It cost $1.02.",
                    "dangerous": False,
                    "effects": [],
                    "diffs": [],
                    "rules": [],
                    "rulesEditable": False,
                }
            },
        }


@pytest.mark.parametrize("picked", [{"title": "Go on up to $2.00"}, {"title": "Else"}, None])
async def test_a_question_is_a_message_with_its_answers_as_buttons_elsewhere(
    make: Make, picked: Any
) -> None:
    async with make(ours=False) as world:

        async def pick(_: Any) -> Any:
            return picked

        world.editor.client.answers["window/showMessageRequest"] = pick
        with anyio.fail_after(5):
            chosen = await world.host.ask_user(QUESTION)
        assert chosen == ("more" if picked == {"title": "Go on up to $2.00"} else None)
        assert world.editor.client.named("window/showMessageRequest") == [
            {
                "type": 2,
                "message": "Go on above $1.00?\nIt cost $1.02.",
                "actions": [{"title": "Go on up to $2.00"}, {"title": "Stop"}],
            }
        ]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "selected", "optionId": "allow_once"}},
    ],
)
async def test_no_answer_to_a_question_is_none(make: Make, answer: object) -> None:
    async with make() as world:

        async def give(_: Any) -> Any:
            return answer

        world.editor.client.answers["session/request_permission"] = give
        with anyio.fail_after(5):
            assert await world.host.ask_user(QUESTION) is None


async def test_a_question_with_answers_to_an_editor_that_is_gone_raises(make: Make) -> None:
    async with make() as world:
        world.server.protocol.lose_client()
        with pytest.raises(HostError, match="the editor is gone"):
            await world.host.ask_user(QUESTION)
