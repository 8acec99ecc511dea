"""The whole product over stdio: the real server and loop, a scripted model, an editor before it."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import ROOT, Desk
from tests.fakes.editor import OURS, FakeEditor
from tests.fakes.lsp_client import lsp_client
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import gate, reply, text, tool_use

pytestmark = pytest.mark.anyio

SAID = json.dumps({"systemMessage": "the hook ran"})
BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\n"


@asynccontextmanager
async def agent(folder: Path, double: Double | None, **options: Any) -> AsyncGenerator[Desk]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
    if double is not None:
        env |= {"ANTHROPIC_BASE_URL": double.base_url, "ANTHROPIC_API_KEY": double.api_key}
    command = [sys.executable, "-P", "-m", "sidelight", "lsp"]
    async with lsp_client(command, env) as client:
        editor = FakeEditor(client)
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        chosen = {"trusted": True, **options}
        await client.initialize(OURS, workspaceFolders=folders, initializationOptions=chosen)
        yield Desk(client, editor, folder)


def allow(desk: Desk, option: str = "allow_once") -> list[Any]:
    """Answer every permission request with an option; the requests, as they come."""
    asked: list[Any] = []

    async def answer(params: Any) -> object:
        asked.append(params)
        return {"outcome": {"outcome": "selected", "optionId": option}}

    desk.client.answers["session/request_permission"] = answer
    return asked


def edit(path: Path, old: str, new: str) -> Any:
    return tool_use("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


def read(path: Path) -> Any:
    return tool_use("Read", {"file_path": str(path)})


def transcripts() -> bytes:
    """Everything that was stored of any conversation."""
    files = Path(os.environ["SIDELIGHT_HOME"]).rglob("*.jsonl")
    return b"".join(file.read_bytes() for file in files)


def put(path: Path, content: str = BEFORE) -> Path:
    path.write_bytes(content.encode())
    return path


async def test_an_edit_is_asked_applied_saved_and_one_of_two_hunks_is_undone(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt")
    script = [
        reply(text("I read it."), read(path)),
        reply(edit(path, "one", "ONE"), edit(path, "six", "SIX")),
        reply(text("Done.")),
        reply(text("I see.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path)
            asked = allow(desk)
            session = await desk.new_session()
            assert await desk.ask(session, "capitals please") == {"stopReason": "end_turn"}
            assert path.read_text() == "ONE\ntwo\nthree\nfour\nfive\nSIX\n"
            assert len(asked) == 2
            detail = asked[0]["_meta"]["sidelight"]
            assert (detail["kind"], detail["tool"]) == ("edit", "Edit")
            (file,) = desk.client.named("_sidelight/changes")[-1]["files"]
            assert [hunk["line"] for hunk in file["hunks"]] == [1, 6]
            lenses = await desk.client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
            assert len(lenses) >= 4
            review = {"sessionId": session, "action": "undo", "hunkId": file["hunks"][0]["id"]}
            assert await desk.client.ask("_sidelight/review", review) == {"done": 1}
            assert path.read_text() == "one\ntwo\nthree\nfour\nfive\nSIX\n"
            original = await desk.client.ask("_sidelight/original", {"uri": uri})
            assert original == {"text": BEFORE}
            keep = {"sessionId": session, "action": "keep", "hunkId": file["hunks"][1]["id"]}
            assert await desk.client.ask("_sidelight/review", keep) == {"done": 1}
            assert desk.client.named("_sidelight/changes")[-1]["files"] == []
            await desk.ask(session, "and now?")
            told = json.dumps(double.requests[-1].messages[-1])
            assert "The user undid a change of yours" in told
            assert double.prefix_problems() == []
            assert await desk.client.end() == 0


async def test_a_denial_reaches_the_model_only_as_a_denial_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt")
    script = [reply(read(path)), reply(edit(path, "one", "ONE"))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            allow(desk, "reject_once")
            session = await desk.new_session()
            await desk.ask(session, "capitals please")
            assert path.read_text() == BEFORE
            assert desk.updates("tool_call_update")[-1]["status"] == "failed"


async def test_a_save_fires_the_hook_once_although_the_watcher_reports_it_too(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.txt"
    path = put(tmp_path / "a.txt")
    (tmp_path / ".claude").mkdir()
    hook = {"type": "command", "command": f"cat >> {log}; echo '{SAID}'"}
    settings = {"hooks": {"FileChanged": [{"matcher": "a.txt", "hooks": [hook]}]}}
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(settings))
    with running_double([]) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path)
            session = await desk.new_session()
            await desk.editor.write(uri, "changed\n")
            await desk.editor.save(uri)
            await desk.editor.watched(path)
            notice = await desk.client.wait_for_method("_sidelight/notice")
            assert notice["params"]["text"] == "the hook ran"
            await desk.editor.watched(path)
            mode = {"sessionId": session, "modeId": "plan"}
            await desk.client.ask("session/set_mode", mode)
            told = json.loads(log.read_text())  # twice written, it would not be JSON
            assert (told["hook_event_name"], told["event"]) == ("FileChanged", "change")
            assert (told["file_path"], told["session_id"]) == (str(path), session)


async def test_stopping_while_the_model_speaks_answers_cancelled_and_the_next_turn_works(
    tmp_path: Path,
) -> None:
    script = [reply(text("Thinking about it", gate("never"))), reply(text("Hello."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            waiting = await desk.prompt(session, "go")
            await desk.wait_for_update("agent_message_chunk")
            await desk.client.notify("session/cancel", {"sessionId": session})
            answer = await desk.client.answer_to(waiting)
            assert answer["result"] == {"stopReason": "cancelled"}
            assert await desk.ask(session, "again") == {"stopReason": "end_turn"}


async def test_a_server_killed_in_mid_turn_has_lost_nothing_that_was_said(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt")
    script = [
        reply(text("Reading."), read(path)),
        reply(text("Still", gate("never"))),
        reply(text("Back.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            await desk.prompt(session, "look at it")
            await double.until_requests(2)
            desk.client.process.kill()
        async with agent(tmp_path, double) as desk:
            listed = await desk.client.ask("session/list", {"cwd": str(tmp_path)})
            assert [one["title"] for one in listed["sessions"]] == ["look at it"]
            loaded: Any = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
            await desk.client.ask("session/load", loaded)
            (user,) = desk.updates("user_message_chunk")
            assert user["content"]["text"] == "look at it"
            assert await desk.ask(session, "go on") == {"stopReason": "end_turn"}


async def test_without_key_and_server_the_panel_hears_what_to_do(tmp_path: Path) -> None:
    async with agent(tmp_path, None) as desk:
        connection = await desk.client.ask("_sidelight/connect", {})
        assert connection["ready"] is False
        assert "ANTHROPIC_API_KEY" in connection["problem"]
        session = await desk.new_session()
        result = await desk.ask(session, "hello")
        assert "No model is set up" in result["_meta"]["sidelight"]["error"]


async def test_a_refused_key_is_said_and_another_one_goes_on_with_the_prompt_kept(
    tmp_path: Path,
) -> None:
    with running_double([reply(text("Both."))], allow_refusals=True) as double:
        key, double.api_key = double.api_key, "sk-ant-another"
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            double.api_key = key
            result = await desk.ask(session, "first words")
            error = result["_meta"]["sidelight"]["error"]
            assert "refused the key" in error
            assert "Set another key" in error
            connection = await desk.client.ask("_sidelight/connect", {"apiKey": key})
            assert connection["ready"] is True
            assert await desk.ask(session, "and now?") == {"stopReason": "end_turn"}
        said = json.dumps(double.requests[-1].messages)
        assert said.index("first words") < said.index("and now?")
        assert key.encode() not in transcripts()


async def test_a_settings_file_that_is_not_json_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{\n  "hooks": [,]\n}')
    with running_double([reply(text("Hi."))]) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            await desk.ask(session, "hello")
            (notice,) = desk.client.named("_sidelight/notice")
            assert f"{tmp_path}/.claude/settings.json:2: this is not JSON" in notice["text"]


async def test_a_hook_that_cannot_run_yet_is_said_and_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    hooks = {"PreCompact": [{"hooks": [{"type": "command", "command": "true"}]}]}
    file = tmp_path / ".claude" / "settings.json"
    file.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")
    with running_double([]) as double:
        async with agent(tmp_path, double) as desk:
            await desk.new_session()
            notice = await desk.client.wait_for_method("_sidelight/notice")
            assert notice["params"]["text"] == (
                f"The hook event PreCompact in {file} does not happen in this version."
            )


@pytest.mark.parametrize(
    ("name", "deny", "reason"),
    [
        (".env", [], "the file may hold secrets"),
        ("plan.txt", ["Read(plan.txt)"], "Read(plan.txt)"),
    ],
)
async def test_a_selection_that_must_not_be_read_does_not_go_along_and_that_is_said(
    tmp_path: Path, name: str, deny: list[str], reason: str
) -> None:
    (tmp_path / ".claude").mkdir()
    settings = json.dumps({"permissions": {"deny": deny}})
    (tmp_path / ".claude" / "settings.json").write_text(settings, encoding="utf-8")
    path = put(tmp_path / name, "TOKEN=hunter2hunter2\n")
    free = put(tmp_path / "free.txt", "in the open\n")
    with running_double([reply(text("Seen."))]) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            along = [
                {
                    "type": "resource",
                    "resource": {"uri": f"{one.as_uri()}#L1", "text": one.read_text()},
                }
                for one in (path, free)
            ]
            blocks = [*along, {"type": "text", "text": "what is this?"}]
            await desk.client.ask("session/prompt", {"sessionId": session, "prompt": blocks})
            (notice,) = desk.client.named("_sidelight/notice")
            assert notice["text"].startswith(f"{path} was not sent along: ")
            assert reason in notice["text"]
            sent = double.requests[0].raw.decode()
            assert "hunter2" not in sent
            assert "in the open" in sent
    assert b"hunter2" not in transcripts()


async def test_grep_finds_what_the_user_has_typed_and_not_saved(tmp_path: Path) -> None:
    """B034."""
    path = put(tmp_path / "a.txt")
    put(tmp_path / "b.txt")
    grep = tool_use("Grep", {"pattern": "three", "output_mode": "content"})
    with running_double([reply(grep), reply(text("Done."))]) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path)
            await desk.editor.write(uri, "one\nthree and a half\n")
            await desk.ask(await desk.new_session(), "where is three?")
            (result,) = [
                block
                for block in double.requests[-1].messages[-1]["content"]
                if block["type"] == "tool_result"
            ]
    assert result["content"] == [
        {
            "type": "text",
            "text": "a.txt:2:three and a half\nb.txt:3:three\n\n(2 matching lines in 2 files.)\n\n"
            "(Searched as open in the editor, not saved yet: a.txt.)",
        }
    ]
