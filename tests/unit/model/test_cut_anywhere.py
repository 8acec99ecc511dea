"""At whatever byte the connection breaks off, nothing incomplete gets through the real client."""

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import httpx2
import pytest

from sidelight.core.content import AssistantBlock, Text
from sidelight.core.errors import ModelError
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ModelRequest,
    PromptMessage,
    ResponseEnded,
    SystemPrompt,
    ToolSpec,
)
from sidelight.model.anthropic import AnthropicClient
from sidelight.model.catalog import card
from sidelight.model.encode import Encoder
from sidelight.model.provider import Credential, Provider
from tests.conftest import SCALE
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import CutHow, cut, reply, text, thinking, tool_use

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(
    model="claude-sonnet-5-5",
    system=SystemPrompt(stable="You are a test."),
    tools=(ToolSpec(name="Read", description="Reads", input_schema={"type": "object"}),),
    messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
)
# The same bytes each time: nothing made up, nothing from a cache, no connection used again.
REPLY = reply(
    thinking("hmm", signature="c2ln"),
    text("\u00e9 \U0001f600 ok"),
    tool_use("Read", {"file_path": "/\u00e9"}, id="toolu_a"),
    tool_use("Read", {}, id="toolu_b"),
    chunk=4,
    usage={"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation": None},
    headers={"connection": "close"},
)
STRIDE = {"small": 23, "full": 1}[SCALE]


async def wire_of(double: Double) -> bytes:
    """The whole body of the reply, as it stands on the wire."""
    headers = {"authorization": f"Bearer {double.api_key}", "anthropic-version": "2026-10-21"}
    body = Encoder().body(REQUEST, card(REQUEST.model))
    async with httpx2.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{double.base_url}/v1/messages", content=body, headers=headers)
    return answer.content


def closings(wire: bytes) -> list[int]:
    """How many bytes it takes until each block is closed."""
    ends = [found.end() for found in re.finditer(rb"\n\n", wire)]
    starts = [0, *ends]
    return [b for a, b in zip(starts, ends, strict=False) if b"content_block_stop" in wire[a:b]]


async def told(client: AnthropicClient) -> tuple[list[ModelEvent], str]:
    """What came, and the kind of the failure that ended it."""
    events: list[ModelEvent] = []
    stream: Any = client.stream(REQUEST)
    try:
        async with aclosing(stream):
            async for event in stream:
                events.append(event)
    except ModelError as error:
        return events, error.kind
    return events, ""


def blocks(events: Sequence[ModelEvent]) -> list[AssistantBlock]:
    return [event.block for event in events if isinstance(event, BlockReady)]


@pytest.mark.parametrize("how", ["end", "close", "reset"])
async def test_cut_at_any_byte_only_closed_blocks_are_told_and_there_is_no_end(
    how: CutHow,
) -> None:
    with running_double([REPLY, REPLY]) as double, anyio.fail_after(120):
        wire = await wire_of(double)
        closed_at = closings(wire)
        provider = Provider("gateway", double.base_url, Credential("api_key", double.api_key), "")
        client = AnthropicClient(provider)
        whole = blocks((await told(client))[0])
        assert len(whole) == len(closed_at) == 4
        for at in range(1, len(wire) - 1, STRIDE):
            double.add(replace(REPLY, cut=cut(at_byte=at, how=how)))
            events, kind = await told(client)
            assert kind == "cut_off"
            assert not any(isinstance(event, ResponseEnded) for event in events)
            arrived = sum(end <= at for end in closed_at)
            ready = blocks(events)
            # What a reset connection had still to deliver is lost.
            assert ready == whole[: len(ready) if how == "reset" else arrived]
            assert len(ready) <= arrived
        await client.aclose()
