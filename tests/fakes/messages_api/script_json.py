"""Reads a script from JSON, for tests outside Python and for the demonstration.

A file holds a list of entries, or an object with `replies`. An entry is one of
{"reply": [step, ...], ...}, {"http_error": 429, ...}, {"rate_limited": {...}}, {"hang_up": true},
each with optional "when" and "times". A step is a string (text) or an object with one of the keys
text, thinking, redacted_thinking, tool_use, unknown_block, gate, ping, event, error_event. Parts of
texts, and the `raw` JSON of a tool call, may be lists of strings and {"gate": name}.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes.messages_api import script as say
from tests.fakes.messages_api.request import (
    Json,
    Request,
    dicts,
    is_object,
    items,
    mapping,
    text_of,
)


def load_script(path: Path) -> list[say.Answer]:
    """Read a script file. Raises ValueError that names the file and the entry at fault."""
    try:
        return parse_script(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: {error}") from error


def parse_script(data: object) -> list[say.Answer]:
    """Turn parsed JSON into answers. Raises ValueError that names the entry at fault."""
    entries: list[object] = items(mapping(data).get("replies", data))
    if not entries:
        raise ValueError("a script is a list of entries or an object with `replies`")
    answers: list[say.Answer] = []
    for number, entry in enumerate(entries):
        fields = dict(mapping(entry))
        times = int(fields.pop("times", 1))
        try:
            answers += [_answer(fields)] * times
        except (TypeError, ValueError, KeyError) as error:
            raise ValueError(f"entry {number}: {error}") from error
    return answers


def _answer(fields: Json) -> say.Answer:
    when = _when(fields.pop("when", None))
    if "reply" in fields:
        steps = [_step(step) for step in items(fields.pop("reply"))]
        if "cut" in fields:
            fields["cut"] = say.cut(**fields["cut"])
        return say.reply(*steps, when=when, **fields)
    if "http_error" in fields:
        return say.http_error(fields.pop("http_error"), when=when, **fields)
    if "rate_limited" in fields:
        return say.rate_limited(**fields["rate_limited"], when=when)
    if fields.pop("hang_up", False):
        return say.hang_up(when=when, **fields)
    raise ValueError("needs one of reply, http_error, rate_limited, hang_up")


def _step(step: object) -> say.Step:
    if isinstance(step, str):
        return say.text(step)
    fields = dict(mapping(step))
    for key, build in _STEPS.items():
        if key in fields:
            return build(fields.pop(key), fields)
    raise ValueError(f"no step has the keys {sorted(fields)}")


def _tool_use(name: str, fields: Json) -> say.Block:
    raw: Any = fields.pop("raw", None)
    return say.tool_use(name, raw=None if raw is None else _parts(raw), **fields)


_STEPS: dict[str, Callable[[Any, Json], say.Step]] = {
    "text": lambda value, more: say.text(*_parts(value), **more),
    "thinking": lambda value, more: say.thinking(*_parts(value), **more),
    "redacted_thinking": lambda value, more: say.redacted_thinking(value, **more),
    "tool_use": _tool_use,
    "unknown_block": lambda value, more: say.unknown_block(value, **more),
    "gate": lambda value, more: say.gate(value, **more),
    "event": lambda value, more: say.event(value, **more),
    "error_event": lambda value, more: say.error_event(**value, **more),
    "ping": lambda _, more: say.ping(**more),
}


def _parts(value: object) -> list[str | say.Gate]:
    values: list[Any] = [value] if isinstance(value, str) else items(value)
    return [say.gate(v["gate"]) if is_object(v) else str(v) for v in values]


def _when(condition: object) -> say.When | None:
    if condition is None:
        return None
    wanted = mapping(condition)
    unknown = wanted.keys() - {"last_text_contains", "system_contains", "model", "has_tool"}
    if unknown:
        raise ValueError(f"unknown condition {sorted(unknown)}")

    def matches(request: Request) -> bool:
        names = {tool.get("name") for tool in dicts(request.body.get("tools"))}
        return (
            str(wanted.get("last_text_contains", "")) in request.last_text
            and str(wanted.get("system_contains", "")) in text_of(request.body.get("system"))
            and wanted.get("model", request.model) == request.model
            and ("has_tool" not in wanted or wanted["has_tool"] in names)
        )

    return matches
