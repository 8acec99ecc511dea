"""What a start costs: the server's first answer, and a headless run's first request."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.measure import cpu_of, cpu_seconds
from tests.bench.table import environment, row
from tests.e2e.conftest import ROOT
from tests.fakes.lsp_client import lsp_client
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import gate, reply, text

RUNS = 7
# Each line with what it adds to the one before.
PARTS = (
    ("  Python itself", "pass"),
    ("  asyncio and anyio", "import asyncio, anyio"),
    ("  pydantic", "import asyncio, anyio, pydantic"),
    ("  httpx2", "import asyncio, anyio, pydantic, httpx2"),
    ("  our own modules, and the rest of what they use", "import sidelight.cli.run"),
    ("  the provider's SDK", "import sidelight.cli.run, sidelight.model.sdk as s; s.load()"),
)


async def answered(command: list[str], env: dict[str, str]) -> float:
    """Seconds from the spawn to the answer of `initialize`."""
    begin = time.monotonic()
    async with lsp_client(command, env) as client:
        await client.ask("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        return time.monotonic() - begin


async def initialize_ratio(folder: Path) -> None:
    """Ours against a bare server, in turn, so that a busy machine slows both."""
    with running_double([]) as double:
        env = environment(folder, double.base_url, double.api_key)
        ours = [sys.executable, "-P", "-m", "sidelight", "lsp"]
        bare = [sys.executable, "-P", str(ROOT / "tests/bench/bare_server.py")]
        await answered(ours, env)
        pairs = [(await answered(ours, env), await answered(bare, env)) for _ in range(RUNS)]
    ratio = statistics.median(a / b for a, b in pairs)
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    figure = f"{ratio:.2f} x ({mine:.2f} / {theirs:.2f} s)"
    row("`initialize` answered, against a bare pygls server", figure, "under 1.3 x")


def first_request(folder: Path) -> None:
    """A headless run, from its start to the moment its request is at the server."""
    figures: list[float] = []
    for _ in range(RUNS):
        with running_double([reply(text("x", gate("never")))]) as double:
            command = [sys.executable, "-P", "-m", "sidelight", "-p", "hello"]
            env = environment(folder, double.base_url, double.api_key)
            quiet = subprocess.DEVNULL
            with subprocess.Popen(command, env=env, cwd=folder, stdout=quiet) as process:
                double.wait_for_requests(1, timeout=30)
                figures.append(cpu_seconds(process.pid))
                process.kill()
    whole = statistics.median(figures)
    row("headless: spawn to first model request, CPU", f"{whole:.2f} s", "under 1.0 s")
    env = environment(folder, "http://127.0.0.1:9", "none")
    before = 0.0
    for what, code in PARTS:
        spent = statistics.median(cpu_of(code, env, folder) for _ in range(RUNS))
        row(what, f"{spent - before:.2f} s", "")
        before = spent
    row("  the session opened, the request built and sent", f"{whole - before:.2f} s", "")
