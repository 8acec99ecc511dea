"""Creates, loads, lists and closes sessions, and carries what the editor reports to them."""

import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from sidelight.core.errors import AgentError
from sidelight.core.events import Event, Notice, Sink
from sidelight.core.host import FileChange, Host
from sidelight.core.ids import new_id
from sidelight.session.changes import ChangeJoiner
from sidelight.session.session import Session
from sidelight.transcripts.index import Listed, list_sessions
from sidelight.transcripts.replay import Replay, replay
from sidelight.transcripts.store import folder_for


@dataclass(frozen=True, slots=True)
class Seed:
    """What a session grows from; `stored` is an old conversation that is taken up."""

    session_id: str
    cwd: str
    stored: Replay | None
    host: Host
    sink: Sink


Build = Callable[[Seed], Session]
"""Makes a session; blocks. Raises AgentError or OSError with a sentence for the user."""


class SessionManager:
    """The sessions of one process. `host` and `sink` give a session's own, by its id."""

    def __init__(
        self,
        build: Build,
        state_home: Path,
        host: Callable[[str], Host],
        sink: Callable[[str], Sink],
    ) -> None:
        self._build = build
        self._state_home = state_home
        self._host = host
        self._sink = sink
        self._sessions: dict[str, Session] = {}
        self._joiner = ChangeJoiner()

    def get(self, session_id: str) -> Session | None:
        """An open session."""
        return self._sessions.get(session_id)

    def sessions(self) -> tuple[Session, ...]:
        """All open sessions, oldest first."""
        return tuple(self._sessions.values())

    async def new(self, cwd: str) -> Session:
        """Begin a conversation; raises AgentError when the folder cannot be used."""
        folder = await anyio.to_thread.run_sync(os.path.realpath, cwd)
        if not await anyio.Path(folder).is_dir():
            raise AgentError(f"{cwd} is not a folder.")
        return await self._open(new_id(), folder, None)

    async def load(self, session_id: str, cwd: str) -> Session:
        """Take up a stored conversation of the folder; raises AgentError when there is none.

        One that is open already is given as it is.
        """
        if session_id in self._sessions:
            return self._sessions[session_id]
        path = folder_for(self._state_home, cwd) / f"{session_id}.jsonl"
        try:
            stored = await anyio.to_thread.run_sync(replay, path)
        except FileNotFoundError as error:
            raise AgentError(f"There is no conversation {session_id} in {cwd}.") from error
        session = await self._open(session_id, stored.opened.cwd, stored)
        if stored.unread_lines:
            text = f"{stored.unread_lines} lines of this conversation could not be read."
            await session.tell(Notice(severity="warning", text=text))
        return session

    async def list(self, cwd: str | None) -> Sequence[Listed]:
        """Stored conversations of a folder, or of all, newest first."""
        return await anyio.to_thread.run_sync(self._list, cwd)

    async def file_changed(self, reported: FileChange) -> None:
        """A save or a watcher's report; each change reaches each session once."""
        change = self._joiner.news(reported)
        if change is None:
            return
        await _all(self.sessions(), lambda session: session.file_changed(change))

    async def cwd_changed(self, old_cwd: str, new_cwd: str) -> None:
        """The workspace's folders or a terminal's folder changed."""
        await _all(self.sessions(), lambda session: session.cwd_changed(old_cwd, new_cwd))

    async def text_changed(self, path: str, text: str) -> None:
        """The editor's text of a file is another one, by the user's hand."""
        for session in self.sessions():
            await session.text_changed(path, text)

    async def close(self) -> None:
        """Cancel every turn and write everything."""
        await _all(self.sessions(), lambda session: session.close())
        self._sessions.clear()

    async def tell_all(self, event: Event) -> None:
        """An event for every client."""
        for session in self.sessions():
            await session.tell(event)

    async def _open(self, session_id: str, cwd: str, stored: Replay | None) -> Session:
        host, sink = self._host(session_id), self._sink(session_id)
        seed = Seed(session_id, cwd, stored, host, sink)
        try:
            session = await anyio.to_thread.run_sync(self._build, seed)
        except OSError as error:
            raise AgentError(f"The conversation cannot be kept: {error}") from error
        self._sessions[session_id] = session
        await session.start()
        return session

    def _list(self, cwd: str | None) -> Sequence[Listed]:
        if cwd is not None:
            return list_sessions(folder_for(self._state_home, cwd))
        folders = sorted((self._state_home / "sessions").glob("*"))
        found = [listed for folder in folders for listed in list_sessions(folder)]
        return sorted(found, key=lambda listed: listed.updated, reverse=True)


async def _all(
    sessions: Sequence[Session], act: Callable[[Session], Coroutine[object, object, None]]
) -> None:
    async with anyio.create_task_group() as group:
        for session in sessions:
            group.start_soon(act, session)
