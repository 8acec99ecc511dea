"""The double accounts a prompt cache by marks, look-back, minimum length and lifetime."""

from typing import Any

import pytest

from tests.fakes.messages_api.cache import PromptCache
from tests.fakes.messages_api.client import MODEL, ask, client_of
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.script import reply

FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def block(size: int, mark: Json | None = None, letter: str = "x") -> Json:
    """A text block of exactly `size` tokens of the double's estimate."""
    frame = len('{"type":"text","text":""}')
    made: Json = {"type": "text", "text": letter * (size * 4 - frame)}
    return {**made, "cache_control": mark} if mark else made


def request(*blocks: Json, system: Json | None = None, model: str = MODEL) -> Json:
    """A request of these blocks; the cache does not care whose turn they are in."""
    body: Json = {"model": model, "messages": [{"role": "user", "content": list(blocks)}]}
    return {**body, "system": [system]} if system else body


def account(cache: PromptCache, body: Json) -> tuple[int, int, int]:
    """Tokens read, written for 5 minutes and written for an hour."""
    usage = cache.account(body)
    created = usage["cache_creation"]
    five, hour = created["ephemeral_5m_input_tokens"], created["ephemeral_1h_input_tokens"]
    assert usage["cache_creation_input_tokens"] == five + hour
    assert usage["input_tokens"] >= 0
    return usage["cache_read_input_tokens"], five, hour


def test_the_second_request_reads_what_the_first_wrote() -> None:
    cache = PromptCache()
    assert account(cache, request(block(2000), block(500, FIVE))) == (0, 2500, 0)
    grown = request(block(2000), block(500), block(300), block(200, FIVE))
    assert account(cache, grown) == (2500, 500, 0)
    assert account(cache, grown) == (3000, 0, 0)


def test_each_mark_is_billed_by_its_own_lifetime() -> None:
    cache = PromptCache()
    body = request(block(100), block(400, FIVE), system=block(2000, HOUR))
    assert account(cache, body) == (0, 500, 2000)
    cache.expire("5m")
    assert account(cache, body) == (2000, 500, 0)
    cache.expire()
    assert account(cache, body) == (0, 500, 2000)


@pytest.mark.parametrize(("between", "read"), [(18, 2000), (19, 0)])
def test_a_mark_looks_for_an_entry_at_twenty_blocks_its_own_included(
    between: int, read: int
) -> None:
    cache = PromptCache()
    account(cache, request(block(2000, FIVE)))
    later = request(block(2000), *[block(10)] * between, block(10, FIVE))
    assert account(cache, later)[0] == read


def test_below_the_minimum_nothing_is_cached() -> None:
    cache = PromptCache()
    assert account(cache, request(block(1023, FIVE))) == (0, 0, 0)
    assert account(cache, request(block(1023, FIVE))) == (0, 0, 0)
    assert account(cache, request(block(1023, FIVE), model="claude-opus-5")) == (0, 1023, 0)


def test_without_a_mark_nothing_is_read_or_written() -> None:
    cache = PromptCache()
    account(cache, request(block(2000, FIVE)))
    assert account(cache, request(block(2000), block(10))) == (0, 0, 0)


@pytest.mark.parametrize(
    "changed",
    [
        request(block(2000, FIVE, letter="y")),
        request(block(2000, FIVE), system=block(10)),
        request(block(2000, FIVE), model="claude-opus-5-5"),
        {**request(block(2000, FIVE)), "tools": [{"name": "Read"}]},
    ],
    ids=["text", "system", "model", "tools"],
)
def test_a_change_before_the_mark_reads_nothing(changed: Json) -> None:
    cache = PromptCache()
    account(cache, request(block(2000, FIVE)))
    assert account(cache, changed)[0] == 0


def test_the_automatic_mark_stands_on_the_last_block() -> None:
    cache = PromptCache()
    body = {**request(block(2000), block(100)), "cache_control": HOUR}
    assert account(cache, body) == (0, 0, 2100)
    assert account(cache, body) == (2100, 0, 0)


@pytest.mark.anyio
async def test_the_stream_reports_the_cache_at_both_ends() -> None:
    messages: list[Any] = [{"role": "user", "content": [block(2000, FIVE)]}]
    with running_double([reply("One."), reply("Two.")]) as double:
        async with client_of(double) as client:
            await ask(client, messages)
            events = await ask(client, messages)
    start, end = events[0]["message"]["usage"], events[-2]["usage"]
    assert start["cache_read_input_tokens"] == end["cache_read_input_tokens"] == 2000
    assert start["cache_creation_input_tokens"] == end["cache_creation_input_tokens"] == 0
