"""The small controls over the wire: waiting prompts, one call, redo, rules kept from a dialog."""

import json
import os
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_agent_in_editor import BEFORE, agent, allow, edit, put, read
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import gate, reply, text, tool_use

pytestmark = pytest.mark.anyio


def shell(command: str) -> Any:
    return tool_use("Bash", {"command": command, "description": "a test"})


async def queued(desk: Desk, count: int) -> list[Any]:
    """The prompts that wait, once they are so many."""
    message = await desk.client.wait_for(
        lambda one: (
            one.get("method") == "_sidelight/state"
            and len(one["params"].get("queued", [])) == count
            and one["params"]["state"] == "running"
        )
    )
    return message["params"]["queued"]


async def test_a_prompt_that_waits_is_edited_another_taken_back_and_only_the_new_words_are_sent(
    tmp_path: Path,
) -> None:
    script = [reply(text("half", gate("more"), "."), shell("true")), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            first = await desk.prompt(session, "first")
            await double.until_gate("more")
            second = await desk.prompt(session, "second", messageId="m2")
            third = await desk.prompt(session, "third", messageId="m3")
            assert await queued(desk, 2) == [
                {"id": "m2", "text": "second"},
                {"id": "m3", "text": "third"},
            ]
            change = {"sessionId": session, "id": "m2", "text": "better words"}
            assert await desk.client.ask("_sidelight/queue_edit", change) == {"done": True}
            gone = {"sessionId": session, "id": "m3"}
            assert await desk.client.ask("_sidelight/queue_remove", gone) == {"done": True}
            assert await desk.client.ask("_sidelight/queue_remove", gone) == {"done": False}
            assert desk.client.named("_sidelight/state")[-1]["queued"] == [
                {"id": "m2", "text": "better words"}
            ]
            double.open("more")
            for turn, reason in ((first, "end_turn"), (second, "end_turn"), (third, "cancelled")):
                answer = await desk.client.answer_to(turn)
                assert answer["result"] == {"stopReason": reason}
            assert await desk.client.ask("_sidelight/queue_edit", change) == {"done": False}
            sent = json.dumps([request.messages for request in double.requests])
            assert "better words" in sent
            assert '"second"' not in sent
            assert "third" not in sent


async def test_a_prompt_without_words_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with running_double([]) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            change = {"sessionId": session, "id": "m2", "text": " "}
            answer = await desk.client.answer_to(
                await desk.client.begin("_sidelight/queue_edit", change)
            )
            assert answer["error"]["message"] == (
                "A prompt without words cannot be sent; remove it instead."
            )


async def test_one_running_command_is_stopped_with_its_children_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    command = f"sleep 600 & (echo $$ $! > {pipe}); wait"
    script = [reply(shell(command)), reply(text("I see."))]
    with running_double(script) as double:
        async with agent(tmp_path, double, permissionMode="bypassPermissions") as desk:
            session = await desk.new_session()
            turn = await desk.prompt(session, "run it")
            call = (await desk.wait_for_update("tool_call"))["toolCallId"]
            with anyio.fail_after(10):
                said = await anyio.Path(pipe).read_text()
            ends = [os.pidfd_open(int(pid)) for pid in said.split()]
            stop = {"sessionId": session, "toolCallId": call}
            assert await desk.client.ask("_sidelight/stop_call", stop) == {"done": True}
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "end_turn"}
            assert await desk.client.ask("_sidelight/stop_call", stop) == {"done": False}
            (told,) = double.requests[-1].tool_results.values()
            assert told.startswith("The user stopped this call while it ran.")
            for end in ends:
                with anyio.fail_after(5):
                    await anyio.wait_readable(end)  # readable once the process has ended
                os.close(end)
            last = desk.updates("tool_call_update")[-1]
            assert last["_meta"]["sidelight"]["outcome"] == "stopped"


async def test_a_running_command_is_moved_to_the_background_shown_and_stopped_there(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    command = f"echo begun; echo $$ > {pipe}; sleep 600"
    script = [reply(shell(command)), reply(text("It runs on."))]
    with running_double(script) as double:
        async with agent(tmp_path, double, permissionMode="bypassPermissions") as desk:
            session = await desk.new_session()
            turn = await desk.prompt(session, "run it")
            call = (await desk.wait_for_update("tool_call"))["toolCallId"]
            with anyio.fail_after(10):
                end = os.pidfd_open(int(await anyio.Path(pipe).read_text()))
            await desk.client.wait_for(lambda one: "begun" in json.dumps(one))
            move = {"sessionId": session, "toolCallId": call}
            assert await desk.client.ask("_sidelight/move_call", move) == {"done": True}
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "end_turn"}
            assert await desk.client.ask("_sidelight/move_call", move) == {"done": False}
            (told,) = double.requests[-1].tool_results.values()
            assert told.startswith("The user moved the command to the background; it goes on as")
            (task,) = desk.client.named("_sidelight/tasks")[-1]["tasks"]
            assert (task["id"], task["command"], task["toolUseId"]) == ("s1", command, call)
            stop = {"sessionId": session, "id": "s1"}
            assert await desk.client.ask("_sidelight/stop_task", stop) == {"done": True}
            with anyio.fail_after(5):
                await anyio.wait_readable(end)
            os.close(end)
            assert await desk.client.ask("_sidelight/stop_task", stop) == {"done": False}
            gone: Any = {"sessionId": session, "tasks": []}
            await desk.client.wait_for(lambda one: one.get("params") == gone)


async def test_a_call_that_is_stopped_at_its_question_closes_it_and_the_others_run(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt")
    script = [reply(read(path), shell("./never")), reply(text("I see."))]
    asked = anyio.Event()

    async def wait(params: Any) -> object:
        asked.set()
        await anyio.sleep_forever()

    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            desk.client.answers["session/request_permission"] = wait
            session = await desk.new_session()
            turn = await desk.prompt(session, "run it")
            with anyio.fail_after(10):
                await asked.wait()
            (question,) = desk.client.named("session/request_permission")
            stop = {"sessionId": session, "toolCallId": question["toolCall"]["toolCallId"]}
            assert await desk.client.ask("_sidelight/stop_call", stop) == {"done": True}
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "end_turn"}
            first, second = double.requests[-1].tool_results.values()
            assert "three" in first
            assert second.startswith("The user stopped this call")
            states = [state["state"] for state in desk.client.named("_sidelight/state")]
            assert [state for state, _ in groupby(states)] == [
                "running",
                "requires_action",
                "running",
                "idle",
            ]


async def changed(desk: Desk, double: Double, path: Path) -> str:
    """A session in which the agent changed two places of the file."""
    allow(desk)
    session = await desk.new_session()
    await desk.ask(session, "capitals please")
    assert double.refusals == []
    return session


def changing(path: Path, *more: Any) -> list[Any]:
    return [
        reply(read(path)),
        reply(edit(path, "one", "ONE"), edit(path, "six", "SIX")),
        reply(text("Done.")),
        *more,
    ]


async def test_all_that_was_undone_is_put_back_and_the_model_hears_nothing_of_it(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt")
    after = BEFORE.replace("one", "ONE").replace("six", "SIX")
    with running_double(changing(path, reply(text("I see.")))) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path)
            session = await changed(desk, double, path)
            hunks = desk.client.named("_sidelight/changes")[-1]["files"][0]["hunks"]
            undo = {"sessionId": session, "action": "undo"}
            assert await desk.client.ask("_sidelight/review", undo) == {"done": 2}
            assert path.read_text() == BEFORE
            told = desk.client.named("_sidelight/changes")[-1]
            assert told == {"sessionId": session, "files": [], "redo": 2}
            redo = {"sessionId": session, "action": "redo"}
            assert await desk.client.ask("_sidelight/review", redo) == {"done": 2}
            assert path.read_text() == after
            told = desk.client.named("_sidelight/changes")[-1]
            assert (told["files"][0]["hunks"], told["redo"]) == (hunks, 0)
            original = await desk.client.ask("_sidelight/original", {"uri": uri})
            assert original == {"text": BEFORE}
            await desk.ask(session, "and now?")
            assert "undid" not in json.dumps(double.requests[-1].messages)


async def test_an_undo_of_a_file_that_changed_since_is_not_put_back_over_it(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt")
    with running_double(changing(path)) as double:
        async with agent(tmp_path, double) as desk:
            session = await changed(desk, double, path)
            undo = {"sessionId": session, "action": "undo"}
            assert await desk.client.ask("_sidelight/review", undo) == {"done": 2}
            put(path, "mine\n")
            redo = {"sessionId": session, "action": "redo"}
            answer = await desk.client.ask("_sidelight/review", redo)
            assert answer["done"] == 0
            assert str(path) in answer["problem"]
            assert path.read_text() == "mine\n"


async def test_a_created_file_that_was_undone_is_there_again_after_redo(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    write = tool_use("Write", {"file_path": str(path), "content": "fresh\n"})
    script = [reply(write), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await changed(desk, double, path)
            undo = {"sessionId": session, "action": "undo"}
            assert await desk.client.ask("_sidelight/review", undo) == {"done": 1}
            assert not path.exists()
            redo = {"sessionId": session, "action": "redo"}
            assert await desk.client.ask("_sidelight/review", redo) == {"done": 1}
            assert path.read_text() == "fresh\n"
            (file,) = desk.client.named("_sidelight/changes")[-1]["files"]
            assert file["creates"] is True


def answering(desk: Desk, option: str, rules: list[str]) -> list[Any]:
    """Answer permission requests with an option and edited rules; the requests."""
    asked: list[Any] = []

    async def answer(params: Any) -> object:
        asked.append(params["_meta"]["sidelight"])
        ours = {"sidelight": {"rules": rules}}
        return {"outcome": {"outcome": "selected", "optionId": option, "_meta": ours}}

    desk.client.answers["session/request_permission"] = answer
    return asked


def user_settings() -> Path:
    return Path(os.environ["HOME"]) / ".claude" / "settings.json"


async def test_a_rule_edited_in_the_dialog_is_kept_for_the_user_and_holds_at_once(
    tmp_path: Path,
) -> None:
    put(tmp_path / "make.sh", "#!/bin/sh\ntrue\n").chmod(0o755)
    compound = "cd . && ./make.sh fast"
    script = [reply(shell(compound)), reply(shell("./make.sh fast")), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            asked = answering(desk, "allow_always", ["Bash(./make.sh fast)"])
            await desk.ask(await desk.new_session(), "make it")
            (detail,) = asked
            assert (detail["command"], detail["cause"]) == (compound, "./make.sh fast")
            assert detail["rules"] == ["Bash(./make.sh *)"]
    saved = json.loads(user_settings().read_text())
    assert saved == {"permissions": {"allow": ["Bash(./make.sh fast)"]}}


async def test_an_edited_rule_that_lets_too_much_through_is_said_and_not_kept(
    tmp_path: Path,
) -> None:
    put(tmp_path / "make.sh", "#!/bin/sh\ntrue\n").chmod(0o755)
    script = [reply(shell("./make.sh")), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            asked = answering(desk, "allow_always", ["Bash(*)"])
            await desk.ask(await desk.new_session(), "make it")
            assert len(asked) == 1
            (notice,) = desk.client.named("_sidelight/notice")
            assert notice["text"] == (
                "The rule Bash(*) was not kept: It covers every use of Bash; write it into a "
                "settings file if it is meant. The call was allowed once."
            )
            assert list(double.requests[-1].tool_results.values())[0].strip() in {"", "(no output)"}
            check = await desk.client.ask("_sidelight/check_rule", {"rule": "Bash(git *)"})
            assert check["problem"].startswith("The * may stand only behind the subcommand of git")
            assert await desk.client.ask("_sidelight/check_rule", {"rule": "Bash(git log *)"}) == {}
    assert not user_settings().exists()


async def test_a_stored_review_that_cannot_be_read_is_said_when_the_conversation_is_opened(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt")
    with running_double(changing(path)) as double:
        async with agent(tmp_path, double) as desk:
            session = await changed(desk, double, path)
        (stored,) = (Path(os.environ["SIDELIGHT_HOME"]) / "review").glob("*/*.json")
        stored.write_bytes(stored.read_bytes()[:-9])
        async with agent(tmp_path, double) as desk:
            loaded: Any = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
            await desk.client.ask("session/load", loaded)
            (notice,) = desk.client.named("_sidelight/notice")
            kept = stored.with_suffix(".unread")
            assert notice["text"].startswith("What waited for review in one file could not be read")
            assert f"It is kept as {kept}; " in notice["text"]
            assert kept.exists()


@pytest.mark.req("LOOP-12")
async def test_a_turn_is_held_between_two_steps_and_goes_on_when_it_may(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt")
    script = [reply(read(path), gate("asked")), reply(text("Done.")), reply(text("Again."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            hold = {"sessionId": session, "paused": True}
            assert await desk.client.ask("_sidelight/pause", hold) == {"done": False}
            turn = await desk.prompt(session, "look at it")
            await double.until_gate("asked")
            assert await desk.client.ask("_sidelight/pause", hold) == {"done": True}
            assert desk.client.named("_sidelight/state")[-1]["paused"] is True
            double.open("asked")
            done = await desk.client.wait_for(
                lambda one: (
                    one.get("method") == "session/update"
                    and one["params"]["update"].get("status") == "completed"
                )
            )
            assert done is not None
            assert len(double.requests) == 1
            assert await desk.client.ask("_sidelight/pause", {**hold, "paused": False}) == {
                "done": True
            }
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "end_turn"}
            states = [state["paused"] for state in desk.client.named("_sidelight/state")]
            assert [now for now, before in zip(states[1:], states, strict=False) if now != before]
            assert states[-1] is False
            assert await desk.ask(session, "again") == {"stopReason": "end_turn"}


async def test_a_held_turn_that_is_stopped_leaves_the_next_one_free(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt")
    script = [reply(read(path), gate("asked")), reply(text("Again."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            turn = await desk.prompt(session, "look at it")
            await double.until_gate("asked")
            hold = {"sessionId": session, "paused": True}
            assert await desk.client.ask("_sidelight/pause", hold) == {"done": True}
            double.open("asked")
            await desk.client.notify("session/cancel", {"sessionId": session})
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "cancelled"}
            assert await desk.ask(session, "again") == {"stopReason": "end_turn"}
