"""Each rule of the double is broken at least once; what a body alone cannot show is shown here."""

import base64
import json
from dataclasses import replace
from typing import Any

import anthropic
import anyio
import httpx2
import pytest

from sidelight.core.content import Json
from tests.fakes.messages_api import rules
from tests.fakes.messages_api import rules_history as history
from tests.fakes.messages_api.binding import Memory
from tests.fakes.messages_api.client import HELLO, MODEL, ask, blocks, client_of
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.models import MODELS
from tests.fakes.messages_api.request import Request
from tests.fakes.messages_api.script import http_error, reply, text, thinking
from tests.fakes.messages_api.shapes import DISPLAY_BETA
from tests.unit.fakes.test_messages_api_rules import (
    LEGACY,
    PNG,
    REFUSED,
    Change,
    all_of,
    asked,
    assistant,
    call,
    drop,
    put,
    result,
    said,
    send,
    talk,
    tool,
    user,
)
from tests.unit.fakes.test_messages_api_rules import history as messages

pytestmark = pytest.mark.anyio


def schema(**property: Any) -> Change:
    """A strict tool with one property."""
    whole = {"type": "object", "properties": {"a": property}, "additionalProperties": False}
    return tool(strict=True, input_schema=whole)


def source(**fields: Any) -> Json:
    return {"type": "image", "source": fields}


def searching(*more: Json) -> Change:
    """A turn whose search has no result, with more messages behind it."""
    use: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    return messages(user(said("a")), assistant(use), *more)


BASE64 = base64.b64encode(PNG).decode()
MORE: list[tuple[str, Change, str]] = [
    ("no max_tokens", drop("max_tokens"), "max_tokens: Field required"),
    ("max_tokens that is no number", put(max_tokens="9"), "max_tokens: Input should be a valid"),
    ("max_tokens below zero", put(max_tokens=-1), "greater than or equal to 0"),
    ("too many messages", put(messages=[user(said("a"))] * 100_001),
     "messages: at most 100000 messages are allowed"),
    ("a tool choice that does not exist", put(tool_choice={"type": "some"}),
     "tool_choice.type: 'some' is not one of"),
    ("a tool choice without tools", all_of(put(tools=[]), put(tool_choice={"type": "auto"})),
     "tool_choice may only be specified while providing tools"),
    ("a forced tool that is not there",
     all_of(LEGACY, put(tool_choice={"type": "tool", "name": "Gone"})),
     "Tool 'Gone' not found in provided tools"),
    ("a thinking budget below the least",
     all_of(LEGACY, put(thinking={"type": "enabled", "budget_tokens": 100})),
     "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    ("thinking of no type", put(thinking={"type": "deep"}),
     '"thinking.type.deep" is not supported'),
    ("a display that does not exist", put(thinking={"type": "adaptive", "display": "all"}),
     "thinking.adaptive.display: Input should be one of summarized, omitted"),
    ("the display updates without its beta",
     put(thinking={"type": "adaptive", "display": "updates"}),
     "thinking.adaptive.display: Input should be one of summarized, omitted"),
    ("an effort that does not exist", put(output_config={"effort": "huge"}),
     "output_config.effort: Input should be one of low"),
    ("a schema that is no object", tool(input_schema={"type": "string"}),
     "input_schema.type: Input should be 'object'"),
    ("a strict schema with a least length", schema(type="string", minLength=1),
     "For 'string' type, property 'minLength' is not supported"),
    ("a strict schema with a lookahead", schema(type="string", pattern="^(?=a)"),
     "lookaround, backreferences and word boundaries are not supported"),
    ("a strict schema with two items", schema(type="array", items={}, minItems=2),
     "'minItems' values other than 0 or 1 are not supported"),
    ("a strict schema open within anyOf", schema(anyOf=[{"type": "object"}]),
     "'additionalProperties' must be explicitly set to false"),
    ("a strict schema with a maximum within items",
     schema(type="array", items={"type": "integer", "maximum": 3}),
     "property 'maximum' is not supported"),
    ("an image by an empty address", asked(source(type="url", url="")), "url: Field required"),
    ("an image from nowhere", asked(source(type="cloud")), "Input tag 'cloud' found"),
    ("an image of broken base64",
     asked(source(type="base64", media_type="image/png", data=BASE64[:-3])),
     "Input should be valid base64"),
    ("an empty text in a result",
     messages(user(said("a")), assistant(call()), user(result(content=[said("")]))),
     "messages.2: text content blocks must be non-empty"),
    ("a call in a result",
     messages(user(said("a")), assistant(call()), user(result(content=[call("toolu_B")]))),
     "messages.2.content.0.tool_result.content.0: Input tag 'tool_use' found"),
    ("a call without a name",
     messages(user(said("a")), assistant({**call(), "name": ""}), user(result())),
     "tool_use.name: String should match pattern"),
    ("a mark of no known life", asked(said("a", cache_control={"type": "ephemeral", "ttl": "2h"})),
     "cache_control: Input should be ephemeral with ttl 5m or 1h"),
    ("redacted thinking without its data",
     messages(user(said("a")), assistant({"type": "redacted_thinking"}, said("b")),
              user(said("c"))),
     "redacted_thinking.data: Field required"),
    ("a user message behind a paused search", searching(user(said("go on"))),
     "`web_search` tool use with id `srvtoolu_1` was found without a corresponding"),
    ("a blank system prompt", put(system=" "), "system: text content blocks must contain"),
    ("room for an answer that an old model does not have",
     all_of(LEGACY, put(max_tokens=60_000), asked(said("word " * 120_000))),
     "input length and `max_tokens` exceed context limit:"),
]  # fmt: skip
SHOWN_ELSEWHERE = {
    rules.known_model,  # 404, `test_an_unknown_model_is_not_found`
    history.thinking_unchanged,  # these two need a conversation: `test_messages_api_history.py`
    history.thinking_bound,
}


@pytest.mark.parametrize(("change", "words"), [r[1:] for r in MORE], ids=[r[0] for r in MORE])
async def test_the_api_refuses(change: Change, words: str) -> None:
    body = talk()
    change(body)
    with running_double([reply("never")], allow_refusals=True) as double:
        with pytest.raises(anthropic.BadRequestError) as caught:
            if "max_tokens" not in body or len(body["messages"]) > 1000:
                await post(double, body)
            else:
                await send(double, body)
        assert double.unplayed == 1
    assert caught.value.type == "invalid_request_error"
    assert words in str(caught.value.api_message)


async def post(double: Double, body: Json) -> None:
    """Send what the SDK's own checks would hold back or need long for."""
    async with client_of(double) as client:
        await client.post("/v1/messages", body=body, cast_to=object)


def test_every_rule_on_bodies_is_broken_by_some_case() -> None:
    broken: set[rules.Rule] = set()
    for _, change, _ in (*REFUSED, *MORE):
        body = talk()
        change(body)
        request = Request(body, raw=json.dumps(body).encode())
        broken |= {rule for rule in rules.BODY_RULES if first(request) is rule}
    assert set(rules.BODY_RULES) - broken == SHOWN_ELSEWHERE


def first(request: Request) -> rules.Rule | None:
    memory = Memory()
    return next((rule for rule in rules.BODY_RULES if rule(request, memory)), None)


async def test_a_paused_search_goes_back_as_it_is() -> None:
    body = talk()
    searching()(body)
    with running_double([reply("Found.")]) as double:
        await send(double, body)


async def test_updates_are_shown_with_their_beta() -> None:
    with running_double([reply("Fine.")]) as double:
        async with client_of(double) as client:
            config: Any = {"type": "adaptive", "display": "updates"}
            await ask(client, thinking=config, extra_headers={"anthropic-beta": DISPLAY_BETA})


async def test_a_new_model_stops_at_a_full_window_where_an_old_one_refuses() -> None:
    with running_double([reply("never")]) as double:
        async with client_of(double) as client:
            events = await ask(client, [user(said("word " * 900_000))])
        assert [each["type"] for each in events] == [
            "message_start",
            "message_delta",
            "message_stop",
        ]
        assert events[1]["delta"]["stop_reason"] == "model_context_window_exceeded"
        assert double.unplayed == 1


async def test_thinking_that_another_server_signed_is_refused_until_it_is_known() -> None:
    signed = {"type": "thinking", "thinking": "t", "signature": "b3RoZXI="}
    body = talk()
    messages(user(said("a")), assistant(signed, said("b")), user(said("c")))(body)
    with (
        running_double([reply("Fine.")], allow_refusals=True) as double,
        pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"),
    ):
        await send(double, body)


async def test_a_double_that_takes_over_anothers_memory_knows_its_thinking() -> None:
    with running_double([reply(thinking("Hm."), text("Yes."))]) as first_double:
        async with client_of(first_double) as client:
            said_before = blocks(await ask(client))
    later = [*HELLO, assistant(*said_before), user(said("And?"))]
    with running_double([reply("So.")]) as double:
        double.know_again(first_double)
        async with client_of(double) as client:
            await ask(client, later)


async def test_a_binding_of_another_behaviour_is_refused() -> None:
    config: Any = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "guess"}}
    with running_double(allow_refusals=True) as double:
        async with client_of(double) as client:
            with pytest.raises(anthropic.BadRequestError, match="error or drop_block"):
                headers = {"anthropic-beta": rules.BINDING_BETA}
                await ask(client, thinking=config, extra_headers=headers)


async def test_the_list_of_models_is_the_tests_to_change_and_may_fail() -> None:
    with running_double([reply("Fine."), reply("never")], allow_refusals=True) as double:
        new = replace(
            MODELS[MODEL], id="claude-next-6", name="Next", created="2026-12-01T00:00:00Z"
        )
        double.models["claude-next-6"] = new
        double.models[MODEL] = replace(MODELS[MODEL], lifecycle="retired")
        async with client_of(double) as client:
            with anyio.fail_after(5):
                listed = [model async for model in client.models.list(limit=3)]
                await ask(client, model="claude-next-6")
                with pytest.raises(anthropic.NotFoundError):
                    await ask(client)
                double.models_error = http_error(503)
                with pytest.raises(anthropic.InternalServerError):
                    await client.models.list()
        assert len(listed) == len(MODELS) + 1
        assert (listed[0].id, listed[0].lifecycle) == ("claude-next-6", "active")
        assert {model.id: model.lifecycle for model in listed}[MODEL] == "retired"
    assert "claude-next-6" not in MODELS


async def test_a_page_with_status_200_and_json_that_is_none_reach_the_client_as_they_are() -> None:
    broken = http_error(500, body="{oops", headers={"content-type": "application/json"})
    with running_double([http_error(200, body="<html>Log in</html>"), broken]) as double:
        url = f"{double.base_url}/v1/messages"
        headers = {"x-api-key": double.api_key, "anthropic-version": "2026-10-21"}
        async with httpx2.AsyncClient() as http:
            page = await http.post(url, headers=headers, json=talk())
            junk = await http.post(url, headers=headers, json=talk())
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html")
    assert page.text == "<html>Log in</html>"
    assert (junk.status_code, junk.headers["content-type"]) == (500, "application/json")
    assert junk.text == "{oops"


async def test_a_refused_key_and_a_busy_burst_pass_in_the_order_of_the_script() -> None:
    script = [http_error(401), *[http_error(529)] * 3, reply("At last.")]
    statuses: list[int] = []
    with running_double(script) as double:
        async with client_of(double) as client:
            for _ in range(4):
                with pytest.raises(anthropic.APIStatusError) as caught:
                    await ask(client)
                statuses.append(caught.value.status_code)
            assert blocks(await ask(client)) == [{"type": "text", "text": "At last."}]
        assert statuses == [401, 529, 529, 529]
        assert double.connections == 1
        assert len(double.usages) == 1
