"""The blocks that messages are made of, shaped like those of the Messages API."""

from typing import Annotated, Any, Literal, TypeGuard

from pydantic import AfterValidator, Field

from sidelight.core.record import Record

Json = dict[str, Any]


def is_object(value: object) -> TypeGuard[Json]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def as_object(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return value if is_object(value) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return value if is_list(value) else []


def mended(text: str) -> str:
    """The text with half characters (lone surrogates) joined where they meet, else replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Text(Record):
    """Plain or Markdown text; half characters, which can be neither stored nor sent, are mended."""

    type: Literal["text"] = "text"
    text: Annotated[str, AfterValidator(mended)]


class Thinking(Record):
    """A thinking block, kept as the dict that arrived: it must go back byte for byte.

    `model` wrote it, and no other can read it; empty when that is not known.
    """

    type: Literal["thinking"] = "thinking"
    raw: Json
    model: str = ""

    @property
    def text(self) -> str:
        """What may be shown to people; empty when the provider sent none."""
        return str(self.raw.get("thinking", ""))


class Opaque(Record):
    """A block we do not know (redacted thinking, server tools), carried unchanged.

    `model` wrote it, and no other can read it; empty when that is not known.
    """

    type: Literal["opaque"] = "opaque"
    raw: Json
    model: str = ""


class Image(Record):
    """A picture: media type as in `image/png`, data in base64."""

    type: Literal["image"] = "image"
    media_type: str
    data: str


class Document(Record):
    """Pages for the model to read: media type as in `application/pdf`, data in base64.

    `text` is what stands in them, for a model or a server that takes no documents.
    """

    type: Literal["document"] = "document"
    media_type: str
    data: str
    text: str = ""


class ToolUse(Record):
    """A call that the model asks for; `input` is the parsed JSON, not yet validated."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: Json


class ToolReference(Record):
    """A tool that a search found: the server shows its definition to the model in this place."""

    type: Literal["tool_reference"] = "tool_reference"
    tool_name: str


ResultBlock = Annotated[Text | Image | Document | ToolReference, Field(discriminator="type")]


class ToolResult(Record):
    """The answer to one `ToolUse`."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: tuple[ResultBlock, ...]
    is_error: bool = False


UserBlock = Annotated[Text | Image | Document | ToolResult, Field(discriminator="type")]
AssistantBlock = Annotated[Text | Thinking | Opaque | ToolUse, Field(discriminator="type")]
Block = Annotated[
    Text | Thinking | Opaque | Image | Document | ToolUse | ToolResult, Field(discriminator="type")
]
