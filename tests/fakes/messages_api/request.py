"""What the double recorded of one HTTP request, and the views tests ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request is refused: the status and error object the real API would send."""

    message: str
    type: str = "invalid_request_error"
    status: int = 400
    details: Json | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it arrived; `headers` have lower-case names and no secret."""

    body: Json
    raw: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    number: int = 0  # order of arrival over all paths, from 0
    arrived: float = 0.0  # seconds of the monotonic clock
    method: str = "POST"
    path: str = "/v1/messages"
    credential: Literal["right", "wrong", "none"] = "right"

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def messages(self) -> list[Json]:
        return dicts(self.body.get("messages"))

    @property
    def tools(self) -> list[Json]:
        return dicts(self.body.get("tools"))

    @property
    def system(self) -> list[Json]:
        """The system prompt as text blocks, also when a plain string was sent."""
        return blocks_of(self.body.get("system"))

    @property
    def betas(self) -> frozenset[str]:
        names = self.headers.get("anthropic-beta", "").split(",")
        return frozenset(name.strip() for name in names if name.strip())

    @property
    def last_text(self) -> str:
        """All text of the last message, tool results included, joined by newlines."""
        return text_of(self.messages[-1].get("content")) if self.messages else ""

    @property
    def tool_results(self) -> dict[str, str]:
        """The text of every tool result in the last message, by tool_use id."""
        last = self.messages[-1:]
        blocks = [block for message in last for block in blocks_of(message.get("content"))]
        return {
            str(block.get("tool_use_id")): text_of(block.get("content"))
            for block in blocks
            if block.get("type") == "tool_result"
        }


@dataclass(frozen=True, slots=True)
class Place:
    """A content block and where it stands in `messages`."""

    message: int
    index: int
    role: str
    block: Json

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.index}"


def places(body: Json) -> Iterator[Place]:
    """Every content block of `messages` in order; a plain string counts as one text block."""
    for number, message in enumerate(dicts(body.get("messages"))):
        role = str(message.get("role"))
        for index, block in enumerate(blocks_of(message.get("content"))):
            yield Place(number, index, role, block)


def turns(body: Json) -> list[tuple[str, list[Place]]]:
    """Blocks grouped as the server merges them: neighbours of one role are one turn."""
    grouped: list[tuple[str, list[Place]]] = []
    for place in places(body):
        if not grouped or grouped[-1][0] != place.role:
            grouped.append((place.role, []))
        grouped[-1][1].append(place)
    return grouped


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def is_object(value: object) -> TypeGuard[Json]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def items(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if is_array(value) else []


def dicts(value: object) -> list[Json]:
    """The objects in a list; anything else is left out."""
    return [item for item in items(value) if is_object(item)]


def mapping(value: object) -> Json:
    """The value if it is an object, else an empty one."""
    return value if is_object(value) else {}


def blocks_of(content: object) -> list[Json]:
    """Content as blocks: a string becomes one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return dicts(content)


def text_of(content: object) -> str:
    """The text in content, tool results included, joined by newlines."""
    parts: list[str] = []
    for block in blocks_of(content):
        if block.get("type") == "tool_result":
            parts.append(text_of(block.get("content")))
        elif isinstance(block.get("text"), str):
            parts.append(str(block["text"]))
    return "\n".join(parts)
