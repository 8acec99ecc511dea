"""How the layers of settings become one: the strongest scalar, all of every list."""

from collections.abc import Sequence
from typing import Any, cast

from sidelight.core.content import Json

WHOLE = frozenset({"fallbackModel"})
"""Lists that are taken from the strongest layer as they are."""


def merge(layers: Sequence[Json]) -> Json:
    """Join layers, the strongest first: objects by key, lists as unions, else the strongest."""
    result: Json = {}
    for layer in layers:
        result = _join(result, layer)
    return result


def _join(strong: Json, weak: Json) -> Json:
    joined = dict(strong)
    for key, value in weak.items():
        if key not in joined:
            joined[key] = value
        elif isinstance(joined[key], dict) and isinstance(value, dict):
            joined[key] = _join(cast("Json", joined[key]), cast("Json", value))
        elif isinstance(joined[key], list) and isinstance(value, list) and key not in WHOLE:
            joined[key] = _union(cast("list[Any]", joined[key]), cast("list[Any]", value))
    return joined


def _union(strong: list[Any], weak: list[Any]) -> list[Any]:
    return [*strong, *(item for item in weak if item not in strong)]
