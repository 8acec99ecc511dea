"""Reads a transcript back into a conversation, whatever a crash has left of it."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from sidelight.core.messages import Message, Usage
from sidelight.transcripts.entry import (
    ENTRY,
    VERSION,
    CallStored,
    Entry,
    MessageStored,
    ModeStored,
    Opened,
    PromptStored,
    TitleStored,
    TurnStored,
)
from sidelight.transcripts.store import TranscriptError


@dataclass(slots=True)
class Replay:
    """A conversation as stored. `waiting` are prompts that no turn has taken up yet."""

    opened: Opened
    messages: list[Message] = field(default_factory=list[Message])
    calls: dict[str, CallStored] = field(default_factory=dict[str, CallStored])
    waiting: dict[str, PromptStored] = field(default_factory=dict[str, PromptStored])
    mode: str | None = None
    title: str | None = None
    usage: Usage = Usage()
    unread_lines: int = 0


def replay(path: Path) -> Replay:
    """Read a whole transcript; lines that cannot be read are counted, not fatal.

    Raises TranscriptError when the file has no readable beginning or is of a newer version,
    FileNotFoundError when there is none.
    """
    result: Replay | None = None
    unread = 0
    with path.open("rb") as lines:
        for line in lines:
            entry = parse(line)
            if entry is None:
                unread += 1
            elif isinstance(entry, Opened):
                result = result or Replay(_known_version(entry, path))
            elif result is not None:
                _take(result, entry)
    if result is None:
        raise TranscriptError(f"{path} is not a conversation that can be read.")
    result.unread_lines = unread
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


def _take(result: Replay, entry: Entry) -> None:
    match entry:
        case MessageStored():
            result.messages.append(entry.message)
            result.waiting.pop(entry.message.id, None)
        case PromptStored():
            result.waiting[entry.prompt_id] = entry
        case CallStored():
            result.calls[entry.tool_use_id] = entry
        case ModeStored():
            result.mode = entry.mode
        case TitleStored():
            result.title = entry.title
        case TurnStored():
            result.usage += entry.usage
        case Opened():
            pass
