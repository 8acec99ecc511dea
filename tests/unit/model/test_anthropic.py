"""The client on the provider's SDK, against the strict double over real HTTP."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.content import Json, Text, Thinking, ToolResult, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.messages import AssistantMessage
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ModelRequest,
    PromptMessage,
    ResponseEnded,
    SystemPrompt,
    TextChunk,
    ToolSpec,
)
from sidelight.model.anthropic import AnthropicClient, Deadlines
from sidelight.model.discover import LocalModel
from sidelight.model.provider import Credential, Provider
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import (
    cut,
    event,
    gate,
    hang_up,
    http_error,
    ping,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
    unknown_block,
)

pytestmark = pytest.mark.anyio

READ = ToolSpec(name="Read", description="Reads", input_schema={"type": "object"})
PATH: Json = {"file_path": "/w/a.txt"}


def user(*blocks: Text | ToolResult) -> PromptMessage:
    return PromptMessage(role="user", content=blocks)


def ask(*messages: PromptMessage, model: str = "sonnet") -> ModelRequest:
    system = SystemPrompt(stable="You are a test.", dynamic="Here.")
    asked = messages or (user(Text(text="go")),)
    return ModelRequest(model=model, system=system, tools=(READ,), messages=asked)


@asynccontextmanager
async def client_of(
    double: Double, credential: Credential | None = None, **deadlines: float
) -> AsyncGenerator[AnthropicClient]:
    proof = credential or Credential("api_key", double.api_key)
    provider = Provider("gateway", double.base_url, proof, "a test")
    client = AnthropicClient(provider, deadlines=Deadlines(**deadlines))
    try:
        with anyio.fail_after(20):
            yield client
    finally:
        await client.aclose()


async def events_of(client: AnthropicClient, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in client.stream(request)]


async def answer_of(client: AnthropicClient, request: ModelRequest) -> AssistantMessage:
    end = (await events_of(client, request))[-1]
    assert isinstance(end, ResponseEnded)
    return end.message


async def failure_of(client: AnthropicClient, request: ModelRequest | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await events_of(client, request or ask())
    return caught.value


@pytest.mark.parametrize("model", ["fable", "opus", "sonnet", "haiku", "claude-opus-5"])
async def test_a_conversation_with_thinking_and_calls_is_accepted_to_its_end(model: str) -> None:
    first = reply(
        thinking("I look."), redacted_thinking("eA=="), text("Look."),
        tool_use("Read", PATH, id="toolu_1"), tool_use("Read", PATH, id="toolu_2"),
    )  # fmt: skip
    script = [first, reply(thinking("So."), text("Done.")), reply(text("Bye."))]
    messages = [user(Text(text="go"))]
    results = [ToolResult(tool_use_id=f"toolu_{n}", content=(Text(text="1"),)) for n in (1, 2)]
    with running_double(script) as double:
        async with client_of(double) as client:
            for follow_up in (results, [Text(text="Thanks.")], []):
                message = await answer_of(client, ask(*messages, model=model))
                messages.append(PromptMessage(role="assistant", content=message.content))
                messages.append(user(*follow_up))
        assert double.prefix_problems() == []
        sent = double.requests[2].messages[1]["content"]
    assert [block["type"] for block in sent] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    assert sent[0]["thinking"] == "I look."


async def test_thinking_of_another_model_is_not_sent_to_it() -> None:
    with running_double([reply(thinking("Hm."), text("a")), reply(text("b"))]) as double:
        async with client_of(double) as client:
            message = await answer_of(client, ask(model="opus"))
            assert isinstance(message.content[0], Thinking)
            told = PromptMessage(role="assistant", content=message.content)
            await answer_of(client, ask(user(Text(text="go")), told, user(Text(text="on"))))
        sent = double.requests[1].messages[1]["content"]
    assert [block["type"] for block in sent] == ["text"]


async def test_cancelling_in_mid_stream_ends_the_exchange() -> None:
    with running_double([reply(text("I look", gate("never"))), reply(text("ok"))]) as double:
        async with client_of(double) as client:
            with anyio.CancelScope() as scope:
                async for told in client.stream(ask()):
                    if isinstance(told, TextChunk):
                        scope.cancel()
            assert scope.cancelled_caught
            assert await double.until_outcome(0) == "client left"
            assert (await answer_of(client, ask())).content == (Text(text="ok"),)


async def test_cancelling_before_the_first_byte_ends_the_exchange() -> None:
    with running_double([reply(text("x"), hold="never")]) as double:
        async with client_of(double) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(events_of, client, ask())
                await double.until_requests(1)
                group.cancel_scope.cancel()
            assert await double.until_outcome(0) == "client left"


@pytest.mark.req("MODEL-03")
async def test_a_server_that_does_not_begin_is_given_up_after_its_deadline() -> None:
    with running_double([reply(text("x"), hold="never")]) as double:
        async with client_of(double, first_byte=0.2) as client:
            error = await failure_of(client)
    assert (error.kind, "did not begin to answer within 0.2 s" in error.message) == (
        "timeout",
        True,
    )


@pytest.mark.req("MODEL-03")
async def test_a_stream_that_falls_silent_is_given_up_after_its_deadline() -> None:
    with running_double([reply(text("half", gate("never")))]) as double:
        # The wait for the first byte, however long, is another one.
        async with client_of(double, first_byte=60, between=0.3) as client:
            error = await failure_of(client)
        assert await double.until_outcome(0) == "client left"
    assert error.kind == "stalled"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (hang_up(), "connection"),
        (reply(text("half"), cut=cut(after_event=3, how="close")), "cut_off"),
        (reply(tool_use("Read", PATH), cut=cut(after_event=3, how="end")), "cut_off"),
        (reply(tool_use("Read", raw='{"file_path": "/w')), "cut_off"),
        (reply(tool_use("Read", PATH, closed=False)), "cut_off"),
        (replace(reply(text("a")), stop_reason=None), "cut_off"),
        (reply(event("content_block_start", "{not json")), "cut_off"),
        (reply(event("content_block_stop", {"type": "content_block_stop", "index": 9})), "server"),
        (http_error(502, body="<html>Bad gateway</html>"), "server"),
        (http_error(200, body="<html>Welcome</html>"), "permission"),
    ],
)
async def test_a_broken_answer_is_never_a_whole_one(answer: Any, kind: str) -> None:
    with running_double([answer]) as double:
        async with client_of(double) as client:
            told: list[ModelEvent] = []
            with pytest.raises(ModelError) as caught:
                async for item in client.stream(ask()):
                    told.append(item)
    assert caught.value.kind == kind
    ready = [item.block for item in told if isinstance(item, BlockReady)]
    assert not any(isinstance(block, ToolUse) for block in ready)


async def test_what_no_client_knows_yet_passes() -> None:
    strange = unknown_block("holograph", depth=3)
    answer = reply(ping(), event("aurora", {"type": "aurora"}), strange, text("ok"))
    with running_double([answer]) as double:
        async with client_of(double) as client:
            message = await answer_of(client, ask())
    assert [block.type for block in message.content] == ["opaque", "text"]


async def test_five_thousand_pieces_arrive_in_order_and_let_others_work() -> None:
    words = "".join(f"{number:04d} " for number in range(5_000))
    beats = 0
    events: list[ModelEvent] = []
    over = anyio.Event()

    async def beat() -> None:
        nonlocal beats
        while not over.is_set():
            beats += 1
            await asyncio.sleep(0)

    with running_double([reply(text(words), chunk=5)]) as double:
        async with client_of(double) as client, anyio.create_task_group() as group:
            await client.warm()
            group.start_soon(beat)
            events += await events_of(client, ask())
            over.set()
    pieces = [told.text for told in events if isinstance(told, TextChunk)]
    assert (len(pieces), "".join(pieces)) == (5_000, words)
    assert beats >= 5_000 // 20


@asynccontextmanager
async def relay(double: Double) -> AsyncGenerator[tuple[str, list[int]]]:
    """A way to the double that notes each connection."""
    made: list[int] = []
    port = int(double.base_url.rpartition(":")[2])

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.append(len(made))
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    server = await asyncio.start_server(join, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", made
    finally:
        server.close()


async def test_requests_that_follow_each_other_use_one_connection() -> None:
    with running_double([reply(text("a")), reply(text("b"))]) as double:
        async with relay(double) as (address, made):
            provider = Provider("gateway", address, Credential("api_key", double.api_key), "a test")
            client = AnthropicClient(provider)
            with anyio.fail_after(20):
                for _ in range(2):
                    await answer_of(client, ask())
                await client.count_tokens(ask())
            await client.aclose()
        assert made == [0]


@pytest.mark.parametrize("kind", ["api_key", "auth_token"])
async def test_either_kind_of_credential_is_sent(kind: Any) -> None:
    with running_double([reply(text("a"))]) as double:
        async with client_of(double, Credential(kind, double.api_key)) as client:
            await answer_of(client, ask())
        assert double.requests[0].credential == "right"


async def test_a_server_asked_without_a_credential_says_itself_that_it_wants_one() -> None:
    with running_double([], allow_refusals=True) as double:
        client = AnthropicClient(Provider("gateway", double.base_url, None, "no credential"))
        with anyio.fail_after(20):
            error = await failure_of(client)
        await client.aclose()
    assert (error.kind, error.status) == ("authentication", 401)


async def test_a_refused_key_is_replaced_in_what_the_server_says() -> None:
    refusal = http_error(401, "The key sk-ant-test-key is not known.")
    with running_double([refusal]) as double:
        async with client_of(double) as client:
            error = await failure_of(client)
    assert "The key [key] is not known." in error.message
    assert double.api_key not in str(error) + error.message


@pytest.mark.parametrize("content", [None, "{broken", "{}"])
async def test_a_profile_that_cannot_be_used_is_an_error_of_ours(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    if content is not None:
        (tmp_path / "configs").mkdir()
        (tmp_path / "configs" / "work.json").write_text(content, encoding="utf-8")
    profile = Credential("profile", profile="work")
    client = AnthropicClient(Provider("anthropic", "http://127.0.0.1:9", profile, "profile"))
    with anyio.fail_after(20):
        error = await failure_of(client)
    await client.aclose()
    assert error.kind == "authentication"


async def test_a_local_server_is_asked_for_its_own_model_with_nothing_special() -> None:
    with running_double([reply(text("a"))], strict=False) as double:
        provider = Provider(
            "local",
            double.base_url,
            Credential("api_key", double.api_key),
            "a test",
            local=True,
            models=(LocalModel("qwen", 8_000),),
        )
        client = AnthropicClient(provider)
        with anyio.fail_after(20):
            await answer_of(client, ask(model="opus"))
        await client.aclose()
        body = double.requests[0].body
    assert set(body) == {"model", "max_tokens", "stream", "system", "tools", "messages"}
    assert (body["model"], body["max_tokens"]) == ("qwen", 2_000)


async def test_a_server_that_does_not_count_says_so() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    client = AnthropicClient(Provider("gateway", address, None, "a test"))
    with anyio.fail_after(20), pytest.raises(ModelError, match="does not count tokens"):
        await client.count_tokens(ask())
    await client.aclose()
    server.close()
