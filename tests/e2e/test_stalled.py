"""The whole agent with a client that reads no more or is gone, and a server that is killed."""

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.process.group import is_alive
from tests.conftest import SCALE
from tests.e2e.conftest import Desk
from tests.e2e.test_agent_in_editor import agent, allow, edit, put, read
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import gate, reply, text, tool_use

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

KILLS = {"small": 6, "full": 100}[SCALE]
LAST = 14
"""Messages before the command of the turn runs."""
FLOOD = "".join(f"word {number:09} " for number in range(1_600_000))
MOST_GROWTH = 48 << 20


def shell(command: str) -> Any:
    return tool_use("Bash", {"command": command, "description": "a test"})


def resident(pid: int) -> int:
    """Bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def ended(pid: int) -> None:
    """Until the command with this number, and its whole group, is gone."""
    with anyio.fail_after(5):
        while is_alive(pid):
            await anyio.lowlevel.checkpoint()


async def number_from(pipe: Path) -> int:
    with anyio.fail_after(10):
        return int(await anyio.Path(pipe).read_text())


async def test_a_client_that_reads_no_more_costs_bounded_memory_and_work_goes_on_and_stops(
    tmp_path: Path,
) -> None:
    go, done = tmp_path / "go", tmp_path / "done"
    os.mkfifo(go)
    script = [
        reply(shell(f"read line < {go}; touch {done}"), when=lambda r: "work" in str(r.messages)),
        reply(text(FLOOD, gate("past"), chunk=8_000), when=lambda r: "flood" in str(r.messages)),
        reply(text("Done."), when=lambda r: "work" in str(r.messages)),
        reply(text("Back."), when=lambda r: "and now" in str(r.messages)),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double, permissionMode="bypassPermissions") as desk:
            working, flooded = await desk.new_session(), await desk.new_session()
            work = await desk.prompt(working, "work")
            await desk.wait_for_update("tool_call")
            before = resident(desk.client.process.pid)
            desk.client.paused = anyio.Event()
            flood = await desk.prompt(flooded, "flood")
            await double.until_requests(2)
            with pytest.raises(TimeoutError):
                await double.until_gate("past", timeout=3)  # the model is not read either
            assert resident(desk.client.process.pid) - before < MOST_GROWTH
            await anyio.Path(go).write_text("on\n")
            with anyio.fail_after(10):
                while not done.exists():
                    await anyio.lowlevel.checkpoint()
            await desk.client.notify("session/cancel", {"sessionId": flooded})
            assert await double.until_outcome(1) == "client left"
            desk.client.paused.set()
            answer = await desk.client.answer_to(flood)
            assert answer["result"] == {"stopReason": "cancelled"}
            assert (await desk.client.answer_to(work))["result"] == {"stopReason": "end_turn"}
            assert await desk.ask(flooded, "and now?") == {"stopReason": "end_turn"}
            assert double.refusals == []


async def test_a_client_that_is_killed_takes_the_server_and_its_commands_along(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    script = [reply(text("I run it."), shell(f"sleep 1000 & echo $$ > {pipe}; sleep 1000"))]
    with running_double(script) as double:
        async with agent(tmp_path, double, permissionMode="bypassPermissions") as desk:
            await desk.prompt(await desk.new_session(), "run it")
            leader = await number_from(pipe)
            await desk.client.vanish()
            await desk.client.wait_for_end()
            await ended(leader)


async def messages(desk: Desk, count: int) -> None:
    """Until the client has got so many messages."""
    with anyio.fail_after(10):
        while len(desk.client.messages) < count:
            await anyio.lowlevel.checkpoint()


@pytest.mark.req("SESSION-01")
async def test_a_server_that_is_killed_at_random_moments_loses_no_prompt_and_leaves_no_child(
    tmp_path: Path,
) -> None:
    chance = random.Random(20)
    path = put(tmp_path / "a.txt")
    pipe = tmp_path / "pid"
    os.mkfifo(pipe)
    for number in range(KILLS):
        put(path)
        prompt = f"prompt {number}"
        script = [
            reply(text("Reading it now. ", chunk=4), read(path)),
            reply(text("Now the edit. "), edit(path, "one", "ONE")),
            reply(text("I run it. "), shell(f"echo $$ > {pipe}; echo it runs; sleep 1000")),
            reply(text("Back."), when=lambda request: "go on" in str(request.messages[-1])),
        ]
        moment = LAST if number % 3 == 0 else chance.randrange(1, LAST)
        with running_double(script) as double:
            async with agent(tmp_path, double, permissionMode="bypassPermissions") as desk:
                allow(desk)
                session = await desk.new_session()
                begun = len(desk.client.messages)
                await desk.prompt(session, prompt)
                leader = await number_from(pipe) if moment == LAST else None
                if leader is None:
                    await messages(desk, begun + moment)
                else:  # its start is complete when its output is told
                    await desk.client.wait_for(lambda one: "it runs\\n" in json.dumps(one))
                desk.client.process.kill()
                await desk.client.wait_for_end()
                if leader is not None:
                    await ended(leader)
            async with agent(tmp_path, double) as desk:
                loaded: Any = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
                await desk.client.ask("session/load", loaded)
                assert await desk.ask(session, "go on") == {"stopReason": "end_turn"}
                assert prompt in str(double.requests[-1].messages)
                assert double.refusals == []
