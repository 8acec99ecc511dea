"""Reads a transcript back into a conversation, whatever a crash has left of it."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from sidelight.core.content import ToolUse
from sidelight.core.messages import AssistantMessage, Message, Repairs, Usage
from sidelight.core.spend import Spent
from sidelight.transcripts.entry import (
    ENTRY,
    VERSION,
    CallBegun,
    CallStored,
    Entry,
    MessageStored,
    ModelStored,
    ModeStored,
    Opened,
    PromptDropped,
    PromptStored,
    RepairsStored,
    SpendStored,
    TitleStored,
    TurnStored,
)
from sidelight.transcripts.store import TranscriptError


@dataclass(slots=True)
class Replay:
    """A conversation as stored. `waiting` are prompts that no turn has taken up yet.

    `size` is the file's, in bytes. A killed process leaves calls that began and no answer that
    holds them; they stand in `messages` as an answer of their own. `spent` is by request id,
    `answered` is when each answer was stored, by its id.
    """

    opened: Opened
    messages: list[Message] = field(default_factory=list[Message])
    calls: dict[str, CallStored] = field(default_factory=dict[str, CallStored])
    waiting: dict[str, PromptStored] = field(default_factory=dict[str, PromptStored])
    mode: str | None = None
    title: str | None = None
    usage: Usage = Usage()
    spent: dict[str, Spent] = field(default_factory=dict[str, Spent])
    answered: dict[str, str] = field(default_factory=dict[str, str])
    repairs: Repairs = Repairs()
    unread_lines: int = 0
    size: int = 0
    _begun: dict[str, ToolUse] = field(default_factory=dict[str, ToolUse])
    _held: set[str] = field(default_factory=set[str])

    def take(self, entry: Entry) -> None:
        """Add what stood on one line."""
        match entry:
            case MessageStored():
                self.answered[entry.message.id] = entry.at
                self._join(entry.message)
            case SpendStored():
                self.spent[entry.spent.request_id] = entry.spent
            case PromptStored() | PromptDropped():
                self._wait(entry)
            case CallBegun():
                self._begun[entry.call.id] = entry.call
            case CallStored():
                self.calls[entry.tool_use_id] = entry
            case TurnStored():
                self.usage += entry.usage
            case RepairsStored() | ModeStored() | ModelStored() | TitleStored():
                self._set(entry)
            case Opened():
                pass

    def close(self) -> None:
        """Nothing follows: calls that no message holds are what is left of an answer."""
        left = tuple(call for call in self._begun.values() if call.id not in self._held)
        self._begun.clear()
        if left:
            rest = AssistantMessage(id=f"rest-{left[0].id}", content=left, stop_reason="killed")
            self._join(rest)

    def _set(self, entry: RepairsStored | ModeStored | ModelStored | TitleStored) -> None:
        """The last one of each counts."""
        match entry:
            case ModelStored():
                chosen = {"model": entry.model, "system": entry.system}
                self.opened = self.opened.model_copy(update=chosen)
            case RepairsStored():
                self.repairs = entry.repairs
            case ModeStored():
                self.mode = entry.mode
            case TitleStored():
                self.title = entry.title

    def _wait(self, entry: PromptStored | PromptDropped) -> None:
        if isinstance(entry, PromptStored):
            self.waiting[entry.prompt_id] = entry
        else:
            self.waiting.pop(entry.prompt_id, None)

    def _join(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._held.update(call.id for call in message.tool_uses)
        elif self._begun:
            self.close()
        self.messages.append(message)
        self.waiting.pop(message.id, None)


def replay(path: Path) -> Replay:
    """Read a whole transcript; lines that cannot be read are counted, not fatal.

    Raises TranscriptError when the file has no readable beginning or is of a newer version,
    FileNotFoundError when there is none.
    """
    result: Replay | None = None
    unread = 0
    size = 0
    with path.open("rb") as lines:
        for line in lines:
            size += len(line)
            entry = parse(line)
            if entry is None:
                unread += 1
            elif isinstance(entry, Opened):
                result = result or Replay(_known_version(entry, path))
            elif result is not None:
                result.take(entry)
    if result is None:
        raise TranscriptError(f"{path} is not a conversation that can be read.")
    result.close()
    result.unread_lines, result.size = unread, size
    return result


def parse(line: bytes) -> Entry | None:
    """One line, or None when it is cut, empty or of an unknown kind."""
    try:
        return ENTRY.validate_json(line)
    except ValidationError:
        return None


def _known_version(opened: Opened, path: Path) -> Opened:
    if opened.version > VERSION:
        message = f"{path} was written by a newer version of Sidelight. Update to open it."
        raise TranscriptError(message)
    return opened
