"""Remembers what the double sent, and tells whether thinking that comes back is still in its place.

A thinking block is bound to `system`, `tools` and every block before it. Cache marks are not part
of the binding: they move from request to request. Thinking blocks before it are not hashed but
chained, so that old thinking may be left out from the front, never from the middle.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.messages_api.models import MODELS, Model
from tests.fakes.messages_api.request import (
    Json,
    Place,
    blocks_of,
    dicts,
    is_array,
    is_object,
    places,
)

THINKING = ("thinking", "redacted_thinking")
Finding = Literal["valid", "unknown", "altered", "unreadable", "moved"]


@dataclass(frozen=True, slots=True)
class Produced:
    """A thinking block the double sent, and what it was bound to."""

    block: Json
    model: str
    prefix: str
    previous: str | None


@dataclass(slots=True)
class Memory:
    """Everything the double must know of its models and its own replies to judge later requests.

    `strangers` says that thinking it did not write is let pass, as a bare checker has to.
    """

    models: dict[str, Model] = field(default_factory=lambda: dict(MODELS))
    strangers: bool = True
    thinking: dict[str, Produced] = field(default_factory=dict[str, Produced])
    paused: set[str] = field(default_factory=set[str])
    block_types: set[str] = field(default_factory=set[str])

    def remember(self, body: Json, sent: list[Json], *, stop_reason: str | None) -> None:
        """Bind the thinking in a reply to the request that caused it."""
        model = str(body.get("model"))
        digest = _opening(body)
        previous: str | None = None
        for place, finding in self._walk(body, digest):
            if finding == "valid":
                previous = _key(place.block)
        for block in sent:
            self.block_types.add(str(block.get("type")))
            if block.get("type") in THINKING:
                bound = Produced(block, model, digest.hexdigest(), previous)
                previous = _key(block)
                self.thinking[previous] = bound
            else:
                _add(digest, "assistant", block)
        if stop_reason == "pause_turn" and sent:
            self.paused.add(canonical(sent[-1]))

    def survey(self, body: Json) -> list[tuple[Place, Finding]]:
        """What the double thinks of each thinking block in a request, in order."""
        return list(self._walk(body, _opening(body)))

    def _walk(self, body: Json, digest: Any) -> Iterable[tuple[Place, Finding]]:
        model = str(body.get("model"))
        last_valid: str | None = None
        for place in places(body):
            if place.block.get("type") not in THINKING:
                _add(digest, place.role, place.block)
                continue
            finding = self._judge(place.block, model, digest.hexdigest(), last_valid)
            if finding == "valid":
                last_valid = _key(place.block)
            yield place, finding

    def _judge(self, block: Json, model: str, prefix: str, last_valid: str | None) -> Finding:
        produced = self.thinking.get(_key(block))
        if produced is None:
            return "unknown"
        if produced.model != model:
            return "unreadable"
        if produced.block != block:
            return "altered"
        in_chain = last_valid is None or produced.previous == last_valid
        return "valid" if produced.prefix == prefix and in_chain else "moved"


def canonical(value: object) -> str:
    """One text for equal JSON values, whatever the order of their keys; cache marks left out."""
    return json.dumps(without_marks(value), sort_keys=True, separators=(",", ":"))


def without_marks(value: object) -> object:
    """The value with `cache_control` taken out of blocks, tools and nested results, key order kept.

    Arguments of a tool call are data, so nothing is taken out of them.
    """
    if is_array(value):
        return [without_marks(item) for item in value]
    if is_object(value):
        return {
            key: item if key in ("input", "input_schema") else without_marks(item)
            for key, item in value.items()
            if key != "cache_control"
        }
    return value


def _opening(body: Json) -> Any:
    digest = hashlib.sha256()
    for tool in dicts(body.get("tools")):
        _add(digest, "tools", tool)
    for block in blocks_of(body.get("system")):
        _add(digest, "system", block)
    return digest


def _add(digest: Any, role: str, block: Json) -> None:
    digest.update(f"{role}\n{canonical(block)}\n".encode("utf-8", "surrogatepass"))


def _key(block: Json) -> str:
    return str(block.get("signature") or block.get("data"))
