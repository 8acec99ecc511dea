"""One response of the model: its stream in, our events out, and what is left if it breaks."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from sidelight.core.content import AssistantBlock, Opaque, Text, Thinking, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.events import AnswerDiscarded, Event, TextDelta, ThinkingDelta
from sidelight.core.ids import new_id
from sidelight.core.messages import AssistantMessage, Usage
from sidelight.core.model import (
    BlockReady,
    ModelClient,
    ModelEvent,
    ModelRequest,
    ResponseBegan,
    ResponseEnded,
    TextChunk,
    ThinkingChunk,
    ToolUseStarted,
)
from sidelight.core.tokens import CHARACTERS_PER_TOKEN

Emit = Callable[[Event], Awaitable[None]]


@dataclass(slots=True)
class Response:
    """A response while it arrives; after a break it still knows which blocks were complete.

    `continues` names the message whose text it goes on with. `heard` counts what has arrived;
    `told` is the usage that the provider named at its beginning, by `model`.
    """

    continues: str = ""
    id: str = field(default_factory=new_id)
    closed: list[AssistantBlock] = field(default_factory=list[AssistantBlock])
    open_text: list[str] = field(default_factory=list[str])
    message: AssistantMessage | None = None
    error: ModelError | None = None
    shown: bool = False
    heard: int = 0
    model: str = ""
    told: Usage = Usage()
    received: int = 0

    @property
    def spent(self) -> Usage:
        """What is paid for it; the output of a broken one is estimated by what arrived."""
        if self.message is not None:
            return self.message.usage
        if not self.model:
            return Usage()
        output = max(self.told.output_tokens, -(-self.received // CHARACTERS_PER_TOKEN))
        return self.told.model_copy(update={"output_tokens": output})

    def discarded(self) -> AnswerDiscarded | None:
        """The event for when nothing of it stays; None while nobody has begun to answer."""
        model = self.message.model if self.message is not None else self.model
        if not model:
            return None
        return AnswerDiscarded(request_id=self.id, model=model, usage=self.spent)

    @property
    def acted(self) -> bool:
        """Whether a complete call arrived, which may run already."""
        return any(isinstance(block, ToolUse) for block in self.closed)

    @property
    def said(self) -> bool:
        """Whether text arrived that people have read."""
        whole = any(isinstance(block, Text) and block.text.strip() for block in self.closed)
        return whole or bool("".join(self.open_text).strip())

    def salvage(self, stop_reason: str) -> AssistantMessage | None:
        """What may stay in the history of a response that did not end: complete blocks, said text.

        None when there is neither text nor a complete call.
        """
        blocks = list(self.closed)
        said = "".join(self.open_text)
        if said.strip():
            blocks.append(Text(text=said))
        while blocks and isinstance(blocks[-1], Thinking | Opaque):
            blocks.pop()  # the API refuses a message that ends in thinking
        if not any(
            isinstance(block, ToolUse) or (isinstance(block, Text) and block.text.strip())
            for block in blocks
        ):
            return None
        return AssistantMessage(
            id=self.id,
            content=tuple(blocks),
            stop_reason=stop_reason,
            usage=self.spent,
            model=self.model,
            continues=self.continues,
        )


async def receive(
    response: Response,
    client: ModelClient,
    request: ModelRequest,
    emit: Emit,
    submit: Callable[[ToolUse], None],
) -> None:
    """Fill `response` from the model's stream; complete calls are submitted as they close.

    A ModelError ends up in `response.error`. Cancelling closes the stream.
    """
    stream = cast("AsyncGenerator[ModelEvent, None]", client.stream(request))
    try:
        async with aclosing(stream):
            async for event in stream:
                await _take(response, event, emit, submit)
    except ModelError as error:
        response.error = error
    else:
        if response.message is None:
            response.error = ModelError("cut_off", "The answer broke off before its end.")


async def _take(
    response: Response, event: ModelEvent, emit: Emit, submit: Callable[[ToolUse], None]
) -> None:
    response.heard += 1
    match event:
        case ResponseBegan():
            response.model, response.told = event.model, event.usage
        case TextChunk():
            response.shown = True
            response.received += len(event.text)
            response.open_text.append(event.text)
            shown_as = response.continues or response.id
            await emit(TextDelta(message_id=shown_as, text=event.text))
        case ThinkingChunk():
            response.shown = True
            response.received += len(event.text)
            await emit(ThinkingDelta(message_id=response.id, text=event.text))
        case BlockReady():
            response.closed.append(event.block)
            if isinstance(event.block, Text):
                response.open_text.clear()
            elif isinstance(event.block, ToolUse):
                response.received += len(str(event.block.input))
                submit(event.block)
        case ResponseEnded():
            names = {"id": response.id, "continues": response.continues}
            response.message = event.message.model_copy(update=names)
        case ToolUseStarted():
            pass
