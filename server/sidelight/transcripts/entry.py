"""What may stand on a line of a transcript. Version 1."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from sidelight.core.content import Json, ToolUse, UserBlock
from sidelight.core.events import EndReason
from sidelight.core.messages import Message, Repairs, Usage
from sidelight.core.model import SystemPrompt, ToolSpec
from sidelight.core.record import Record
from sidelight.core.spend import Spent

VERSION = 1


class _Line(Record):
    """A line; fields that a later version added are read over. `at` is ISO 8601, UTC."""

    model_config = ConfigDict(extra="ignore")
    at: str = ""


class Opened(_Line):
    """First line: where the session lives and the prefix that it sends, byte for byte."""

    type: Literal["opened"] = "opened"
    version: int = VERSION
    session_id: str
    cwd: str
    model: str
    system: SystemPrompt
    tools: tuple[ToolSpec, ...]


class PromptStored(_Line):
    """A prompt was accepted; it joins the history with the turn that takes it up.

    One that is stored again has other words now.
    """

    type: Literal["prompt"] = "prompt"
    prompt_id: str
    content: tuple[UserBlock, ...]


class PromptDropped(_Line):
    """A prompt joins nothing: its sender took it back, or a hook kept it from the model."""

    type: Literal["prompt_dropped"] = "prompt_dropped"
    prompt_id: str


class RepairsStored(_Line):
    """What requests leave out from here on, since the provider refused it."""

    type: Literal["repairs"] = "repairs"
    repairs: Repairs


class MessageStored(_Line):
    """A message joined the history."""

    type: Literal["message"] = "message"
    message: Message


class CallBegun(_Line):
    """A call is about to be judged and may run before the answer that holds it is complete.

    What remains of an answer when the process is killed in the middle of it.
    """

    type: Literal["call_begun"] = "call_begun"
    call: ToolUse


class CallStored(_Line):
    """How a call ended, for people: what the panel shows again after a reload."""

    type: Literal["call"] = "call"
    tool_use_id: str
    name: str
    outcome: str
    data: Json = {}
    duration_ms: int = 0


class SpendStored(_Line):
    """A request was answered, and what it cost by the prices of that day."""

    type: Literal["spend"] = "spend"
    spent: Spent


class ModeStored(_Line):
    """The permission mode from here on."""

    type: Literal["mode"] = "mode"
    mode: str


class ModelStored(_Line):
    """Another model from here on, with the prefix that was written for it."""

    type: Literal["model"] = "model"
    model: str
    system: SystemPrompt


class TitleStored(_Line):
    """The conversation's name; the last one counts."""

    type: Literal["title"] = "title"
    title: str


class TurnStored(_Line):
    """A turn ended."""

    type: Literal["turn"] = "turn"
    turn_id: str
    reason: EndReason
    usage: Usage = Usage()
    error: str | None = None


Entry = Annotated[
    Opened
    | PromptStored
    | PromptDropped
    | RepairsStored
    | MessageStored
    | CallBegun
    | CallStored
    | SpendStored
    | ModeStored
    | ModelStored
    | TitleStored
    | TurnStored,
    Field(discriminator="type"),
]
ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)
