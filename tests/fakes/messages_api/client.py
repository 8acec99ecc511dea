"""A bare client on the real SDK, for the double's own tests and for tests of other parts of it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anthropic import AsyncAnthropic

from tests.fakes.messages_api.double import Double
from tests.fakes.messages_api.request import Json

MODEL = "claude-sonnet-5-5"
HELLO: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
SUMMARIZED: Any = {"type": "adaptive", "display": "summarized"}


@asynccontextmanager
async def client_of(double: Double, api_key: str | None = None) -> AsyncGenerator[AsyncAnthropic]:
    key = api_key or double.api_key
    async with AsyncAnthropic(base_url=double.base_url, api_key=key, max_retries=0) as client:
        yield client


async def ask(client: AsyncAnthropic, messages: list[Any] = HELLO, **more: Any) -> list[Json]:
    """Every event of one streamed reply, as plain objects."""
    more = {"model": MODEL, "max_tokens": 1000, "thinking": SUMMARIZED, **more}
    events: list[Json] = []
    with anyio.fail_after(5):
        stream = await client.messages.create(messages=messages, stream=True, **more)
        async for each in stream:
            events.append(each.to_dict(mode="json", warnings=False))
    return events


def blocks(events: list[Json]) -> list[Json]:
    """The content blocks that a stream adds up to."""
    built: list[Json] = []
    texts: list[dict[str, str]] = []
    for each in events:
        if each["type"] == "content_block_start":
            built.append(dict(each["content_block"]))
            texts.append({})
        if each["type"] == "content_block_delta":
            index: int = each["index"]
            _collect(texts[index], each["delta"])
    for block, pieces in zip(built, texts, strict=True):
        if "partial_json" in pieces:
            block["input"] = json.loads(pieces.pop("partial_json"))
        block.update(pieces)
    return built


def _collect(pieces: dict[str, str], delta: dict[str, str]) -> None:
    for name, piece in delta.items():
        if name != "type":
            pieces[name] = pieces.get(name, "") + piece
