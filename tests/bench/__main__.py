"""Prints the figures that the product is held to: `python -m tests.bench`."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.bench.measure import cpu_seconds, peak_mb
from tests.e2e.conftest import ROOT, Desk
from tests.fakes.editor import OURS, FakeEditor
from tests.fakes.lsp_client import lsp_client
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import Script, gate, reply, text, tool_use

RUNS = 7
DELTAS = 5_000
STEPS = 30


def row(what: str, figure: str, aim: str) -> None:
    """One line of the table."""
    print(f"{what:58} {figure:>24}   {aim}", flush=True)


def environment(home: str, double: Double) -> dict[str, str]:
    """A clean environment that leads to the double."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": home,
        "SIDELIGHT_HOME": f"{home}/state",
        "PYTHONPATH": str(ROOT / "server"),
        "ANTHROPIC_BASE_URL": double.base_url,
        "ANTHROPIC_API_KEY": double.api_key,
    }


@asynccontextmanager
async def server(folder: Path, double: Double) -> AsyncGenerator[Desk]:
    """Our server, initialized by our own client."""
    command = [sys.executable, "-P", "-m", "sidelight", "lsp"]
    async with lsp_client(command, environment(str(folder), double)) as client:
        folders = [{"uri": folder.as_uri(), "name": "w"}]
        chosen = {"trusted": True, "permissionMode": "acceptEdits"}
        await client.initialize(OURS, workspaceFolders=folders, initializationOptions=chosen)
        yield Desk(client, FakeEditor(client), folder)


async def answered(command: list[str], env: dict[str, str]) -> float:
    """Seconds from the spawn to the answer of `initialize`."""
    begin = time.monotonic()
    async with lsp_client(command, env) as client:
        await client.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        return time.monotonic() - begin


async def initialize_ratio(folder: Path, double: Double) -> None:
    """Ours against a bare server, in turn, so that a busy machine slows both."""
    env = environment(str(folder), double)
    ours = [sys.executable, "-P", "-m", "sidelight", "lsp"]
    bare = [sys.executable, "-P", str(ROOT / "tests/bench/bare_server.py")]
    pairs = [(await answered(ours, env), await answered(bare, env)) for _ in range(RUNS)]
    ratio = statistics.median(a / b for a, b in pairs)
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    figure = f"{ratio:.2f} x ({mine:.2f} / {theirs:.2f} s)"
    row("initialize answered, against a bare pygls server", figure, "under 1.3 x")


def first_request(folder: Path) -> None:
    """A headless run, from its start to the moment its request is at the server."""
    figures: list[float] = []
    for _ in range(RUNS):
        with running_double([reply(text("x", gate("never")))]) as double:
            command = [sys.executable, "-P", "-m", "sidelight", "-p", "hello"]
            env = environment(str(folder), double)
            quiet = subprocess.DEVNULL
            with subprocess.Popen(command, env=env, cwd=folder, stdout=quiet) as process:
                double.wait_for_requests(1, timeout=30)
                figures.append(cpu_seconds(process.pid))
                process.kill()
    median = statistics.median(figures)
    row("headless: spawn to first model request, CPU", f"{median:.2f} s", "under 1.0 s")
    parts(folder)


def parts(folder: Path) -> None:
    """What the start is made of, each in a fresh interpreter."""
    for what, code in (
        ("  of it Python and asyncio", "import asyncio"),
        ("  of it with anyio and pydantic", "import asyncio, anyio, pydantic"),
        ("  of it with all of our own modules", "import sidelight.cli.run"),
        (
            "  of it with the provider's SDK",
            "import sidelight.cli.run, asyncio, sidelight.model.sdk as s; asyncio.run(s.warm())",
        ),
    ):
        begin = os.times()
        env = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
        subprocess.run([sys.executable, "-P", "-c", code], env=env, cwd=folder, check=True)
        end = os.times()
        spent = end.children_user + end.children_system
        spent -= begin.children_user + begin.children_system
        row(what, f"{spent:.2f} s", "")


async def warm_prompt(folder: Path) -> None:
    """The second prompt of a server: from the client's message to the request's arrival."""
    script: Script = [reply(text("one"))] + [reply(text("x"))] * RUNS
    with running_double(script) as double:
        async with server(folder, double) as desk:
            pid = desk.client.process.pid
            session = await desk.new_session()
            await desk.ask(session, "first")
            begin = cpu_seconds(pid)
            for number in range(RUNS):
                await desk.ask(session, f"prompt {number}")
            spent = (cpu_seconds(pid) - begin) / RUNS
    row("warm prompt, whole short turn, server's CPU", f"{spent * 1000:.0f} ms", "under 25 ms")


async def many_deltas(folder: Path) -> None:
    """A long answer, end to end; the double is another process and does not count."""
    words = "word " * DELTAS
    with running_double([reply(text("warm")), reply(text(words), chunk=5, spread=True)]) as double:
        async with server(folder, double) as desk:
            pid = desk.client.process.pid
            session = await desk.new_session()
            await desk.ask(session, "warm up")
            before = cpu_seconds(pid)
            with anyio.fail_after(60):
                await desk.ask(session, "much")
            spent = cpu_seconds(pid) - before
            updates = len(desk.updates("agent_message_chunk"))
    figure = f"{spent:.2f} s, {updates} updates"
    row(f"{DELTAS} deltas, server's CPU", figure, "under 1.0 s with client")


async def ten_calls(folder: Path) -> None:
    """Memory after a session of ten calls, and CPU a step early and late in a long one."""
    path = folder / "a.txt"
    path.write_text("one\n" * 200, encoding="utf-8")
    read: Any = {"file_path": str(path)}
    steps = [reply(tool_use("Read", read)) for _ in range(STEPS)]
    marks: list[float] = []
    with running_double([*steps, reply(text("done"))]) as double:
        async with server(folder, double) as desk:
            pid = desk.client.process.pid
            session = await desk.new_session()
            waiting = await desk.prompt(session, "read a lot")
            for number in range(1, STEPS + 2):
                await double.until_requests(number, timeout=30)
                marks.append(cpu_seconds(pid))
                if number == 11:
                    row(
                        "peak memory of the server, ten calls",
                        f"{peak_mb(pid):.0f} MB",
                        "under 150",
                    )
            await desk.client.answer_to(waiting)
    early, late = (marks[10] - marks[1]) / 9, (marks[30] - marks[21]) / 9
    figure = f"{early * 1000:.0f} ms, {late * 1000:.0f} ms"
    row("a step's CPU: steps 2 to 10, steps 22 to 30", figure, "no growth")


async def main() -> None:
    """The whole table."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running_double([]) as double:
            await initialize_ratio(folder, double)
        await anyio.to_thread.run_sync(first_request, folder)
        await warm_prompt(folder)
        await many_deltas(folder)
        await ten_calls(folder)


if __name__ == "__main__":
    anyio.run(main)
