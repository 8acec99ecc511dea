"""Accounts a prompt cache: what a request reads from earlier ones, and what it writes.

An entry is written at each cache mark and found again by a later request whose own mark stands on
the same block or up to 19 blocks behind it. Nothing expires by the clock; tests expire entries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.messages_api.binding import canonical
from tests.fakes.messages_api.models import MODELS, Model
from tests.fakes.messages_api.request import Json, blocks_of, dicts, mapping, places
from tests.fakes.messages_api.tokens import IMAGE_TOKENS, count_tokens, measure

Ttl = Literal["5m", "1h"]
LOOK_BACK = 20  # positions a mark looks at, its own included


@dataclass(frozen=True, slots=True)
class _Point:
    """The prompt up to and with one block."""

    key: str
    tokens: int
    ttl: Ttl | None  # of the mark on this block, if it has one


@dataclass(slots=True)
class PromptCache:
    """The entries of one account, by the hash of the prompt they hold."""

    models: Mapping[str, Model] = field(default_factory=lambda: MODELS)
    entries: dict[str, Ttl] = field(default_factory=dict[str, Ttl])

    def account(self, body: Json) -> Json:
        """The input side of `usage` for a request; its own entries are there from now on."""
        points = list(_points(body))
        model = self.models.get(str(body.get("model")))
        minimum = model.cache_minimum if model else 0
        marked = [n for n, p in enumerate(points) if p.ttl and p.tokens >= minimum]
        read = max((points[n].tokens for n in self._found(points, marked)), default=0)
        written: dict[str, int] = {"5m": 0, "1h": 0}
        done = read
        for number in marked:
            point = points[number]
            if point.ttl and point.tokens > done:
                written[point.ttl] += point.tokens - done
                done = point.tokens
            self.entries[point.key] = point.ttl or "5m"
        total = count_tokens(body)
        return {
            "input_tokens": max(0, total - done),
            "cache_creation_input_tokens": done - read,
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written["5m"],
                "ephemeral_1h_input_tokens": written["1h"],
            },
            "service_tier": "standard",
        }

    def expire(self, *ttls: Ttl) -> None:
        """Forget the entries of these lifetimes, or all, as if their time had passed."""
        gone = [key for key, ttl in self.entries.items() if not ttls or ttl in ttls]
        for key in gone:
            del self.entries[key]

    def _found(self, points: list[_Point], marked: list[int]) -> Iterator[int]:
        for mark in marked:
            for number in range(mark, max(-1, mark - LOOK_BACK), -1):
                if points[number].key in self.entries:
                    yield number
                    break


def _points(body: Json) -> Iterator[_Point]:
    digest = hashlib.sha256(str(body.get("model")).encode())
    size = images = 0
    blocks = list(_blocks(body))
    for number, (role, block) in enumerate(blocks):
        digest.update(f"{role}\n{canonical(block)}\n".encode("utf-8", "surrogatepass"))
        more_bytes, more_images = measure(block)
        size, images = size + more_bytes, images + more_images
        mark = mapping(block.get("cache_control"))
        if not mark and number == len(blocks) - 1:
            mark = mapping(body.get("cache_control"))
        ttl: Ttl | None = ("1h" if mark.get("ttl") == "1h" else "5m") if mark else None
        yield _Point(digest.hexdigest(), size // 4 + images * IMAGE_TOKENS, ttl)


def _blocks(body: Json) -> Iterator[tuple[str, Json]]:
    for tool in dicts(body.get("tools")):
        yield "tools", tool
    for block in blocks_of(body.get("system")):
        yield "system", block
    for place in places(body):
        yield place.role, place.block
