"""The model as a port: one request in, a stream of events out."""

from collections.abc import AsyncIterator
from typing import Literal, Protocol

from sidelight.core.content import AssistantBlock, Block, Json
from sidelight.core.messages import AssistantMessage, Usage
from sidelight.core.record import Record

Effort = Literal["low", "medium", "high", "xhigh", "max"]


class SystemPrompt(Record):
    """Two parts; the gap between them is the cache boundary. Fixed for a session's life."""

    stable: str
    dynamic: str = ""


class ToolSpec(Record):
    """A tool as the model sees it; `input_schema` is JSON Schema.

    Of a `deferred` one the model sees the name only, until a search refers to it.
    """

    name: str
    description: str
    input_schema: Json
    deferred: bool = False


class PromptMessage(Record):
    """One message of a request after normalising: roles alternate, results stand first."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]


class ModelRequest(Record):
    """All of a request; `model` is an alias or an id of the catalogue.

    `fast` asks for the dearer fast mode; only models that have it may be asked so.
    """

    model: str
    system: SystemPrompt
    tools: tuple[ToolSpec, ...]
    messages: tuple[PromptMessage, ...]
    max_output_tokens: int | None = None
    effort: Effort | None = None
    fast: bool = False


class ResponseBegan(Record):
    """The provider has read the prompt; `usage` is what it counted so far, `model` who answers."""

    type: Literal["response_began"] = "response_began"
    model: str
    usage: Usage


class TextChunk(Record):
    """A piece of the answer's text."""

    type: Literal["text"] = "text"
    text: str


class ThinkingChunk(Record):
    """A piece of the thinking that may be shown."""

    type: Literal["thinking"] = "thinking"
    text: str


class ToolUseStarted(Record):
    """The model began a call; its input is still to come."""

    type: Literal["tool_use_started"] = "tool_use_started"
    id: str
    name: str


class BlockReady(Record):
    """A block was closed; if it is a call it may run while the model still speaks."""

    type: Literal["block_ready"] = "block_ready"
    block: AssistantBlock


class ResponseEnded(Record):
    """The response is complete; always the last event, and absent from a broken stream."""

    type: Literal["response_ended"] = "response_ended"
    message: AssistantMessage


ModelEvent = ResponseBegan | TextChunk | ThinkingChunk | ToolUseStarted | BlockReady | ResponseEnded


class ModelClient(Protocol):
    """A provider. Never retries by itself: the loop's recovery does, visibly."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream one response; an async generator, to be closed by whoever iterates it.

        Raises ModelError only. Closing it ends the HTTP exchange.
        """
        ...
