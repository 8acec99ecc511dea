"""The models the double knows, with the limits and features it enforces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Lifecycle = Literal["active", "deprecated", "retired"]

EFFORTS = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the catalogue; token counts are whole tokens."""

    id: str
    name: str
    line: str
    created: str
    window: int
    max_output: int
    thinking: tuple[str, ...]  # accepted values of thinking.type
    display: str  # what thinking shows when the request does not say
    preserved: bool = True  # thinking is bound to what came before it
    forced_tools: bool = False  # tool_choice any and tool are accepted
    prefill: bool = False  # a trailing assistant message is accepted
    system_messages: bool = True  # role "system" inside messages is accepted
    efforts: tuple[str, ...] = EFFORTS
    off_efforts: tuple[str, ...] = EFFORTS  # efforts at which thinking may be off
    tool_name_limit: int = 128
    cache_minimum: int = 1024  # tokens below which a cache mark does nothing
    window_stop: bool = True  # a full window is a stop reason, no error
    lifecycle: Lifecycle = "active"  # a retired model is not found any more


_OFF_AT = EFFORTS[:3]

MODELS: dict[str, Model] = {
    model.id: model
    for model in (
        Model(
            "claude-fable-5-2", "Claude Fable 5.2", "fable", "2026-11-03T00:00:00Z",
            1_000_000, 128_000, ("adaptive",), "omitted", cache_minimum=512,
        ),
        Model(
            "claude-sonnet-5-5", "Claude Sonnet 5.5", "sonnet", "2026-09-28T00:00:00Z",
            1_000_000, 128_000, ("adaptive", "between_tools"), "omitted", off_efforts=_OFF_AT,
        ),
        Model(
            "claude-opus-5-5", "Claude Opus 5.5", "opus", "2026-09-22T00:00:00Z",
            1_000_000, 128_000, ("adaptive",), "omitted",
        ),
        Model(
            "claude-haiku-5-5", "Claude Haiku 5.5", "haiku", "2026-09-15T00:00:00Z",
            1_000_000, 128_000, ("adaptive",), "omitted",
        ),
        Model(
            "claude-fable-5-1", "Claude Fable 5.1", "fable", "2026-08-31T00:00:00Z",
            1_000_000, 128_000, ("adaptive",), "omitted", cache_minimum=512,
        ),
        Model(
            "claude-opus-5", "Claude Opus 5", "opus", "2026-06-01T00:00:00Z",
            1_000_000, 128_000, ("adaptive", "disabled"), "omitted", preserved=False,
            forced_tools=True, system_messages=False, off_efforts=_OFF_AT, cache_minimum=512,
        ),
        Model(
            "claude-sonnet-5", "Claude Sonnet 5", "sonnet", "2026-05-01T00:00:00Z",
            1_000_000, 128_000, ("adaptive", "disabled"), "omitted", preserved=False,
            forced_tools=True, system_messages=False,
        ),
        Model(
            "claude-haiku-4-5", "Claude Haiku 4.5", "haiku", "2025-10-01T00:00:00Z",
            200_000, 64_000, ("enabled", "disabled"), "summarized", preserved=False,
            forced_tools=True, prefill=True, system_messages=False, efforts=(),
            tool_name_limit=64, cache_minimum=4096, window_stop=False,
        ),
    )
}  # fmt: skip


def model_info(model: Model) -> dict[str, Any]:
    """The model as the Models API describes it."""

    def support(value: bool) -> dict[str, bool]:
        return {"supported": value}

    thinking_types = ("adaptive", "between_tools", "disabled", "enabled")
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": model.created,
        "lifecycle": model.lifecycle,
        "line": model.line,
        "deprecated_at": None if model.lifecycle == "active" else "2026-11-01T00:00:00Z",
        "retires_at": None,
        "max_input_tokens": model.window,
        "max_tokens": model.max_output,
        "capabilities": {
            "batch": support(True),
            "citations": support(True),
            "code_execution": support(True),
            "context_management": {
                "supported": True,
                "clear_thinking_20251015": support(True),
                "clear_tool_uses_20250919": support(True),
                "compact_20260112": support(model.id != "claude-haiku-4-5"),
            },
            "effort": {
                "supported": bool(model.efforts),
                **{effort: support(effort in model.efforts) for effort in EFFORTS},
            },
            "image_input": support(True),
            "pdf_input": support(True),
            "server_tools": {
                "supported": True,
                "code_execution": support(True),
                "web_search": support(True),
            },
            "structured_outputs": support(True),
            "thinking": {
                "supported": True,
                "types": {kind: support(kind in model.thinking) for kind in thinking_types},
            },
        },
    }


def model_page(known: Iterable[Model], query: dict[str, str]) -> dict[str, Any]:
    """One page of the list, newest first, by `limit` and `after_id`."""
    models = sorted(known, key=lambda model: model.created, reverse=True)
    after = query.get("after_id")
    start = next((n + 1 for n, model in enumerate(models) if model.id == after), 0)
    page = models[start : start + int(query.get("limit", "20"))]
    return {
        "data": [model_info(model) for model in page],
        "has_more": start + len(page) < len(models),
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
    }
