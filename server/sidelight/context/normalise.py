"""From a history to messages that the API accepts; the same history always gives the same bytes.

The rules stand in the API's own documentation of tool use: every call has its result in the very
next user message, results first; ids of calls are unique; no empty text; roles alternate.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from sidelight.context.blocks import How, assistant_blocks, sent_id, user_blocks
from sidelight.context.reminders import wrap
from sidelight.core.content import Block, Text, ToolResult, ToolUse
from sidelight.core.messages import (
    DISPLAY,
    AssistantMessage,
    Attachment,
    Message,
    Place,
    UserMessage,
)
from sidelight.core.model import PromptMessage

log = logging.getLogger(__name__)

NOT_RECORDED = "The result of this call was not recorded; it may have partly run."
GO_ON = Text(text=wrap("Go on."))
"""Stands where an answer has nothing to answer: at the beginning, after another one, at the end."""


def normalise(
    history: Sequence[Message],
    *,
    struck: frozenset[Place] = frozenset(),
    without_thinking: bool = False,
    tool_search: bool = False,
) -> tuple[PromptMessage, ...]:
    """The history as alternating user and assistant messages, beginning with the user's. Pure.

    Blocks that are `struck` are replaced by a note; `without_thinking` leaves all thinking out;
    references to tools go only along with `tool_search`.
    """
    normaliser = Normaliser(How(struck, without_thinking, tool_search))
    for message in history:
        normaliser.take(message)
    return normaliser.messages()


@dataclass(slots=True)
class _OpenCall:
    """A call of the last answer: the id that the model gave it, and its result so far."""

    given: str
    call: ToolUse
    result: ToolResult | None = None


@dataclass(slots=True)
class Normaliser:
    """A history taken message by message. What `messages` gave out is only ever added to:

    from then on a call whose result was missing has none, and a late one is dropped.
    """

    how: How = field(default_factory=How)
    _closed: list[PromptMessage] = field(default_factory=list[PromptMessage])
    _calls: list[_OpenCall] = field(default_factory=list[_OpenCall])
    _others: list[Block] = field(default_factory=list[Block])
    _last: PromptMessage | None = None
    _paused: bool = False
    _seen: dict[str, Message] = field(default_factory=dict[str, Message])
    _ids: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, message: Message) -> None:
        """Add the next message of the history; one that stands in it twice counts once."""
        if self._seen.get(message.id) == message:
            log.warning("the message %s stands twice in the history", message.id)
            return
        self._seen[message.id] = message
        match message:
            case AssistantMessage():
                self._take_answer(message)
            case UserMessage() | Attachment():
                self._take_user(message)

    def messages(self) -> tuple[PromptMessage, ...]:
        """The whole history up to here."""
        last = self._settled()
        return tuple(self._closed) if last is None else (*self._closed, last)

    def _take_answer(self, message: AssistantMessage) -> None:
        content = assistant_blocks(message, self.how)
        if not content:
            return
        if not self._closed:
            self._begin_with_the_user()
        before = self._settled()
        if before is not None:
            self._closed.append(before)
        self._calls, self._others, self._last = [], [], None
        blocks = tuple(self._named(block) for block in content)
        if self._closed[-1].role == "assistant":  # it was paused, and this goes on with it
            blocks = (*self._closed.pop().content, *blocks)
        self._closed.append(PromptMessage(role="assistant", content=blocks))
        self._paused = message.stop_reason == "pause_turn"

    def _begin_with_the_user(self) -> None:
        if not self._others:
            self._others.append(GO_ON)

    def _named(self, block: Block) -> Block:
        """The block; a call under an id that the API takes and that no other call has."""
        if not isinstance(block, ToolUse):
            return block
        name = plain = sent_id(block.id)
        while name in self._ids:
            self._ids[plain] += 1
            name = f"{plain}_{self._ids[plain]}"
        self._ids[name] = 1
        call = block if name == block.id else block.model_copy(update={"id": name})
        self._calls.append(_OpenCall(block.id, call))
        return call

    def _take_user(self, message: UserMessage | Attachment) -> None:
        if isinstance(message, Attachment) and message.kind == DISPLAY:
            return
        for block in user_blocks(message, self.how):
            if isinstance(block, ToolResult):
                self._answer(block)
            else:
                self._others.append(block)
                self._last = None

    def _answer(self, result: ToolResult) -> None:
        """Give the result to the first call of the last answer that has its id and no result."""
        for waiting in self._calls:
            if waiting.given == result.tool_use_id and waiting.result is None:
                waiting.result = _to(waiting.call, result)
                self._last = None
                return
        log.warning("a result for the call %s has no call and is not sent", result.tool_use_id)

    def _settled(self) -> PromptMessage | None:
        """What stands after the last answer, results first, missing ones made good."""
        if self._last is not None:
            return self._last
        for waiting in self._calls:
            if waiting.result is None:
                text = (Text(text=NOT_RECORDED),)
                waiting.result = ToolResult(
                    tool_use_id=waiting.call.id, content=text, is_error=True
                )
        results = tuple(call.result for call in self._calls if call.result is not None)
        if not results and not self._others:
            if not self._closed or self._paused:
                return None
            self._others.append(GO_ON)
        self._last = PromptMessage(role="user", content=(*results, *self._others))
        return self._last


def _to(call: ToolUse, result: ToolResult) -> ToolResult:
    if result.tool_use_id == call.id:
        return result
    return result.model_copy(update={"tool_use_id": call.id})
