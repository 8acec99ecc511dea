"""What every model client keeps: run on the scripted one, the prewritten one, and the real SDK."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, cast

import anyio
import pytest

from sidelight.core.content import Text, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.messages import Usage
from sidelight.core.model import (
    BlockReady,
    ModelClient,
    ModelEvent,
    ModelRequest,
    PromptMessage,
    ResponseBegan,
    ResponseEnded,
    SystemPrompt,
    TextChunk,
    ToolSpec,
    ToolUseStarted,
)
from sidelight.model.anthropic import AnthropicClient, Deadlines
from sidelight.model.demonstration import DemonstrationModel
from sidelight.model.provider import Provider, resolve
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import (
    cut,
    error_event,
    gate,
    http_error,
    overloaded,
    rate_limited,
    reply,
    text,
    tool_use,
)
from tests.fakes.model import ScriptedModel

pytestmark = pytest.mark.anyio

READ: Any = {"file_path": "/w/a.txt"}
REQUEST = ModelRequest(
    model="claude-sonnet-5-5",
    system=SystemPrompt(stable="You are a test."),
    tools=(ToolSpec(name="Read", description="Reads", input_schema={"type": "object"}),),
    messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
)


def client_for(double: Double, key: str | None = None) -> AnthropicClient:
    env = {"ANTHROPIC_BASE_URL": double.base_url, "ANTHROPIC_API_KEY": key or double.api_key}
    found = resolve(env)
    assert isinstance(found, Provider)
    return AnthropicClient(found, deadlines=Deadlines(first_byte=5, between=0.3))


@asynccontextmanager
async def scripted() -> AsyncGenerator[ModelClient]:
    yield ScriptedModel([["I look.", ToolUse(id="toolu_1", name="Read", input=READ)]])


@asynccontextmanager
async def prewritten() -> AsyncGenerator[ModelClient]:
    yield DemonstrationModel([[{"text": "I look."}, {"tool": "Read", "input": READ}]])


@asynccontextmanager
async def real() -> AsyncGenerator[ModelClient]:
    with running_double([reply(text("I look."), tool_use("Read", READ))]) as double:
        client = client_for(double)
        yield client
        await client.aclose()


Make = Callable[[], AbstractAsyncContextManager[ModelClient]]


@pytest.fixture(params=[scripted, prewritten, real], ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Make:
    return cast("Make", request.param)


async def drained(client: ModelClient, request: ModelRequest = REQUEST) -> list[ModelEvent]:
    with anyio.fail_after(10):
        return [event async for event in client.stream(request)]


async def failure(client: ModelClient) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await drained(client)
    return caught.value


async def test_the_pieces_of_a_block_come_before_the_block_and_the_end_comes_last(
    make: Make,
) -> None:
    async with make() as client:
        events = await drained(client)
    chunks = [event.text for event in events if isinstance(event, TextChunk)]
    assert "".join(chunks) == "I look."
    blocks = [event.block for event in events if isinstance(event, BlockReady)]
    assert blocks[0] == Text(text="I look.")
    assert isinstance(blocks[1], ToolUse)
    assert (blocks[1].name, blocks[1].input) == ("Read", READ)
    kinds = [type(event) for event in events]
    assert kinds[-1] is ResponseEnded
    assert kinds.index(ToolUseStarted) > kinds.index(BlockReady) > kinds.index(TextChunk)
    end = cast("ResponseEnded", events[-1])
    assert (end.message.content, end.message.stop_reason) == (tuple(blocks), "tool_use")


async def test_closing_the_stream_in_the_middle_is_quiet_and_frees_the_client(make: Make) -> None:
    async with make() as client:
        stream: Any = client.stream(REQUEST)
        async with aclosing(stream):
            assert isinstance(await anext(stream), TextChunk | ResponseBegan)


async def test_closing_ends_the_exchange_with_the_server() -> None:
    with running_double([reply(text("I look", gate("never")))]) as double:
        client = client_for(double)
        stream: Any = client.stream(REQUEST)
        async with aclosing(stream):
            await anext(stream)
        outcome = await double.until_outcome(0)
        await client.aclose()
        assert outcome == "client left"


@pytest.mark.parametrize(
    ("answer", "kind", "retry_after"),
    [
        (http_error(401), "authentication", None),
        (http_error(402), "billing", None),
        (http_error(403), "permission", None),
        (http_error(404), "not_found", None),
        (http_error(413), "request_too_large", None),
        (http_error(500), "server", None),
        (
            http_error(400, "prompt is too long: 9 > 1"),
            "context_too_long",
            None,
        ),
        (rate_limited(retry_after=7), "rate_limit", 7.0),
        (overloaded(), "overloaded", None),
        (reply(text("half"), error_event("overloaded_error", "busy")), "overloaded", None),
        (reply(text("half"), cut=cut(after_event=3, how="end")), "cut_off", None),
        (reply(text("half"), cut=cut(after_event=3, how="reset")), "cut_off", None),
        (reply(text("half", gate("never"))), "stalled", None),
    ],
)
async def test_every_way_to_fail_has_its_name(
    answer: Any, kind: str, retry_after: float | None
) -> None:
    with running_double([answer]) as double:
        client = client_for(double)
        error = await failure(client)
        await client.aclose()
    assert (error.kind, error.retry_after) == (kind, retry_after)


async def test_a_refused_key_is_not_repeated_in_the_error() -> None:
    with running_double([], allow_refusals=True) as double:
        client = client_for(double, "sk-ant-wrong-key-123456")
        error = await failure(client)
        await client.aclose()
    assert error.kind == "authentication"
    assert "wrong-key" not in str(error) + repr(client.provider)


async def test_a_server_that_is_not_there_is_a_connection_error_with_its_address() -> None:
    found = resolve({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "k" * 20})
    assert isinstance(found, Provider)
    client = AnthropicClient(found)
    error = await failure(client)
    await client.aclose()
    assert error.kind == "connection"
    assert "127.0.0.1:9" in error.message


@pytest.mark.req("MODEL-01")
async def test_a_call_of_250_kb_arrives_whole_and_is_parsed_once() -> None:
    big = {"file_path": "/w/a.txt", "content": "x" * 250_000}
    with running_double([reply(tool_use("Read", big), chunk=16)]) as double:
        client = client_for(double)
        events = await drained(client)
        await client.aclose()
    blocks = [event.block for event in events if isinstance(event, BlockReady)]
    assert [block.input for block in blocks if isinstance(block, ToolUse)] == [big]
    kinds = [ResponseBegan, ToolUseStarted, BlockReady, ResponseEnded]
    assert [type(event) for event in events] == kinds


async def test_usage_tells_cached_and_written_tokens_apart() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 9,
        "cache_creation": {"ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 2},
        "output_tokens": 11,
    }
    with running_double([reply(text("ok"), usage=usage)]) as double:
        client = client_for(double)
        events = await drained(client)
        await client.aclose()
    assert cast("ResponseEnded", events[-1]).message.usage == Usage(
        input_tokens=3,
        output_tokens=11,
        cache_read_input_tokens=5,
        cache_write_5m_tokens=7,
        cache_write_1h_tokens=2,
    )


async def test_tokens_are_counted_by_the_server() -> None:
    with running_double([]) as double:
        client = client_for(double)
        count = await client.count_tokens(REQUEST)
        await client.aclose()
    assert count > 5
