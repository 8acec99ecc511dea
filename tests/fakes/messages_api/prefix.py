"""Tells whether one request extends another byte for byte.

Cache marks in `messages` may move, as they do from step to step; everything else may not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tests.fakes.messages_api.binding import without_marks
from tests.fakes.messages_api.request import Request

_decode = json.JSONDecoder().raw_decode
_blank = re.compile(r"[\s,:]*")


def prefix_problems(requests: Iterable[Request]) -> list[str]:
    """Where a request does not extend the one before it; empty when history only ever grew."""
    ordered = list(requests)
    problems: list[str] = []
    for earlier, later in zip(ordered, ordered[1:], strict=False):
        if problem := prefix_problem(earlier, later):
            problems.append(f"request {later.number} after {earlier.number}: {problem}")
    return problems


def prefix_problem(earlier: Request, later: Request) -> str | None:
    """The first place where `later` does not extend `earlier`, or None."""
    old, new = members(earlier.raw), members(later.raw)
    for name in ("model", "system", "tools"):
        if old.get(name) != new.get(name):
            return f"{name} changed: {_difference(old.get(name, ''), new.get(name, ''))}"
    before, after = elements(old.get("messages", "[]")), elements(new.get("messages", "[]"))
    if len(after) < len(before):
        return f"{len(before)} messages became {len(after)}"
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other and _bare(one) != _bare(other):
            return f"messages.{index} changed: {_difference(_bare(one), _bare(other))}"
    return None


def members(raw: bytes) -> dict[str, str]:
    """The values of a JSON object as they stand in its text."""
    text = raw.decode("utf-8")
    found: dict[str, str] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        name, at = _decode(text, at)
        start = _skip(text, at)
        _, end = _decode(text, start)
        found[name] = text[start:end]
        at = _skip(text, end)
    return found


def elements(text: str) -> list[str]:
    """The elements of a JSON array as they stand in its text."""
    found: list[str] = []
    at = _skip(text, text.index("[") + 1)
    while text[at] != "]":
        _, end = _decode(text, at)
        found.append(text[at:end])
        at = _skip(text, end)
    return found


def _skip(text: str, at: int) -> int:
    match = _blank.match(text, at)
    return match.end() if match else at


def _bare(text: str) -> str:
    return json.dumps(without_marks(json.loads(text)), separators=(",", ":"), ensure_ascii=False)


def _difference(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if at is None:
        at = min(len(one), len(other))
    start = max(0, at - 20)
    return f"...{one[start : at + 40]!r} became ...{other[start : at + 40]!r}"
