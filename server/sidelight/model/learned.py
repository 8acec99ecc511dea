"""What a provider tells of its models, kept on disk by its host with the day it was told.

It is asked in the background after the start and counts from the next connection on, so that no
request waits for it and the requests of one session keep their shape.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeGuard, get_args

from sidelight.core.content import Json, as_list, as_object
from sidelight.core.model import Effort
from sidelight.model.catalog import Feature, ModelCard, ThinkingKind, card

LARGEST = 1_000_000
"""Bytes of a list on disk; a larger one is not ours."""
DEFAULT_OUTPUT = 32_000
FRESH_DAYS = 1
SUPPORTED = "supported"


def cards_of(listed: object) -> dict[str, ModelCard]:
    """Cards of a `/v1/models` answer; entries that tell no window are left out."""
    entries = map(as_object, as_list(as_object(listed).get("data")))
    cards = (_card(entry) for entry in entries if isinstance(entry.get("id"), str))
    return {each.id: each for each in cards if each is not None}


def stored(folder: Path, host: str) -> tuple[dict[str, ModelCard], str]:
    """The cards that were kept for a host, and their day; none and "" when there are none."""
    try:
        path = file_of(folder, host)
        if path.stat().st_size > LARGEST:
            return {}, ""
        kept = as_object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}, ""
    if kept.get("host") != host:
        return {}, ""
    return cards_of(kept.get("answer")), str(kept.get("as_of", ""))


def keep(folder: Path, host: str, answer: object, on: date) -> None:
    """Keep an answer. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"host": host, "as_of": on.isoformat(), "answer": answer}, indent=1)
    path = file_of(folder, host)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def is_fresh(as_of: str, today: date) -> bool:
    """Whether a list of that day need not be asked for again."""
    with suppress(ValueError):
        return 0 <= (today - date.fromisoformat(as_of)).days < FRESH_DAYS
    return False


def file_of(folder: Path, host: str) -> Path:
    """The file for a host."""
    return folder / f"{sha256(host.encode()).hexdigest()[:16]}.json"


def _card(entry: Json) -> ModelCard | None:
    window, cap = entry.get("max_input_tokens"), entry.get("max_tokens")
    if not _is_count(window) or not _is_count(cap):
        return None
    known = card(str(entry["id"]))
    told = replace(known, window=window, output_cap=cap, default_output=min(cap, DEFAULT_OUTPUT))
    able = as_object(entry.get("capabilities"))
    return _with_features(told, able) if able else told


def _with_features(known: ModelCard, able: Mapping[str, object]) -> ModelCard:
    """The card with the features that the provider tells; of others, what was known."""
    told: set[Feature] = {"context_editing", "documents", "strict_tools"}
    features: set[Feature] = set(known.features) - told
    if _can(able, "context_management", "clear_tool_uses_20250919"):
        features.add("context_editing")
    if _can(able, "pdf_input"):
        features.add("documents")
    if _can(able, "structured_outputs"):
        features.add("strict_tools")
    efforts: tuple[Effort, ...] = ()
    if _can(able, "effort"):
        efforts = tuple(level for level in get_args(Effort) if _can(able, "effort", level))
    return replace(
        known,
        thinking=_thinking(able),
        efforts=efforts,
        effort_default=known.effort_default if known.effort_default in efforts else None,
        features=frozenset(features),
    )


def _thinking(able: Mapping[str, object]) -> ThinkingKind:
    if not _can(able, "thinking"):
        return "none"
    if _can(able, "thinking", "types", "adaptive"):
        return "adaptive"
    return "budget" if _can(able, "thinking", "types", "enabled") else "none"


def _can(able: Mapping[str, object], *path: str) -> bool:
    place: Any = able
    for name in path:
        place = as_object(place).get(name)
    return as_object(place).get(SUPPORTED) is True


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
