"""What a conversation consists of; a history is an append-only list of these."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sidelight.core.content import AssistantBlock, Text, ToolUse, UserBlock, mended
from sidelight.core.record import Record

Origin = Literal["typed", "steering", "tools", "hook", "command"]


class Usage(Record):
    """Tokens of one response, as the provider counted them; `fast` if it answered in fast mode."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    fast: bool = False

    @property
    def context_tokens(self) -> int:
        """Size of the prompt that was sent: uncached, read from and written to the cache."""
        return (
            self.input_tokens
            + self.cache_read_input_tokens
            + self.cache_write_5m_tokens
            + self.cache_write_1h_tokens
        )

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
            cache_write_5m_tokens=self.cache_write_5m_tokens + other.cache_write_5m_tokens,
            cache_write_1h_tokens=self.cache_write_1h_tokens + other.cache_write_1h_tokens,
            fast=self.fast or other.fast,
        )


class UserMessage(Record):
    """What the person (or a tool, or a hook, on the user's side) said."""

    role: Literal["user"] = "user"
    id: str
    content: tuple[UserBlock, ...]
    origin: Origin = "typed"


class AssistantMessage(Record):
    """One complete response of the model.

    `continues` is set when it goes on where another message was cut off: the id under which people
    see both as one answer.
    """

    role: Literal["assistant"] = "assistant"
    id: str
    content: tuple[AssistantBlock, ...]
    stop_reason: str = "end_turn"
    usage: Usage = Usage()
    model: str = ""
    continues: str = ""

    @property
    def shown_as(self) -> str:
        """The id under which people see it."""
        return self.continues or self.id

    @property
    def text(self) -> str:
        """What it says, without thinking and calls."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The calls of this response, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolUse))


DISPLAY = "display"


class Attachment(Record):
    """A reminder from the harness; becomes user text when a request is built.

    One of the kind `DISPLAY` is for people alone: stored, and never sent.
    """

    role: Literal["attachment"] = "attachment"
    id: str
    kind: str
    text: Annotated[str, AfterValidator(mended)]


Place = tuple[str, tuple[int, ...]]
"""A block of the history: its message's id, and its index (with the index inside a result)."""


class Repairs(Record):
    """What is no longer sent because the provider refused it; the history itself keeps it."""

    struck: frozenset[Place] = frozenset()
    without_thinking: bool = False


Message = Annotated[UserMessage | AssistantMessage | Attachment, Field(discriminator="role")]
