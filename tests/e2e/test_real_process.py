"""The real server as a process: killed, stalled and stopped at the worst moments."""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.conftest import ROOT, Desk
from tests.e2e.test_agent_in_editor import agent, allow, edit, put, read
from tests.fakes.editor import OURS, silence
from tests.fakes.lsp_client import lsp_client
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import gate, reply, text, tool_use

pytestmark = pytest.mark.anyio

Moment = Callable[[Desk, Double], Awaitable[object]]


async def asked(desk: Desk, _: Double) -> None:
    await desk.client.wait_for_method("session/request_permission")


async def applying(desk: Desk, _: Double) -> None:
    await desk.client.wait_for_method("workspace/applyEdit")


MOMENTS: dict[str, tuple[Moment, tuple[str, ...]]] = {
    "before the first word": (lambda _, double: double.until_requests(1), ()),
    "in the middle of a call's arguments": (lambda _, double: double.until_gate("call"), ("a",)),
    "while the person is asked": (asked, ("a", "call")),
    "while the editor applies": (applying, ("a", "call", "allow")),
    "after the edit": (lambda _, double: double.until_gate("end"), ("a", "call", "allow", "save")),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_killed_at_any_moment_the_conversation_goes_on_with_a_history_the_api_takes(
    tmp_path: Path, moment: str
) -> None:
    wait, open_gates = MOMENTS[moment]
    path = put(tmp_path / "a.txt")
    script = [
        reply(text("Reading."), read(path), hold="a"),
        reply(text("Now the edit."), gate("call"), edit(path, "one", "ONE")),
        reply(text("Edited", gate("end"))),
    ]
    with running_double(script) as double:
        double.open(*(name for name in open_gates if name in {"a", "call"}))
        async with agent(tmp_path, double) as desk:
            await desk.editor.open(path)
            if "allow" in open_gates:
                allow(desk)
            else:
                desk.client.answers["session/request_permission"] = silence
            if "allow" in open_gates and "save" not in open_gates:
                desk.client.answers["workspace/applyEdit"] = silence
            session = await desk.new_session()
            await desk.prompt(session, "capitals please")
            await wait(desk, double)
            desk.client.process.kill()
        sent = len(double.requests)
        double.add(reply(text("Back."), when=lambda request: "go on" in str(request.messages[-1])))
        async with agent(tmp_path, double) as desk:
            loaded: Any = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
            await desk.client.ask("session/load", loaded)
            (user,) = desk.updates("user_message_chunk")
            assert user["content"]["text"] == "capitals please"
            assert await desk.ask(session, "go on") == {"stopReason": "end_turn"}
            assert len(double.requests) == sent + 1
            assert double.refusals == []


async def test_stopping_a_command_that_never_ends_leaves_no_process_behind(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    endless = f"(trap '' TERM; sleep 1000) & (echo $$ $! > {pids}); wait"
    command: Any = tool_use("Bash", {"command": endless, "description": "Wait"})
    with running_double([reply(command), reply(text("Stopped."))]) as double:
        async with agent(tmp_path, double) as desk:
            allow(desk)
            session = await desk.new_session()
            turn = await desk.prompt(session, "wait for it")
            with anyio.fail_after(10):
                said = await anyio.Path(pids).read_text()
            ends = [os.pidfd_open(int(pid)) for pid in said.split()]
            await desk.client.notify("session/cancel", {"sessionId": session})
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "cancelled"}
            assert len(ends) == 2
            for end in ends:
                with anyio.fail_after(5):
                    await anyio.wait_readable(end)  # readable once the process has ended
                os.close(end)
            assert await desk.ask(session, "and now?") == {"stopReason": "end_turn"}
            assert double.refusals == []


async def test_an_editor_that_stops_reading_gets_every_word_when_it_reads_again(
    tmp_path: Path,
) -> None:
    words = "".join(f"word {number:06} " for number in range(60_000))
    with running_double([reply(text(words, chunk=400)), reply(text("Hello."))]) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            desk.client.paused = anyio.Event()
            turn = await desk.prompt(session, "say much")
            await double.until_requests(1)
            await double.until_outcome(0, 20)  # taken whole, though nobody reads
            desk.client.paused.set()
            answer = await desk.client.answer_to(turn)
            assert answer["result"] == {"stopReason": "end_turn"}
            told = desk.updates("agent_message_chunk")
            assert "".join(update["content"]["text"] for update in told) == words
            assert await desk.ask(session, "hello") == {"stopReason": "end_turn"}


async def test_the_real_command_answers_initialize_before_it_imports_anything_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-P", "-m", "sidelight", "lsp"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
    async with lsp_client(command, env) as client:
        await client.ask("initialize", {"processId": None, "capabilities": OURS})
        assert await client.end() == 0
        lines = client.stderr.decode().splitlines()
    names = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    heavy = {"pydantic", "anthropic", "anyio", "httpx", "httpx2", "watchfiles", "tree_sitter"}
    roots = {name.partition(".")[0] for name in names}
    assert "pygls" in roots
    assert heavy & roots == set()
    assert {name for name in names if name.startswith(("sidelight.core", "sidelight.app"))} == set()


async def test_a_yes_for_good_is_written_down_and_the_next_conversation_is_not_asked(
    tmp_path: Path,
) -> None:
    command: Any = tool_use("Bash", {"command": "./make.sh", "description": "Make it"})
    script = [reply(command), reply(text("Done.")), reply(command), reply(text("Again."))]
    put(tmp_path / "make.sh", "#!/bin/sh\ntouch made\n").chmod(0o755)
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            asked = allow(desk, "allow_project")
            await desk.ask(await desk.new_session(), "make it")
            assert (tmp_path / "made").exists()
            (tmp_path / "made").unlink()
            await desk.ask(await desk.new_session(), "make it again")
            assert (tmp_path / "made").exists()
            assert len(asked) == 1
    saved = [json.loads(file.read_text()) for file in (tmp_path / ".claude").glob("*.json")]
    assert saved == [{"permissions": {"allow": ["Bash(./make.sh *)"]}}]


async def test_an_answer_that_is_stopped_does_not_empty_the_meter_of_the_context(
    tmp_path: Path,
) -> None:
    script = [reply(text("Hello.")), reply(text("Endless", gate("never"))), reply(text("Back."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            await desk.ask(session, "hello")
            (before,) = desk.updates("usage_update")
            turn = await desk.prompt(session, "go on")
            await double.until_gate("never")
            await desk.client.notify("session/cancel", {"sessionId": session})
            assert (await desk.client.answer_to(turn))["result"] == {"stopReason": "cancelled"}
            await desk.ask(session, "and now?")
            meter = [(told["used"], told["size"]) for told in desk.updates("usage_update")]
            assert [size for _, size in meter] == [before["size"]] * len(meter)
            assert [used for used, _ in meter] == sorted(used for used, _ in meter)
