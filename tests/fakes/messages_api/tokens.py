"""A deterministic estimate of tokens: four bytes of JSON each, images at a fixed price."""

from __future__ import annotations

import json

from tests.fakes.messages_api.request import Json, is_array, is_object, mapping

IMAGE_TOKENS = 1600
_COUNTED = ("system", "tools", "messages", "tool_choice", "thinking")


def count_tokens(body: Json) -> int:
    """The input tokens of a request, at least 1."""
    size, images = measure({key: body[key] for key in _COUNTED if key in body})
    return max(1, size // 4) + images * IMAGE_TOKENS


def measure(value: object) -> tuple[int, int]:
    """The bytes of a value as JSON without marks and image data, and how many images it holds."""
    images = 0

    def shorten(value: object) -> object:
        nonlocal images
        if is_array(value):
            return [shorten(item) for item in value]
        if not is_object(value):
            return value
        if value.get("type") == "image" and mapping(value.get("source")).get("type") == "base64":
            images += 1
            return {"type": "image"}
        return {key: shorten(item) for key, item in value.items() if key != "cache_control"}

    counted = json.dumps(shorten(value), separators=(",", ":"), ensure_ascii=False)
    return len(counted.encode("utf-8", "replace")), images
