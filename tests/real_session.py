"""A session as the program builds it, bound to a model over HTTP and to files on disk."""

import json
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from sidelight.app.world import Choices, build_session, make_world
from sidelight.core.content import Text, UserBlock
from sidelight.core.decision import Mode
from sidelight.core.events import Event, Notice, TurnEnded
from sidelight.core.host import PermissionPrompt, PermissionReply, UserQuestion
from sidelight.headless.host import DiskHost
from sidelight.session.manager import SessionManager
from sidelight.session.session import Session
from sidelight.tools.pool import ToolSource
from tests.fakes.messages_api.double import Double
from tests.fakes.messages_api.script import Block, tool_use

SECONDS = 20
QUICK: dict[str, Any] = {"sidelight": {"retry": {"firstMs": 1, "longestMs": 2}}}
"""Settings under which nothing is waited for before the model is asked again."""


@dataclass
class Person:
    """Answers permission prompts in order, a denial when nothing is left; notes each one.

    `choices` answer questions in order. While `away` is set a question stays open.
    """

    replies: list[PermissionReply] = field(default_factory=list[PermissionReply])
    asked: list[PermissionPrompt] = field(default_factory=list[PermissionPrompt])
    choices: list[str] = field(default_factory=list[str])
    questions: list[UserQuestion] = field(default_factory=list[UserQuestion])
    away: bool = False
    open_dialogs: int = 0

    async def answer(self, prompt: PermissionPrompt) -> PermissionReply:
        self.asked.append(prompt)
        return self.replies.pop(0) if self.replies else PermissionReply(behavior="deny")

    async def choose(self, question: UserQuestion) -> str | None:
        self.questions.append(question)
        if self.away:
            self.open_dialogs += 1
            try:
                await anyio.sleep_forever()
            finally:
                self.open_dialogs -= 1
        return self.choices.pop(0) if self.choices else None


class Place(DiskHost):
    """The bare disk, with a person in front of it."""

    def __init__(self, person: Person) -> None:
        super().__init__(lambda severity, words: None, person.answer)
        self._person = person

    async def ask_user(self, question: UserQuestion) -> str | None:
        return await self._person.choose(question)


@dataclass
class Desk:
    """A session with its manager, its host, who answers, and all that it told."""

    sessions: SessionManager
    session: Session
    host: DiskHost
    person: Person
    events: list[Event]
    hold: Callable[[Event], bool] = lambda event: False
    held: anyio.Event = field(default_factory=anyio.Event)

    async def hear(self, event: Event) -> None:
        """The sink: notes the event; the first one that `hold` wants is never done with."""
        self.events.append(event)
        if self.hold(event) and not self.held.is_set():
            self.held.set()
            await anyio.sleep_forever()

    async def ask(self, text: str, *beside: UserBlock) -> TurnEnded:
        with anyio.fail_after(SECONDS):
            return await self.session.prompt((Text(text=text), *beside))

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]


@asynccontextmanager
async def opened(
    double: Double,
    folder: Path,
    *,
    session_id: str | None = None,
    mode: Mode | None = None,
    trusted: bool = True,
    settings: dict[str, Any] = QUICK,
    sources: tuple[ToolSource, ...] = (),
) -> AsyncGenerator[Desk]:
    """A new session in the folder, or the stored one of that id; `settings` as if by argument."""
    environ = {
        **os.environ,
        "ANTHROPIC_BASE_URL": double.base_url,
        "ANTHROPIC_API_KEY": double.api_key,
    }
    world = make_world(
        environ, "in a test", lambda: Choices(mode=mode, trusted=trusted, arguments=settings)
    )
    world = replace(world, sources=sources)
    person, early = Person(), list[Event]()
    host = Place(person)
    desk: Desk | None = None

    async def sink(event: Event) -> None:
        if desk is None:
            early.append(event)
        else:
            await desk.hear(event)

    build = partial(build_session, world)
    sessions = SessionManager(build, world.state_home, lambda _: host, lambda _: sink)
    try:
        if session_id is None:
            session = await sessions.new(str(folder))
        else:
            session = await sessions.load(session_id, str(folder))
        desk = Desk(sessions, session, host, person, early)
        yield desk
    finally:
        with anyio.CancelScope(shield=True), anyio.fail_after(SECONDS):
            await sessions.close()
            await world.link.aclose()


def read(path: Path) -> Block:
    return tool_use("Read", {"file_path": str(path)})


def edit(path: Path, old: str, new: str) -> Block:
    return tool_use("Edit", {"file_path": str(path), "old_string": old, "new_string": new})


def bash(command: str) -> Block:
    return tool_use("Bash", {"command": command, "description": "a test"})


def project_settings(folder: Path, settings: dict[str, Any] | str) -> Path:
    """The folder's own settings file, with this in it."""
    path = folder / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    text = settings if isinstance(settings, str) else json.dumps(settings)
    path.write_text(text, encoding="utf-8")
    return path


def hooks(event: str, command: str, matcher: str | None = None) -> dict[str, Any]:
    """Settings with one hook."""
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": command}]}
    if matcher is not None:
        group["matcher"] = matcher
    return {"hooks": {event: [group]}}
