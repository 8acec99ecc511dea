"""What reading an answer costs: our decode against the SDK's bare raw stream, both over HTTP."""

import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
from anyio.lowlevel import checkpoint

from sidelight.core.content import Json, Text, ToolUse
from sidelight.core.model import ModelRequest, PromptMessage, ResponseEnded, SystemPrompt
from sidelight.model import sdk
from sidelight.model.anthropic import AnthropicClient
from sidelight.model.provider import Credential, Provider
from tests.bench.measure import Away, double_away
from tests.bench.table import row
from tests.e2e.conftest import ROOT
from tests.fakes.messages_api.double import API_KEY

RUNS = 5
DELTAS = 5_000
INPUT_DELTAS = 16_000
INPUT_CHARACTERS = 250_000
ASKED = ModelRequest(
    model="sonnet",
    system=SystemPrompt(stable="A test."),
    tools=(),
    messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
)
TEXT: Json = {"reply": ["word " * DELTAS], "chunk": 5}
INPUT = json.dumps({"content": "x" * INPUT_CHARACTERS})
CALL: Json = {
    "reply": [{"tool_use": "Write", "raw": INPUT}],
    "chunk": len(INPUT) // INPUT_DELTAS + 1,
}


async def decode(folder: Path) -> None:
    """Both kinds of answer, each read in turn by the SDK and by us."""
    for what, reply in ((f"{DELTAS} text deltas", TEXT), ("250 kB of tool input", CALL)):
        script = folder / "decode.json"
        script.write_text(json.dumps([{**reply, "times": 3 * RUNS + 2}]), encoding="utf-8")
        command = [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(script)]
        with double_away(command, API_KEY, ROOT) as double:
            await _compare(what, double)


async def _compare(what: str, double: Away) -> None:
    anthropic = await sdk.warm()
    bare = anthropic.AsyncAnthropic(api_key=double.api_key, base_url=double.base_url, max_retries=0)
    provider = Provider("gateway", double.base_url, Credential("api_key", double.api_key), "bench")
    ours = AnthropicClient(provider)

    async def read_bare() -> None:
        asked = [{"role": "user", "content": "go"}]
        stream = await bare.messages.create(
            model="claude-sonnet-5-5", max_tokens=32_000, messages=asked, stream=True
        )
        async for _ in stream:
            pass

    async def read_ours() -> None:
        last = [event async for event in ours.stream(ASKED)][-1]
        assert isinstance(last, ResponseEnded)
        for block in last.message.content:
            assert not isinstance(block, ToolUse) or len(block.input["content"]) > 200_000

    # Before the SDK's typed events are loaded, for the product never loads them.
    pause = max([await _longest_stretch(read_ours) for _ in range(RUNS)])
    pairs = [(await _cpu(read_ours), await _cpu(read_bare)) for _ in range(RUNS + 1)][1:]
    await ours.aclose()
    await bare.close()
    ratios = sorted(mine / theirs for mine, theirs in pairs)
    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    figure = f"{statistics.median(ratios):.2f} x ({ratios[0]:.2f}-{ratios[-1]:.2f})"
    row(f"{what}: our decode, against the SDK's raw stream", figure, "under 1.3 x")
    row("  CPU, ours and the SDK's", f"{mine:.2f} / {theirs:.2f} s", "")
    row("  longest stretch of the loop without a pause, CPU", f"{pause * 1000:.1f} ms", "30 ms")


async def _cpu(work: Callable[[], Awaitable[None]]) -> float:
    begin = time.process_time()
    await work()
    return time.process_time() - begin


async def _longest_stretch(work: Callable[[], Awaitable[None]]) -> float:
    """CPU seconds of the longest stretch in which nothing else on the loop had a turn."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            last = time.thread_time()
            await checkpoint()
            longest = max(longest, time.thread_time() - last)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await work()
        group.cancel_scope.cancel()
    return longest
