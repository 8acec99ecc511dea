"""The double refuses what the Messages API refuses, with its status, type and words."""

import base64
import json
import struct
from collections.abc import Callable
from typing import Any

import anthropic
import anyio
import httpx2
import pytest
from anthropic import AsyncAnthropic

from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.rules import MAX_BODY, check_request
from tests.fakes.messages_api.script import reply

pytestmark = pytest.mark.anyio

Change = Callable[[Json], None]

FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
TOOL: Json = {"name": "Read", "input_schema": {"type": "object", "properties": {}}}
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 4, 4)
WIDE = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 9000, 4)


def said(words: str, **more: Any) -> Json:
    return {"type": "text", "text": words, **more}


def call(name: str = "toolu_A", **more: Any) -> Json:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"path": "a"}, **more}


def result(name: str = "toolu_A", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": "text", **more}


def picture(data: bytes = PNG, media: str = "image/png", encoded: str | None = None) -> Json:
    encoded = encoded or base64.b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": media, "data": encoded}}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


def talk() -> Json:
    """A valid request with a tool call and its result behind it."""
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 1000,
        "stream": True,
        "system": [said("You are a careful engineer.", cache_control=HOUR)],
        "tools": [dict(TOOL)],
        "messages": [
            user(said("Read a.")),
            assistant(said("Reading."), call()),
            user(result(), said("And then?", cache_control=FIVE)),
        ],
    }


def put(**fields: Any) -> Change:
    return lambda body: body.update(fields)


def drop(name: str) -> Change:
    return lambda body: body.pop(name)


def history(*messages: Json) -> Change:
    return put(messages=list(messages))


def asked(*blocks: Json) -> Change:
    return history(user(*blocks))


def tool(**fields: Any) -> Change:
    return put(tools=[{**TOOL, **fields}])


def all_of(*changes: Change) -> Change:
    def change(body: Json) -> None:
        for each in changes:
            each(body)

    return change


LEGACY = put(model="claude-haiku-4-5", system="s", thinking={"type": "disabled"})
STRICT = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}

REFUSED: list[tuple[str, Change, str]] = [
    ("a call without a result", history(user(said("a")), assistant(call()), user(said("b"))),
     "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "
     "toolu_A"),
    ("a call at the very end", history(user(said("a")), assistant(call())),
     "`tool_use` ids were found without"),
    ("one of two results missing",
     history(user(said("a")), assistant(call(), call("toolu_B")), user(result("toolu_B"))),
     "immediately after: toolu_A."),
    ("text before the results", history(user(said("a")), assistant(call()),
                                        user(said("b"), result())),
     "`tool_use` ids were found without `tool_result` blocks immediately after"),
    ("a result one turn too late",
     history(user(said("a")), assistant(call()), user(said("b")), assistant(said("c")),
             user(result())),
     "`tool_use` ids were found without"),
    ("a result without a call", asked(result()),
     "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_A."),
    ("two results for one call",
     history(user(said("a")), assistant(call()), user(result(), result())),
     "each tool_use must have a single result"),
    ("two calls with one id",
     history(user(said("a")), assistant(call()), user(result()), assistant(call()),
             user(result())),
     "messages.3.content.0: `tool_use` ids must be unique"),
    ("a call id with a dot", history(user(said("a")), assistant(call("a.b")), user(result("a.b"))),
     "tool_use.id: String should match pattern"),
    ("call input that is a string",
     history(user(said("a")), assistant(call(input="{}")), user(result())),
     "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    ("an empty text block", asked(said("a"), said("")), "text content blocks must be non-empty"),
    ("a blank message", asked(said("  \n")),
     "text content blocks must contain non-whitespace text"),
    ("blank text of the assistant",
     history(user(said("a")), assistant(said(" ")), user(said("b"))),
     "messages.1: text content blocks must contain non-whitespace text"),
    ("an empty text block in system", put(system=[said("a"), said("")]),
     "system: text content blocks must be non-empty"),
    ("empty content of the user", history(user(said("a")), assistant(said("b")), user()),
     "messages.2: user messages must have non-empty content"),
    ("empty content of the assistant", history(user(said("a")), assistant(), user(said("b"))),
     "messages.1: all messages must have non-empty content"),
    ("a trailing assistant message", history(user(said("a")), assistant(said("b"))),
     "This model does not support assistant message prefill."),
    ("prefill that ends in a blank where prefill is allowed",
     all_of(LEGACY, history(user(said("a")), assistant(said("b ")))),
     "final assistant content cannot end with trailing whitespace"),
    ("an assistant first", history(assistant(said("a")), user(said("b"))),
     'first message must use the "user" role'),
    ("an unknown role", history({"role": "tool", "content": "a"}), "messages.0.role: Input should"),
    ("no messages", history(), "messages: at least one message is required"),
    ("a message with an extra field", history({**user(said("a")), "id": "m1"}),
     "messages.0.id: Extra inputs are not permitted"),
    ("a block with an extra field", asked(said("a", parsed=None)),
     "messages.0.content.0.text.parsed: Extra inputs are not permitted"),
    ("an unknown block", asked({"type": "holograph"}),
     "Input tag 'holograph' found using 'type' does not match any of the expected tags"),
    ("a document of the assistant",
     history(user(said("a")), assistant({"type": "document", "source": {}}), user(said("b"))),
     "Input tag 'document' found"),
    ("citations of the user", asked(said("a", citations=[{}])), "text.citations: not permitted"),
    ("five cache marks", asked(*[said("a", cache_control=FIVE)] * 4),
     "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ("the automatic mark as the fifth",
     all_of(asked(*[said("a", cache_control=FIVE)] * 3), put(cache_control=FIVE)), "Found 5."),
    ("an hour after five minutes",
     asked(said("a", cache_control=FIVE), said("b", cache_control=HOUR)),
     "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"),
    ("a mark with a scope", asked(said("a", cache_control={**FIVE, "scope": "global"})),
     "cache_control.ephemeral.scope: Extra inputs are not permitted"),
    ("a mark on an empty text block", asked(said("a"), said("", cache_control=FIVE)),
     "cache_control cannot be set for empty text blocks"),
    ("a mark on a thinking block",
     history(user(said("a")), assistant({"type": "thinking", "thinking": "t", "signature": "s",
                                         "cache_control": FIVE}, said("b")), user(said("c"))),
     "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
    ("thinking without its signature",
     history(user(said("a")), assistant({"type": "thinking", "thinking": "t"}, said("b")),
             user(said("c"))),
     "messages.1.content.0.thinking.signature: Field required"),
    ("thinking with an empty signature",
     history(user(said("a")),
             assistant({"type": "thinking", "thinking": "t", "signature": ""}, said("b")),
             user(said("c"))),
     "messages.1.content.0: Invalid `signature` in `thinking` block"),
    ("too many tokens", put(max_tokens=200_000),
     "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for "
     "claude-sonnet-5-5"),
    ("too many tokens for a small model", all_of(LEGACY, put(max_tokens=64_001)), "64001 > 64000"),
    ("temperature", put(temperature=0), "`temperature` is deprecated for this model."),
    ("top_p", put(top_p=0.5), "`top_p` is deprecated for this model."),
    ("top_k", put(top_k=5), "`top_k` is deprecated for this model."),
    ("a forced tool", put(tool_choice={"type": "tool", "name": "Read"}),
     "forced tool use ('tool') is not supported for this model"),
    ("any tool", put(tool_choice={"type": "any"}), "forced tool use ('any') is not supported"),
    ("thinking off on Sonnet 5.5", put(thinking={"type": "disabled"}),
     'send "thinking": {"type": "between_tools"}'),
    ("thinking off on Opus 5.5", put(model="claude-opus-5-5", thinking={"type": "disabled"}),
     '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive"'),
    ("a thinking budget", put(thinking={"type": "enabled", "budget_tokens": 2000}),
     '"thinking.type.enabled" is not supported for this model.'),
    ("a thinking budget above max_tokens",
     all_of(LEGACY, put(thinking={"type": "enabled", "budget_tokens": 2000})),
     "`max_tokens` must be greater than `thinking.budget_tokens`."),
    ("effort where there is none", all_of(LEGACY, put(output_config={"effort": "low"})),
     "does not support the effort parameter"),
    ("high effort with thinking off",
     put(thinking={"type": "between_tools"}, output_config={"effort": "max"}),
     "'max' needs thinking, which is turned off"),
    ("block binding without its beta",
     put(thinking={"type": "adaptive", "block_binding": {}}),
     "thinking.adaptive.block_binding: Extra inputs are not permitted"),
    ("an unknown field", put(verbosity="low"), "verbosity: Extra inputs are not permitted"),
    ("a beta field without its header", put(context_management={}),
     "context_management: Extra inputs are not permitted"),
    ("a tool name with a dot", tool(name="fs.read"),
     "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ("a tool name that is too long", tool(name="a" * 129), "tools.0.custom.name"),
    ("a tool name too long for an old model", all_of(LEGACY, tool(name="a" * 65)), "{1,64}"),
    ("two tools of one name", put(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    ("a tool without a schema", put(tools=[{"name": "Read"}]),
     "tools.0.custom.input_schema: Field required"),
    ("a schema with anyOf at its top", tool(input_schema={"type": "object", "anyOf": []}),
     "does not support oneOf, allOf, or anyOf at the top level"),
    ("a strict schema with a minimum",
     tool(strict=True, input_schema={**STRICT, "additionalProperties": False}),
     "For 'integer' type, property 'minimum' is not supported"),
    ("a strict schema open to more", tool(strict=True),
     "'additionalProperties' must be explicitly set to false"),
    ("an image of an unknown type", asked(picture(media="image/bmp")),
     "image.source.base64.media_type: Input should be one of"),
    ("an image that is not base64", asked(picture(encoded="%%%")),
     "image.source.base64.data: Input should be valid base64"),
    ("an image of another type than it says", asked(picture(media="image/jpeg")),
     "Image does not match the provided media type image/jpeg"),
    ("an image over 5 MB", asked(picture(PNG + b"\0" * 5_300_000)),
     "image exceeds 5 MB maximum: 5300024 bytes > 5242880 bytes"),
    ("an image too wide, in a result",
     history(user(said("a")), assistant(call()), user(result(content=[picture(WIDE)]))),
     "dimensions exceed max allowed size: 8000 pixels"),
    ("a document that is no PDF",
     asked({"type": "document", "source": {"type": "base64", "media_type": "application/pdf",
                                           "data": "AAAA"}}),
     "document.source.base64.data: The PDF specified was not valid."),
    ("a prompt beyond the window",
     all_of(LEGACY, asked(said("word " * 170_000))), "prompt is too long:"),
]  # fmt: skip

ACCEPTED: list[tuple[str, Change]] = [
    ("the plain talk", put()),
    ("a string as content", history({"role": "user", "content": "Hello"})),
    ("results spread over two user messages",
     history(user(said("a")), assistant(call(), call("toolu_B")), user(result()),
             user(result("toolu_B"), said("b")))),
    ("an empty result", history(user(said("a")), assistant(call()), user(result(content="")))),
    ("a blank beside other text", asked(said("a"), said(" "))),
    ("a blank before a call", history(user(said("a")), assistant(said("\n"), call()),
                                      user(result()))),
    ("four marks, hours first",
     asked(said("a", cache_control=HOUR), said("b", cache_control=FIVE),
           said("c", cache_control=FIVE))),
    ("between_tools at high effort",
     put(thinking={"type": "between_tools"}, output_config={"effort": "high"})),
    ("a system message in the middle",
     history(user(said("a")), {"role": "system", "content": "Mode: plan."}, user(said("b")))),
    ("prefill on an old model", all_of(LEGACY, history(user(said("a")), assistant(said("b"))))),
    ("a forced tool on an old model", all_of(LEGACY, put(tool_choice={"type": "any"}))),
    ("an image with its true type", asked(picture())),
    ("an image by address", asked({"type": "image", "source": {"type": "url", "url": "https://x"}})),
    ("input that looks like a cache mark",
     history(user(said("a")), assistant(call(input={"cache_control": FIVE})), user(result()))),
]  # fmt: skip


async def send(double: Double, body: Json, **client_options: Any) -> None:
    """Send a body as it is through the SDK."""
    options: dict[str, Any] = {"api_key": double.api_key, **client_options}
    async with AsyncAnthropic(base_url=double.base_url, max_retries=0, **options) as client:
        with anyio.fail_after(20):
            known = {name: body[name] for name in ("model", "max_tokens", "messages")}
            rest = {name: value for name, value in body.items() if name not in known}
            stream = await client.messages.create(**known, stream=True, extra_body=rest)
            async for _ in stream:
                pass


@pytest.mark.parametrize(("change", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
async def test_the_api_refuses(change: Change, words: str) -> None:
    body = talk()
    change(body)
    with running_double([reply("never")], allow_refusals=True) as double:
        with pytest.raises(anthropic.BadRequestError) as caught:
            await send(double, body)
        assert double.unplayed == 1
        assert [problem.status for _, problem in double.refusals] == [400]
    assert caught.value.type == "invalid_request_error"
    assert words in str(caught.value.api_message)
    assert caught.value.request_id == "req_000000"
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert caught.value.api_message in check_request(body)


@pytest.mark.parametrize("change", [a[1] for a in ACCEPTED], ids=[a[0] for a in ACCEPTED])
async def test_the_api_accepts(change: Change) -> None:
    body = talk()
    change(body)
    with running_double([reply("Fine.")]) as double:
        await send(double, body)
    assert check_request(body) == []


async def test_an_unknown_model_is_not_found() -> None:
    with (
        running_double(allow_refusals=True) as double,
        pytest.raises(anthropic.NotFoundError, match="model: claude-9") as caught,
    ):
        await send(double, {**talk(), "model": "claude-9"})
    assert caught.value.type == "not_found_error"


async def test_a_wide_image_names_its_path_and_the_limit() -> None:
    with (
        running_double(allow_refusals=True) as double,
        pytest.raises(anthropic.BadRequestError) as caught,
    ):
        await send(double, {**talk(), "messages": [user(picture(WIDE))]})
    assert caught.value.error_code == "image_dimensions_too_large"
    body: Any = caught.value.body
    assert body["error"]["details"] == {
        "error_code": "image_dimensions_too_large",
        "paths": ["messages.0.content.0"],
        "max_side_length_pixels": 8000,
    }


async def test_a_wrong_key_is_refused_until_the_double_takes_it() -> None:
    with running_double([reply("Fine.")], allow_refusals=True) as double:
        with pytest.raises(anthropic.AuthenticationError) as caught:
            await send(double, talk(), api_key="sk-other")
        double.api_key = "sk-other"
        await send(double, talk(), api_key="sk-other")
    assert caught.value.type == "authentication_error"


async def test_a_body_over_32_mb_is_too_large() -> None:
    with (
        running_double(allow_refusals=True) as double,
        pytest.raises(anthropic.APIStatusError) as caught,
    ):
        await send(double, {**talk(), "messages": [user(said("x" * MAX_BODY))]})
    assert (caught.value.status_code, caught.value.type) == (413, "request_too_large")


@pytest.mark.parametrize(
    ("headers", "content", "status", "words"),
    [
        ({"authorization": ""}, json.dumps(talk()), 401, "Authorization header is required"),
        ({"anthropic-version": "2023-06-01"}, json.dumps(talk()), 400, "is not a valid version"),
        ({"anthropic-version": ""}, json.dumps(talk()), 400, "is not a valid version"),
        ({}, "{not json", 400, "not valid JSON"),
        ({}, json.dumps({**talk(), "stream": False}), 400, "stream: this server only answers"),
        ({}, json.dumps({"stream": True, "model": "m"}), 400, "max_tokens: Field required"),
        ({}, json.dumps({**talk(), "messages": ["a"]}), 400, "should be a list of objects"),
        (
            {},
            json.dumps({**talk(), "messages": [{"role": "user"}]}),
            400,
            "content: Field required",
        ),
    ],
)
async def test_requests_the_sdk_would_not_send_are_refused_too(
    headers: dict[str, str], content: str, status: int, words: str
) -> None:
    with running_double(allow_refusals=True) as double:
        sent = {
            "authorization": f"Bearer {double.api_key}",
            "anthropic-version": "2026-10-21",
            **headers,
        }
        async with httpx2.AsyncClient() as http:
            answer = await http.post(
                f"{double.base_url}/v1/messages", headers=sent, content=content
            )
            assert answer.status_code == status
            assert words in answer.json()["error"]["message"]
            lost = await http.get(f"{double.base_url}/v1/elsewhere", headers=sent)
            assert (lost.status_code, lost.json()["error"]["type"]) == (404, "not_found_error")


async def test_counting_tokens_obeys_the_same_rules() -> None:
    with running_double(allow_refusals=True) as double:
        async with AsyncAnthropic(base_url=double.base_url, api_key=double.api_key) as client:
            with pytest.raises(anthropic.BadRequestError, match="without `tool_result`"):
                await client.messages.count_tokens(
                    model="claude-sonnet-5-5",
                    messages=[{"role": "user", "content": "a"}, assistant(call())],  # pyright: ignore
                )


async def test_a_lenient_double_takes_any_history() -> None:
    body = {**talk(), "messages": [assistant(call())]}
    with running_double([reply("Fine.")], strict=False) as double:
        await send(double, body)


async def test_all_problems_of_a_body_are_listed_at_once() -> None:
    body = {**talk(), "temperature": 1, "tools": [TOOL, TOOL], "messages": [user(result())]}
    assert check_request(body) == [
        "`temperature` is deprecated for this model.",
        "tools: Tool names must be unique.",
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_A. "
        "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
        "message.",
    ]
