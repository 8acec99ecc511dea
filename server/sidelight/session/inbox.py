"""Prompts on their way into the conversation: stored first, then taken up by a turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sidelight.core.content import Text, UserBlock
from sidelight.core.events import Queued, TurnEnded
from sidelight.core.messages import Origin, UserMessage
from sidelight.transcripts.entry import PromptStored


@dataclass(slots=True)
class Waiting:
    """A stored prompt; `ended` is set when the turn that took it up along the way is over."""

    id: str
    content: tuple[UserBlock, ...]
    taken: bool = False
    ended: TurnEnded | None = None

    def message(self, origin: Origin) -> UserMessage:
        """The prompt as it joins the history, under its own id."""
        return UserMessage(id=self.id, content=self.content, origin=origin)

    @property
    def typed(self) -> str:
        """The words that were typed; what goes along with them comes after."""
        return next((block.text for block in self.content if isinstance(block, Text)), "")

    @property
    def text(self) -> str:
        """Its words, for people."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))


@dataclass(slots=True)
class Inbox:
    """The prompts of one session that have not ended yet, oldest first."""

    _waiting: list[Waiting] = field(default_factory=list[Waiting])

    @staticmethod
    def of(stored: Iterable[PromptStored]) -> "Inbox":
        """Prompts that an earlier process left waiting."""
        return Inbox([Waiting(prompt.prompt_id, prompt.content) for prompt in stored])

    def add(self, id: str, content: Sequence[UserBlock]) -> Waiting:
        """Put a prompt in line; the caller has stored it already."""
        waiting = Waiting(id, tuple(content))
        self._waiting.append(waiting)
        return waiting

    def queued(self) -> tuple[Queued, ...]:
        """The prompts that no turn has taken up."""
        return tuple(
            Queued(id=waiting.id, content=waiting.content)
            for waiting in self._waiting
            if not waiting.taken
        )

    def find(self, id: str) -> Waiting | None:
        """A prompt that no turn has taken up."""
        return next((each for each in self._waiting if each.id == id and not each.taken), None)

    def drop(self, waiting: Waiting, ended: TurnEnded) -> None:
        """A prompt is not to be sent; `ended` is its answer."""
        waiting.taken, waiting.ended = True, ended
        self._waiting = [other for other in self._waiting if other is not waiting]

    def fresh(self) -> tuple[Waiting, ...]:
        """What no turn has taken up, oldest first."""
        return tuple(waiting for waiting in self._waiting if not waiting.taken)

    def take(self, waiting: Waiting) -> bool:
        """Take up one prompt; whether it still waited."""
        fresh = not waiting.taken
        waiting.taken = True
        return fresh

    def end(self, ended: TurnEnded) -> None:
        """The running turn is over: everything that it had taken up is answered."""
        for waiting in self._waiting:
            if waiting.taken:
                waiting.ended = ended
        self._waiting = [waiting for waiting in self._waiting if not waiting.taken]
