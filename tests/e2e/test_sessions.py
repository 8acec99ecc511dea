"""A conversation over the wire: prompts, updates, questions, edits, review."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.fakes.editor import silence

pytestmark = pytest.mark.anyio
Open = Callable[..., AbstractAsyncContextManager[Desk]]


def put(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def get(path: Path) -> str:
    return path.read_bytes().decode()


async def test_a_prompt_is_answered_after_its_updates(open_desk: Open) -> None:
    async with open_desk() as desk:
        session = await desk.new_session()
        result = await desk.ask(session, "say hello", messageId="m1")
        assert result == {"stopReason": "end_turn"}
        (user,) = desk.updates("user_message_chunk")
        assert (user["messageId"], user["content"]["text"]) == ("m1", "say hello")
        (chunk,) = desk.updates("agent_message_chunk")
        assert chunk["content"] == {"type": "text", "text": "hello"}
        (usage,) = desk.updates("usage_update")
        assert (usage["used"], usage["size"]) == (100, 1000)
        states = [state["state"] for state in desk.client.named("_sidelight/state")]
        assert states == ["running", "idle"]
        (info,) = desk.updates("session_info_update")
        assert info["title"] == "say hello"
        assert await desk.client.end() == 0
        assert desk.client.stderr == b""


async def test_a_stream_of_deltas_becomes_few_updates_and_keeps_every_word(
    open_desk: Open,
) -> None:
    async with open_desk() as desk:
        session = await desk.new_session()
        await desk.ask(session, "stream 5000")
        chunks = desk.updates("agent_message_chunk")
        text = "".join(chunk["content"]["text"] for chunk in chunks)
        assert text == "".join(f"piece {number}\n" for number in range(5000))
        assert len(chunks) <= 5000 / 20 + 2


async def test_cancel_answers_the_prompt_as_cancelled_and_the_next_one_runs(
    open_desk: Open,
) -> None:
    async with open_desk() as desk:
        session = await desk.new_session()
        waiting = await desk.prompt(session, "wait")
        await desk.wait_for_update("agent_message_chunk")
        await desk.client.notify("session/cancel", {"sessionId": session})
        answer = await desk.client.answer_to(waiting)
        assert answer["result"] == {"stopReason": "cancelled"}
        assert await desk.ask(session, "say again") == {"stopReason": "end_turn"}


async def test_a_failed_turn_says_why_in_the_answer_and_the_state(open_desk: Open) -> None:
    async with open_desk() as desk:
        session = await desk.new_session()
        result = await desk.ask(session, "fail")
        assert result == {
            "stopReason": "end_turn",
            "_meta": {"sidelight": {"error": "The model is away."}},
        }
        assert desk.client.named("_sidelight/state")[-1]["error"] == "The model is away."


async def test_wrong_params_are_named_and_secrets_are_not_repeated(open_desk: Open) -> None:
    async with open_desk() as desk:
        answer = await desk.client.answer_to(await desk.client.begin("session/new", {"mcp": 1}))
        assert answer["error"] == {
            "code": -32602,
            "message": ("session/new: cwd: Field required; mcp: Extra inputs are not permitted"),
        }
        key = {"apiKey": ["sk-secret"]}
        answer = await desk.client.answer_to(await desk.client.begin("_sidelight/connect", key))
        assert answer["error"]["message"] == (
            "_sidelight/connect: apiKey: Input should be a valid string"
        )
        answer = await desk.client.answer_to(
            await desk.client.begin("session/new", {"cwd": "/none", "mcpServers": [], "_meta": {}})
        )
        assert answer["error"] == {"code": -32803, "message": "/none is not a folder."}
        answer = await desk.client.answer_to(await desk.prompt("nobody", "hello"))
        assert "no open conversation 'nobody'" in answer["error"]["message"]
        assert await desk.client.end() == 0
        assert b"sk-secret" not in desk.client.stderr


async def test_a_key_is_taken_and_the_connection_told(open_desk: Open) -> None:
    async with open_desk() as desk:
        answer = await desk.client.ask("_sidelight/connect", {"apiKey": "sk-secret"})
        assert answer == {
            "ready": True,
            "model": "scripted",
            "source": "a key",
            "tried": [],
            "demonstration": False,
            "models": [],
        }
        assert desk.client.named("_sidelight/connection") == [answer]


async def test_modes_are_set_by_name_and_unknown_ones_refused(open_desk: Open) -> None:
    async with open_desk() as desk:
        session = await desk.new_session()
        mode = {"sessionId": session, "modeId": "plan"}
        assert await desk.client.ask("session/set_mode", mode) == {}
        (update,) = desk.updates("current_mode_update")
        assert update == {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
        request = await desk.client.begin("session/set_mode", {**mode, "modeId": "yolo"})
        answer = await desk.client.answer_to(request)
        assert answer["error"]["message"] == (
            "There is no mode 'yolo'; pick one of ['default', 'plan']."
        )


async def test_the_model_is_chosen_between_turns_and_an_unknown_one_refused(
    open_desk: Open,
) -> None:
    async with open_desk() as desk:
        cwd: dict[str, object] = {"cwd": str(desk.folder), "mcpServers": []}
        made = await desk.client.ask("session/new", cwd)
        known = [
            {"modelId": "scripted", "name": "Scripted"},
            {"modelId": "other", "name": "Other"},
        ]
        assert made["models"] == {"currentModelId": "scripted", "availableModels": known}
        session = made["sessionId"]
        choice = {"sessionId": session, "modelId": "other"}
        waiting = await desk.prompt(session, "wait")
        await desk.wait_for_update("agent_message_chunk")
        answer = await desk.client.answer_to(await desk.client.begin("session/set_model", choice))
        assert "A turn is running" in answer["error"]["message"]
        await desk.client.notify("session/cancel", {"sessionId": session})
        await desk.client.answer_to(waiting)
        assert await desk.client.ask("session/set_model", choice) == {}
        loaded = await desk.client.ask("session/load", {**cwd, "sessionId": session})
        assert loaded["models"]["currentModelId"] == "other"
        wrong = {**choice, "modelId": "none"}
        answer = await desk.client.answer_to(await desk.client.begin("session/set_model", wrong))
        assert answer["error"]["message"] == (
            "There is no model 'none'; pick one of ['scripted', 'other']."
        )


async def test_a_conversation_is_listed_and_replayed(open_desk: Open) -> None:
    async with open_desk() as desk:
        path = put(desk.folder / "a.txt", "one\n")
        session = await desk.new_session()
        resource = {"uri": "file:///w/x.py#L1-L2", "text": "x = 1\n"}
        blocks = [{"type": "resource", "resource": resource}, {"type": "text", "text": "say hi"}]
        await desk.client.ask("session/prompt", {"sessionId": session, "prompt": blocks})
        await desk.ask(session, f"edit {path} one two")
        listed = await desk.client.ask("session/list", {"cwd": str(desk.folder)})
        assert [one["sessionId"] for one in listed["sessions"]] == [session]
        live = [params["update"] for params in desk.client.named("session/update")]
        desk.client.messages.clear()
        loaded: dict[str, object] = {
            "sessionId": session,
            "cwd": str(desk.folder),
            "mcpServers": [],
        }
        modes = await desk.client.ask("session/load", loaded)
        assert modes["modes"]["currentModeId"] == "default"
        replayed = [params["update"] for params in desk.client.named("session/update")]
        kinds = ["user_message_chunk", "agent_message_chunk"]
        assert [one for one in replayed if one["sessionUpdate"] in kinds] == [
            one for one in live if one["sessionUpdate"] in kinds
        ]
        assert {"type": "resource", "resource": resource} in [
            one.get("content") for one in replayed
        ]
        ended = [one for one in replayed if one["sessionUpdate"] == "tool_call_update"]
        assert [one["_meta"]["sidelight"]["diffs"][0]["added"] for one in ended] == [1]
        assert [one["files"][0]["path"] for one in desk.client.named("_sidelight/changes")] == [
            str(path)
        ]


async def test_a_permission_is_asked_with_all_that_a_person_needs(open_desk: Open) -> None:
    async with open_desk() as desk:

        async def allow(params: Any) -> Any:
            ours = {"feedback": "once more", "updatedInput": {"command": "make all"}}
            chosen = {"outcome": "selected", "optionId": "allow_session"}
            return {"outcome": {**chosen, "_meta": {"sidelight": ours}}}

        desk.client.answers["session/request_permission"] = allow
        session = await desk.new_session()
        await desk.ask(session, "ask make")
        (asked,) = desk.client.named("session/request_permission")
        assert asked["sessionId"] == session
        assert asked["options"] == [
            {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "allow_session", "name": "Allow for this session", "kind": "allow_always"},
            {"optionId": "allow_project", "name": "Allow in this project", "kind": "allow_always"},
            {"optionId": "allow_always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "reject_once", "name": "Deny", "kind": "reject_once"},
        ]
        detail = asked["_meta"]["sidelight"]
        assert {**detail, "id": ""} == {
            "id": "",
            "kind": "command",
            "tool": "Bash",
            "title": "Run make",
            "why": "No rule allows it.",
            "dangerous": False,
            "command": "make",
            "effects": [],
            "diffs": [],
            "rules": ["Bash(make)"],
            "rulesEditable": True,
        }
        last = desk.updates("tool_call_update")[-1]
        assert last["content"][0]["content"]["text"] == (
            "allow once more ['Bash(make)'] {'command': 'make all'}"
        )
        states = [state["state"] for state in desk.client.named("_sidelight/state")]
        assert states == ["running", "requires_action", "running", "idle"]


@pytest.mark.req("EDITOR-06")
async def test_cancelling_a_turn_closes_its_question(open_desk: Open) -> None:
    async with open_desk() as desk:
        desk.client.answers["session/request_permission"] = silence
        session = await desk.new_session()
        request = await desk.prompt(session, "ask rm")
        question = await desk.client.wait_for_method("session/request_permission")
        await desk.client.notify("session/cancel", {"sessionId": session})
        assert (await desk.client.answer_to(request))["result"] == {"stopReason": "cancelled"}
        cancelled = await desk.client.wait_for_method("$/cancelRequest")
        assert cancelled["params"] == {"id": question["id"]}


async def test_a_client_that_leaves_while_asked_ends_the_server(open_desk: Open) -> None:
    """B049, B134."""
    async with open_desk() as desk:
        desk.client.answers["session/request_permission"] = silence
        session = await desk.new_session()
        await desk.prompt(session, "ask rm")
        await desk.client.wait_for_method("session/request_permission")
        await desk.client.hang_up()
        assert await desk.client.wait_for_end() == 1


@pytest.mark.req("EDITOR-04")
async def test_hunks_are_kept_and_undone_from_their_lenses(open_desk: Open) -> None:
    async with open_desk() as desk:
        text = "".join(f"line {number}\n" for number in range(12))
        plain = put(desk.folder / "中.txt", text)
        uri = await desk.editor.open(plain)
        session = await desk.new_session()
        await desk.ask(session, f"edit {plain} 2 two")
        await desk.ask(session, f"edit {plain} 9 nine")
        lenses = await desk.client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
        titles = [lens["command"]["title"] for lens in lenses]
        assert titles == [
            *("Keep", "Undo", "Show diff", "1 of 2"),
            *("Keep", "Undo", "Show diff", "2 of 2"),
        ]
        assert [lens["range"]["start"]["line"] for lens in lenses[::4]] == [2, 9]
        assert lenses[2]["command"]["command"] == "sidelight.openDiff"
        await desk.client.wait_for_method("workspace/codeLens/refresh")
        undo, keep = lenses[1]["command"], lenses[4]["command"]
        command = {"command": undo["command"], "arguments": undo["arguments"]}
        assert await desk.client.ask("workspace/executeCommand", command) == {"done": 1}
        assert get(plain) == text.replace("line 9", "line nine")
        command = {"command": keep["command"], "arguments": keep["arguments"]}
        assert await desk.client.ask("workspace/executeCommand", command) == {"done": 1}
        assert get(plain) == text.replace("line 9", "line nine")
        changes = desk.client.named("_sidelight/changes")
        assert [len(one["files"][0]["hunks"]) if one["files"] else 0 for one in changes] == [
            *(1, 2, 1, 0)
        ]
        assert await desk.client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []


async def test_hunks_move_with_what_the_user_types(open_desk: Open) -> None:
    """B029."""
    async with open_desk() as desk:
        path = put(desk.folder / "a.txt", "a\nb\nc\n")
        uri = await desk.editor.open(path)
        session = await desk.new_session()
        await desk.ask(session, f"edit {path} c C")
        await desk.editor.write(uri, "new\nnew\na\nb\nC\n")
        await desk.client.wait_for(
            lambda one: (
                one.get("method") == "_sidelight/changes"
                and one["params"]["files"][0]["hunks"][0]["line"] == 5
            )
        )
        original = await desk.client.ask("_sidelight/original", {"uri": uri})
        assert original == {"text": "new\nnew\na\nb\nc\n"}


async def test_undo_all_brings_every_text_back(open_desk: Open) -> None:
    async with open_desk() as desk:
        path = put(desk.folder / "a.txt", "a\nb\n")
        session = await desk.new_session()
        await desk.ask(session, f"edit {path} a A")
        await desk.ask(session, f"edit {path} b B")
        assert get(path) == "A\nB\n"
        command = {"command": "sidelight.undoAll"}
        assert await desk.client.ask("workspace/executeCommand", command) == {"done": 1}
        assert get(path) == "a\nb\n"


async def test_saves_folders_and_terminals_are_passed_on(open_desk: Open) -> None:
    async with open_desk() as desk:
        session = await desk.new_session()
        path = put(desk.folder / "a.txt", "a\n")
        uri = await desk.editor.open(path)
        await desk.editor.save(uri)
        await desk.editor.watched(desk.folder / "new.txt", 1)
        await desk.editor.watched(desk.folder / "old.txt", 3)
        event = {"added": [{"uri": "file:///other%20one", "name": "o"}], "removed": []}
        await desk.client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        moved = {"oldCwd": "/a", "newCwd": "/b"}
        await desk.client.notify("_sidelight/terminal_cwd", moved)
        await desk.ask(session, "heard")
        (chunk,) = desk.updates("agent_message_chunk")
        assert chunk["content"]["text"].splitlines() == [
            f"start {[str(desk.folder)]} en",
            f"change {path}",
            f"add {desk.folder / 'new.txt'}",
            f"unlink {desk.folder / 'old.txt'}",
            "folders +['/other one'] -[]",
            "terminal /a /b",
        ]


@pytest.mark.req("EDITOR-05")
async def test_a_code_action_puts_the_selection_into_the_panel(open_desk: Open) -> None:
    async with open_desk() as desk:
        uri = await desk.editor.open(put(desk.folder / "a.py", "a = 1\nb = 2\nc = 3\n"))
        selection = {
            "start": {"line": 1, "character": 0},
            "end": {"line": 2, "character": 0},
        }
        problem = {"range": selection, "message": "b is\n not used", "severity": 2}
        params = {"textDocument": {"uri": uri}, "range": selection}
        context = {"diagnostics": [problem]}
        actions = await desk.client.ask("textDocument/codeAction", {**params, "context": context})
        assert [(one["title"], one.get("kind"), "command" in one) for one in actions] == [
            ("Sidelight: fix: b is not used", "quickfix", False),
            ("Sidelight: explain: b is not used", None, False),
            ("Sidelight: add to the chat: b is not used", None, False),
            ("Sidelight: explain the selection", None, False),
            ("Sidelight: fix the selection", "refactor.rewrite", False),
            ("Sidelight: add the selection to the chat", None, False),
            ("Sidelight: write a docstring", "refactor.rewrite", False),
            ("Sidelight: rename", "refactor.rewrite", False),
        ]
        resolved = await desk.client.ask("codeAction/resolve", actions[0])
        await desk.client.ask(
            "workspace/executeCommand",
            {
                "command": resolved["command"]["command"],
                "arguments": resolved["command"]["arguments"],
            },
        )
        assert desk.client.named("_sidelight/add_to_chat") == [
            {
                "uri": uri,
                "startLine": 2,
                "endLine": 2,
                "text": "b = 2\n",
                "prompt": "Fix this problem: b is\n not used",
                "send": True,
            }
        ]
        only = {"diagnostics": [], "only": ["quickfix"]}
        assert await desk.client.ask("textDocument/codeAction", {**params, "context": only}) == []


async def test_docstrings_and_renames_go_to_the_agent_where_there_is_one(open_desk: Open) -> None:
    async with open_desk() as desk:
        uri = await desk.editor.open(put(desk.folder / "a.py", "a = 1\n"))
        place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
        target = {"uri": uri, "range": place}
        wished = {**target, "words": "a to count"}
        for name, argument in (("document", target), ("rename", target), ("rename", wished)):
            command = {"command": f"sidelight.{name}", "arguments": [argument]}
            assert await desk.client.ask("workspace/executeCommand", command) is None
        told = desk.client.named("_sidelight/add_to_chat")
        assert [(one["text"], one["prompt"], one["send"]) for one in told] == [
            ("a = 1\n", "Document this code; change nothing else.", True),
            (
                "a = 1\n",
                "Find a clearer name for this, and rename it everywhere in the project.",
                True,
            ),
            ("a = 1\n", "Rename, everywhere in the project: a to count", True),
        ]
        assert desk.editor.edits == []
