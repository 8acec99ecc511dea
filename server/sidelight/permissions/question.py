"""What is asked: a call, what it touches, and what hooks said about it."""

from dataclasses import dataclass, field
from typing import Literal

from sidelight.core.access import Access
from sidelight.core.content import Json


@dataclass(frozen=True, slots=True)
class Question:
    """A call to be judged. `hook` is the strictest answer of the hooks that may speak."""

    tool: str
    input: Json
    accesses: tuple[Access, ...]
    hook: Literal["allow", "deny", "ask"] | None = None
    hook_reason: str = field(default="")

    @property
    def command(self) -> str:
        """The whole command text of a shell call, else an empty text."""
        text = self.input.get("command")
        return text.strip() if isinstance(text, str) else ""
