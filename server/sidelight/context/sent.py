"""What was sent of one session's history: it only grows, and a step costs what is new in it."""

from collections.abc import Sequence

from sidelight.context.blocks import How
from sidelight.context.normalise import Normaliser
from sidelight.core.messages import Message, Place
from sidelight.core.model import PromptMessage


class Sent:
    """Normalises a history that grows. One a session; each message is looked at once.

    Messages that were given out before are given out again as the same objects, so that whoever
    encodes them can tell. It starts anew when the history was replaced, or is to be sent otherwise.
    """

    def __init__(self) -> None:
        self._normaliser = Normaliser()
        self._taken = 0
        self._last: Message | None = None

    def messages(
        self,
        history: Sequence[Message],
        *,
        struck: frozenset[Place] = frozenset(),
        without_thinking: bool = False,
        tool_search: bool = False,
    ) -> tuple[PromptMessage, ...]:
        """As `normalise`, but what was given out before is only added to."""
        how = How(struck, without_thinking, tool_search)
        if how != self._normaliser.how or not self._goes_on(history):
            self._normaliser = Normaliser(how)
            self._taken, self._last = 0, None
        for index in range(self._taken, len(history)):
            self._last = history[index]
            self._normaliser.take(self._last)
        self._taken = len(history)
        return self._normaliser.messages()

    def _goes_on(self, history: Sequence[Message]) -> bool:
        if self._taken > len(history):
            return False
        return self._taken == 0 or history[self._taken - 1] is self._last
