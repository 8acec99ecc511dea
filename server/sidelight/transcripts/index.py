"""Lists the conversations of a folder without reading them whole."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sidelight.core.content import Text
from sidelight.transcripts.entry import Opened, PromptDropped, PromptStored, TitleStored
from sidelight.transcripts.replay import parse

HEAD_LINES = 12
TAIL_BYTES = 65_536
TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Listed:
    """A conversation in a list; `updated` is in UTC."""

    session_id: str
    cwd: str
    title: str
    updated: datetime
    path: Path


def list_sessions(folder: Path) -> tuple[Listed, ...]:
    """The folder's conversations that have a prompt, newest first; unreadable ones are left out."""
    found = [listed for path in folder.glob("*.jsonl") if (listed := _look(path)) is not None]
    return tuple(sorted(found, key=lambda listed: listed.updated, reverse=True))


def _look(path: Path) -> Listed | None:
    opened: Opened | None = None
    title = titled_by = ""
    try:
        updated = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        with path.open("rb") as file:
            for _, line in zip(range(HEAD_LINES), file, strict=False):
                match parse(line):
                    case Opened() as entry:
                        opened = opened or entry
                    case PromptStored() as entry if not title:
                        title, titled_by = _first_line(entry), entry.prompt_id
                    case PromptDropped() as entry if entry.prompt_id == titled_by:
                        title = ""
                    case _:
                        pass
        title = _last_title(path) or title
    except OSError:
        return None
    if opened is None or not title:
        return None
    return Listed(opened.session_id, opened.cwd, title, updated, path)


def _first_line(entry: PromptStored) -> str:
    for block in entry.content:
        if isinstance(block, Text) and block.text.strip():
            line = block.text.strip().splitlines()[0]
            return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
    return ""


def _last_title(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        for line in reversed(file.read().splitlines()):
            if b'"title"' in line and isinstance(entry := parse(line), TitleStored):
                return entry.title
    return ""
