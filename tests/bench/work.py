"""What work costs in a server that is warm: a prompt, a long answer, ten calls, a long session."""

import json
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

from tests.bench.measure import Away, cpu_seconds, double_away, peak_mb
from tests.bench.table import environment, row
from tests.e2e.conftest import ROOT, Desk
from tests.fakes.editor import OURS, FakeEditor
from tests.fakes.lsp_client import lsp_client
from tests.fakes.messages_api.double import API_KEY, Double, running_double
from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.script import Block, reply, text, tool_use

PROMPTS = 20
DELTAS = 5_000
STEPS = 198
WINDOW = 10


@asynccontextmanager
async def server(folder: Path, double: Double | Away) -> AsyncGenerator[Desk]:
    """Our server, initialized by our own client, edits accepted."""
    command = [sys.executable, "-P", "-m", "sidelight", "lsp"]
    env = environment(folder, double.base_url, double.api_key)
    async with lsp_client(command, env) as client:
        folders = [{"uri": folder.as_uri(), "name": "w"}]
        chosen = {"trusted": True, "permissionMode": "acceptEdits"}
        await client.initialize(OURS, workspaceFolders=folders, initializationOptions=chosen)
        yield Desk(client, FakeEditor(client), folder)


async def warm_prompt(folder: Path) -> None:
    """From the client's message to the request's arrival, while the answer is held back."""
    script = [reply(text("one")), *(reply(text("x"), hold=f"{n}") for n in range(PROMPTS))]
    figures: list[float] = []
    with running_double(script) as double:
        async with server(folder, double) as desk:
            pid = desk.client.process.pid
            session = await desk.new_session()
            await desk.ask(session, "first")
            for number in range(PROMPTS):
                begin = cpu_seconds(pid)
                waiting = await desk.prompt(session, f"prompt {number}")
                await double.until_requests(number + 2)
                figures.append(cpu_seconds(pid) - begin)
                double.open(f"{number}")
                await desk.client.answer_to(waiting)
    figure = f"{figures[0] * 1000:.1f} ms, then {statistics.median(figures) * 1000:.1f} ms"
    row("second prompt to its request at the model, server's CPU", figure, "under 25 ms")


async def many_deltas(folder: Path, pause: float) -> None:
    """A long answer, end to end, one write a delta; the double is in a process of its own.

    Without a pause the deltas share wake-ups; with one each costs a wake-up of its own.
    """
    script = folder / "script.json"
    long = {"reply": ["word " * DELTAS], "chunk": 5, "spread": True, "pause": pause}
    script.write_text(json.dumps([{"reply": ["warm"]}, long]), encoding="utf-8")
    command = [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(script)]
    with double_away(command, API_KEY, ROOT) as double:
        async with server(folder, double) as desk:
            pid = desk.client.process.pid
            session = await desk.new_session()
            await desk.ask(session, "warm up")
            before, here = cpu_seconds(pid), time.process_time()
            begin = time.monotonic()
            waiting = await desk.prompt(session, "much")
            await desk.client.wait_for(lambda message: message.get("id") == waiting, 120)
            lasted = time.monotonic() - begin
            spent, ours = cpu_seconds(pid) - before, time.process_time() - here
            told = desk.updates("agent_message_chunk")
    whole = sum(len(update["content"]["text"]) for update in told) == 5 * DELTAS + len("warm")
    figure = f"{spent + ours:.2f} s ({spent:.2f} + {ours:.2f})"
    speed = "at " + f"{DELTAS / lasted:.0f} a second" if pause else "at once"
    row(f"{DELTAS} deltas {speed}, CPU of server and client", figure, "under 1.0 s")
    row("  arrived", f"{'all' if whole else 'NOT all'}, in {len(told)} updates", "")


def ten_calls_of(path: Path) -> list[Block]:
    """Every tool of the main job, twice."""
    calls: list[tuple[str, Json]] = []
    for number in range(2):
        change = {"old_string": f"line {number}\n", "new_string": f"changed {number}\n"}
        calls += [
            ("Read", {"file_path": str(path)}),
            ("Glob", {"pattern": "*.txt"}),
            ("Grep", {"pattern": f"line {number}"}),
            ("Edit", {"file_path": str(path), **change}),
            ("Bash", {"command": "ls", "description": "List"}),
        ]
    return [tool_use(name, given) for name, given in calls]


async def ten_calls(folder: Path) -> None:
    """The memory of the server in a session of ten calls, with an open document."""
    path = folder / "a.txt"
    path.write_text("".join(f"line {n}\n" for n in range(1_000)), encoding="utf-8")
    script = [reply(call) for call in ten_calls_of(path)]
    with running_double([*script, reply(text("done"))]) as double:
        async with server(folder, double) as desk:
            await desk.editor.open(path)
            await desk.ask(await desk.new_session(), "work")
            peak = peak_mb(desk.client.process.pid)
        last = double.requests[-1].messages
    blocks = [block for message in last for block in message["content"]]
    failed = sum(bool(block.get("is_error")) for block in blocks)
    row("peak memory of the server, ten calls", f"{peak:.0f} MB", "under 150 MB")
    if failed:
        row("  calls that failed", f"{failed}", "none")


async def long_session(folder: Path) -> None:
    """The CPU of steps early and late in a session; every answer is held while it is read.

    A step is all from one request's arrival to the next one's: an answer with a call, the call,
    its result, and the request that tells it.
    """
    path = folder / "b.txt"
    path.write_text("one\n" * 200, encoding="utf-8")
    call = ("Read", {"file_path": str(path)})
    script = [reply(tool_use(*call)), reply(text("warm"))]
    script += [reply(tool_use(*call), hold=f"{n}") for n in range(STEPS)]
    marks: list[float] = []
    peaks: list[float] = []
    with running_double([*script, reply(text("done"), hold="end")]) as double:
        async with server(folder, double) as desk:
            pid = desk.client.process.pid
            session = await desk.new_session()
            await desk.ask(session, "warm up")
            waiting = await desk.prompt(session, "read a lot")
            for number in range(STEPS + 1):
                await double.until_requests(number + 3, timeout=60)
                marks.append(cpu_seconds(pid))
                peaks.append(peak_mb(pid))
                double.open(f"{number}", "end")
            await desk.client.answer_to(waiting)
        body = len(double.requests[-1].raw)
    spent = [after - before for before, after in pairwise(marks)]
    early, late = statistics.median(spent[:WINDOW]), statistics.median(spent[-WINDOW:])
    figure = f"{spent[0] * 1000:.1f}, {early * 1000:.1f}, {late * 1000:.1f} ms"
    row(f"CPU of a step: the first, around 5, around {STEPS - 5}", figure, "under 10 ms")
    row("  late against early", f"{late / early:.2f} x", "under 1.5 x")
    grown = f"{peaks[-1] - peaks[WINDOW]:.1f} MB ({body / 1e6:.1f} MB body)"
    row("  memory that the steps between them took", grown, "no growth")
