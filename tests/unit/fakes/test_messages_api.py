"""The double answers the real SDK over real HTTP: what it streams, and how it fails on purpose."""

import threading
from collections.abc import AsyncGenerator
from typing import Any

import anthropic
import anyio
import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.fakes.messages_api.client import HELLO, MODEL, ask, blocks, client_of
from tests.fakes.messages_api.double import Double, DoubleFailure, running_double
from tests.fakes.messages_api.play import Context, play
from tests.fakes.messages_api.request import Request
from tests.fakes.messages_api.script import (
    Answer,
    When,
    cut,
    error_event,
    event,
    gate,
    hang_up,
    http_error,
    overloaded,
    ping,
    rate_limited,
    redacted_thinking,
    reply,
    text,
    thinking,
    tool_use,
    unknown_block,
)

pytestmark = pytest.mark.anyio

READ: Any = {"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}


async def test_a_text_reply_arrives_in_deltas_with_usage_and_stop_reason() -> None:
    script = [reply("Hello, you.", chunk=4, usage={"output_tokens": 7})]
    with running_double(script) as double:
        async with client_of(double) as client:
            events = await ask(client)
    assert [each["type"] for each in events] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 3,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert [each["delta"]["text"] for each in events[2:5]] == ["Hell", "o, y", "ou."]
    assert events[0]["message"]["usage"]["input_tokens"] > 0
    assert events[-2]["delta"]["stop_reason"] == "end_turn"
    assert events[-2]["usage"]["output_tokens"] == 7
    assert double.requests[0].messages == HELLO
    assert double.requests[0].model == MODEL
    assert double.outcome(double.requests[0]) == "complete"


async def test_tool_use_and_thinking_arrive_whole() -> None:
    arguments = {"path": "ä/„b“.py", "lines": [1, 2], "note": "two\nlines 🙂"}
    script = [
        reply(
            thinking("Let me look.", signature="c2ln"),
            redacted_thinking("b3BhcXVl"),
            text("Reading."),
            tool_use("Read", arguments, id="toolu_A"),
            tool_use("Read", chunk=3),
            chunk=5,
        )
    ]
    with running_double(script) as double:
        async with client_of(double) as client:
            events = await ask(client, tools=[READ])
    fresh = blocks(events)[-1].pop("id")
    assert fresh.startswith("toolu_")
    assert blocks(events)[:-1] == [
        {"type": "thinking", "thinking": "Let me look.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "Reading."},
        {"type": "tool_use", "id": "toolu_A", "name": "Read", "input": arguments},
    ]
    assert blocks(events)[-1] == {"type": "tool_use", "id": fresh, "name": "Read", "input": {}}
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


async def test_thinking_words_are_left_out_when_the_request_does_not_ask_for_them() -> None:
    with running_double([reply(thinking("secret", signature="c2ln"), "Done.")]) as double:
        async with client_of(double) as client:
            events = await ask(client, thinking={"type": "adaptive"})
    assert blocks(events)[0] == {"type": "thinking", "thinking": "", "signature": "c2ln"}


async def test_a_gate_holds_the_stream_until_the_test_opens_it() -> None:
    first = tool_use("Read", {"path": "a"}, id="toolu_A")
    second = tool_use("Read", raw=['{"path":', gate("half"), '"b"}'], id="toolu_B")
    with running_double([reply(first, gate("between"), second)]) as double:
        async with client_of(double) as client:
            closed: list[int] = []
            with anyio.fail_after(5):
                stream = await client.messages.create(
                    messages=HELLO, stream=True, model=MODEL, max_tokens=99, tools=[READ]
                )
                async for each in stream:
                    if each.type != "content_block_stop":
                        continue
                    closed.append(each.index)
                    if each.index == 0:
                        await double.until_gate("between")
                        assert double.outcome(double.requests[0]) is None
                        double.open("between")
                        await double.until_gate("half")
                        double.open("half")
    assert closed == [0, 1]


async def test_a_stalled_stream_ends_in_a_read_timeout_of_the_transport() -> None:
    with running_double([reply(text("Wait", gate("never"), "ing"))]) as double:
        async with client_of(double) as client:
            with pytest.raises(httpx2.ReadTimeout):
                await ask(client, timeout=0.2)
        assert await double.until_outcome(0) == "client left"


async def test_a_held_reply_sends_nothing_before_its_gate_opens() -> None:
    with running_double([reply("Late", hold="head")]) as double:
        async with client_of(double) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(ask, client)
            await double.until_gate("head")
            assert double.outcome(double.requests[0]) is None
            double.open("head")
            assert await double.until_outcome(0) == "complete"


async def test_a_client_that_leaves_in_mid_stream_is_noticed() -> None:
    with running_double([reply(text("a", gate("never"), "b"))]) as double:
        async with client_of(double) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(ask, client)
            await double.until_gate("never")
            tasks.cancel_scope.cancel()
        assert await double.until_outcome(0) == "client left"


@pytest.mark.parametrize("how", ["end", "close", "reset"])
async def test_a_cut_stream_ends_silently_or_with_a_transport_error(how: Any) -> None:
    with running_double([reply("Hello", chunk=1, cut=cut(after_event=4, how=how))]) as double:
        async with client_of(double) as client:
            if how == "end":
                events = await ask(client)
                assert [each["type"] for each in events][2:] == ["content_block_delta"] * 2
            else:
                with pytest.raises(httpx2.HTTPError):
                    await ask(client)
        assert await double.until_outcome(0) == "cut"


async def test_a_body_that_ends_early_leaves_the_connection_fit_for_the_next_request() -> None:
    script = [reply("Hello", cut=cut(after_event=n, how="end")) for n in range(4)]
    with running_double([*script, reply("Whole.")]) as double:
        async with client_of(double) as client:
            for number in range(4):
                assert len(await ask(client)) == number
            assert blocks(await ask(client)) == [{"type": "text", "text": "Whole."}]
        assert double.connections == 1


async def test_a_stream_can_be_cut_at_any_byte() -> None:
    whole = len(b"".join(_wire("Hello")))
    for at in range(0, whole, 97):
        with running_double([reply("Hello", cut=cut(at_byte=at, how="end"))]) as double:
            async with client_of(double) as client:
                try:
                    events = await ask(client)
                except (ValueError, anthropic.APIError):
                    continue  # the cut fell into the data of an event
                assert "message_stop" not in [each["type"] for each in events]


def _wire(words: str) -> list[bytes]:
    context = Context(MODEL, 0, {"input_tokens": 1}, show_thinking=True)
    return [piece for piece in play(reply(words), context).wire if isinstance(piece, bytes)]


async def test_an_error_event_breaks_the_stream_with_its_type() -> None:
    with running_double([reply("Half a sen", error_event("overloaded_error", "Busy"))]) as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.APIStatusError) as caught:
                await ask(client)
    assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")


async def test_unknown_events_blocks_and_pings_pass_the_sdk() -> None:
    script = [
        reply(
            ping(),
            event("weather", {"type": "weather", "sky": "blue"}),
            unknown_block("holograph", depth=3),
            "Done.",
            stop_reason="tired",
        )
    ]
    with running_double(script) as double:
        async with client_of(double) as client:
            events = await ask(client)
    assert blocks(events) == [{"type": "holograph", "depth": 3}, {"type": "text", "text": "Done."}]
    assert events[-2]["delta"]["stop_reason"] == "tired"


async def test_an_event_whose_data_is_not_json_reaches_the_client() -> None:
    with running_double([reply(event("content_block_delta", "{oops"))]) as double:
        async with client_of(double) as client:
            with pytest.raises(ValueError, match="Expecting property name"):
                await ask(client)


@pytest.mark.parametrize(
    ("answer", "error", "kind"),
    [
        (http_error(400), anthropic.BadRequestError, "invalid_request_error"),
        (http_error(401), anthropic.AuthenticationError, "authentication_error"),
        (http_error(403), anthropic.PermissionDeniedError, "permission_error"),
        (http_error(404), anthropic.NotFoundError, "not_found_error"),
        (http_error(413), anthropic.APIStatusError, "request_too_large"),
        (rate_limited(), anthropic.RateLimitError, "rate_limit_error"),
        (http_error(500), anthropic.InternalServerError, "api_error"),
        (overloaded(), anthropic.InternalServerError, "overloaded_error"),
    ],
)
async def test_http_errors_have_the_shape_the_sdk_classifies(
    answer: Answer, error: type[anthropic.APIStatusError], kind: str
) -> None:
    with running_double([answer]) as double:
        async with client_of(double) as client:
            with pytest.raises(error) as caught:
                await ask(client)
    assert caught.value.type == kind
    assert caught.value.request_id == "req_000000"
    body: Any = caught.value.body
    assert body["request_id"] == "req_000000"


async def test_a_rate_limit_carries_retry_after_and_what_remains() -> None:
    with running_double([rate_limited(retry_after=2.5)]) as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.RateLimitError) as caught:
                await ask(client)
    headers = caught.value.response.headers
    assert headers["retry-after"] == "2.5"
    assert headers["anthropic-ratelimit-input-tokens-remaining"] == "0"


async def test_a_proxy_page_and_a_dropped_connection_are_served_too() -> None:
    with running_double([http_error(502, body="<html>Bad gateway</html>"), hang_up()]) as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.InternalServerError) as caught:
                await ask(client)
            assert caught.value.body == "<html>Bad gateway</html>"
            with pytest.raises(anthropic.APIConnectionError):
                await ask(client)


async def test_conditional_replies_answer_their_request_whatever_the_order() -> None:
    def has(word: str) -> When:
        return lambda request: word in request.last_text

    script = [reply("plain"), reply("two", when=has("second")), reply("one", when=has("first"))]
    answers: list[str] = []
    with running_double(script) as double:
        async with client_of(double) as client:
            for word in ("first", "other", "second"):
                events = await ask(client, [{"role": "user", "content": word}])
                answers.append(blocks(events)[0]["text"])
        assert double.unplayed == 0
    assert answers == ["one", "plain", "two"]


async def test_a_function_may_answer_every_request() -> None:
    def echo(request: Request) -> Answer:
        return reply(f"You said: {request.last_text}")

    with running_double(echo) as double:
        async with client_of(double) as client:
            events = await ask(client)
            await ask(client)
    assert blocks(events)[0]["text"] == "You said: Hello"


async def test_a_script_that_runs_out_is_a_loud_failure() -> None:
    with pytest.raises(DoubleFailure, match="no reply left"), running_double([]) as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.InternalServerError, match="no reply left"):
                await ask(client)
        assert len(double.failures) == 1


async def test_a_function_that_raises_is_a_loud_failure() -> None:
    def broken(request: Request) -> Answer:
        raise KeyError(request.model)

    with pytest.raises(DoubleFailure, match="KeyError"), running_double(broken) as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.InternalServerError):
                await ask(client)


async def test_an_unexpected_refusal_fails_the_test_that_caused_it() -> None:
    with pytest.raises(DoubleFailure, match="refused with 401"), running_double() as double:
        async with client_of(double, api_key="wrong") as client:
            with pytest.raises(anthropic.AuthenticationError):
                await ask(client)


async def test_what_the_double_saw_is_noted_on_the_error_of_the_test() -> None:
    with pytest.raises(ValueError, match="mine") as caught, running_double() as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.InternalServerError):
                await ask(client)
        raise ValueError("mine")
    assert "no reply left" in caught.value.__notes__[0]


async def test_the_key_is_never_recorded() -> None:
    with running_double([reply("Hi")]) as double:
        async with client_of(double) as client:
            await ask(client)
        request = double.requests[0]
        assert request.headers["authorization"] == "***"
        assert request.headers["anthropic-version"] == "2026-10-21"
        assert double.api_key not in repr(request)


async def test_models_and_token_counts_are_served_as_the_sdk_reads_them() -> None:
    with running_double(allow_refusals=True) as double:
        async with client_of(double) as client:
            with anyio.fail_after(5):
                models = {model.id: model async for model in client.models.list(limit=3)}
                counted = await client.messages.count_tokens(model=MODEL, messages=HELLO)
                again = await client.messages.count_tokens(model=MODEL, messages=HELLO)
                more = await client.messages.count_tokens(model=MODEL, messages=HELLO, tools=[READ])
                with pytest.raises(anthropic.NotFoundError):
                    await client.models.retrieve("claude-9")
        sonnet = models[MODEL]
        assert (sonnet.max_input_tokens, sonnet.max_tokens) == (1_000_000, 128_000)
        assert sonnet.capabilities is not None
        assert sonnet.capabilities.thinking.types.between_tools.supported
        assert not sonnet.capabilities.thinking.types.disabled.supported
        assert len(models) == 8
        assert counted.input_tokens == again.input_tokens < more.input_tokens


async def test_a_closed_double_leaves_no_thread_and_no_port_behind() -> None:
    before = set(threading.enumerate())
    with running_double() as double:
        url = double.base_url
        async with httpx2.AsyncClient() as http:
            assert (await http.get(url)).text == "ok\n"
            assert (await http.head(url)).status_code == 200
    assert not [t for t in set(threading.enumerate()) - before if "double" in t.name]
    async with httpx2.AsyncClient() as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get(url)


async def test_a_port_that_is_taken_is_an_error_at_the_start() -> None:
    with running_double() as double, pytest.raises(OSError, match="in use"):
        Double(()).start(port=int(double.base_url.rpartition(":")[2]))


async def test_a_tool_call_may_be_broken_or_left_open() -> None:
    script = [
        reply(tool_use("Read", raw='{"path": ')),
        reply(tool_use("Read", {"path": "a"}, closed=False)),
    ]
    with running_double(script) as double:
        async with client_of(double) as client:
            broken = await ask(client, tools=[READ])
            unclosed = await ask(client, tools=[READ])
    deltas = [e["delta"]["partial_json"] for e in broken if e["type"] == "content_block_delta"]
    assert "".join(deltas) == '{"path": '
    assert "content_block_stop" not in [each["type"] for each in unclosed]
    assert unclosed[-2]["delta"]["stop_reason"] == "tool_use"


async def test_many_clients_at_once_each_get_a_reply_of_their_own() -> None:
    got: list[str] = []

    async def talk(client: AsyncAnthropic) -> None:
        got.append(blocks(await ask(client))[0]["text"])

    script = [reply(text(str(n), gate("all")), spread=True) for n in range(8)]
    with running_double(script) as double:
        async with client_of(double) as client, anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(talk, client)
            await double.until_requests(8)
            double.open("all")
    assert sorted(got) == [str(n) for n in range(8)]


async def test_waiting_in_vain_says_what_was_seen() -> None:
    with running_double([reply("Hi")]) as double:
        async with client_of(double) as client:
            await ask(client)
        with pytest.raises(TimeoutError, match="No 2 requests within 0.01 s; seen 1 requests"):
            double.wait_for_requests(2, timeout=0.01)


@pytest.mark.parametrize(
    "sent",
    [
        b"HELLO\r\n\r\n",
        b"POST /v1/messages HTTP/1.1\r\ncontent-length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"x" * 2_000_000 + b"\r\n\r\n",
    ],
    ids=["no http", "no length", "endless head"],
)
async def test_what_is_not_http_is_answered_with_400(sent: bytes) -> None:
    with running_double() as double:
        port = int(double.base_url.rpartition(":")[2])
        with anyio.fail_after(5):
            async with await anyio.connect_tcp("127.0.0.1", port) as stream:
                await stream.send(sent)
                assert (await stream.receive()).startswith(b"HTTP/1.1 400 ")


async def test_a_chunked_request_body_is_read_whole() -> None:
    async def body() -> AsyncGenerator[bytes]:
        for part in ('{"model":"', MODEL, '","messages":[{"role":"user","content":"a"}]}'):
            yield part.encode()

    with running_double() as double:
        headers = {"x-api-key": double.api_key, "anthropic-version": "2026-10-21"}
        url = f"{double.base_url}/v1/messages/count_tokens"
        async with httpx2.AsyncClient() as http:
            answer = await http.post(url, headers=headers, content=body())
        assert answer.json()["input_tokens"] > 0
        assert double.all_requests[0].model == MODEL
