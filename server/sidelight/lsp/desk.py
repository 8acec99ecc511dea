"""`Desk`: the application behind the editor's door, over sessions and the link to a model."""

from collections.abc import Callable, Sequence
from pathlib import Path

from sidelight.core.errors import AgentError
from sidelight.core.host import FileChange
from sidelight.lsp.application import Editor
from sidelight.lsp.convert import uri_of
from sidelight.lsp.model_words import model_info
from sidelight.model.catalog import MODELS
from sidelight.model.link import Linked, ModelLink
from sidelight.model.provider import NoModel
from sidelight.session.manager import Build, SessionManager
from sidelight.session.session import Session
from sidelight.wire.catalogue import say
from sidelight.wire.changes import changes_of
from sidelight.wire.methods import Connection, ModeInfo, ModelInfo, SessionInfo
from sidelight.wire.reviewing import Changes, Review, Reviewed

MODES = (
    ("default", "Ask", "Edits and commands are asked first"),
    ("acceptEdits", "Accept edits", "Edits in the workspace are made at once, commands are asked"),
    ("plan", "Plan", "Looks around and plans, changes nothing"),
    ("dontAsk", "Don't ask", "What no rule allows is denied"),
)


class Desk:
    """Implements Application.

    `editor_is_here` is told the editor before any session is built; `prepare` gets the model ready
    in the background.
    """

    def __init__(
        self,
        build: Build,
        link: ModelLink,
        state_home: Path,
        editor_is_here: Callable[[Editor], None],
        default_model: Callable[[], str],
        *,
        prepare: Callable[[], None],
    ) -> None:
        self._build = build
        self._link = link
        self._state_home = state_home
        self._editor_is_here = editor_is_here
        self._default_model = default_model
        self._prepare = prepare
        self._editor: Editor | None = None
        self._sessions: SessionManager | None = None

    @property
    def state_folder(self) -> str:
        """Our own folder."""
        return str(self._state_home)

    @property
    def sessions(self) -> SessionManager:
        """The open sessions; there from `start` on."""
        assert self._sessions is not None
        return self._sessions

    @property
    def editor(self) -> Editor:
        """The editor; there from `start` on."""
        assert self._editor is not None
        return self._editor

    async def start(self, editor: Editor) -> None:
        """Begin."""
        self._editor = editor
        self._editor_is_here(editor)
        self._sessions = SessionManager(self._build, self._state_home, editor.host, editor.sink)

    async def shutdown(self) -> None:
        """Cancel turns and write what is unwritten."""
        if self._sessions is not None:
            await self._sessions.close()
        await self._link.aclose()

    async def new_session(self, cwd: str) -> Session:
        """Begin a conversation."""
        return await self.sessions.new(cwd)

    async def load_session(self, session_id: str, cwd: str) -> Session:
        """Take up an old conversation."""
        return await self.sessions.load(session_id, cwd)

    async def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        """Stored conversations, newest first."""
        return [
            SessionInfo(
                session_id=listed.session_id,
                cwd=listed.cwd,
                title=listed.title,
                updated_at=listed.updated.isoformat(),
            )
            for listed in await self.sessions.list(cwd)
        ]

    def session(self, session_id: str) -> Session | None:
        """An open conversation."""
        return self.sessions.get(session_id)

    def modes(self) -> Sequence[ModeInfo]:
        """The modes that a person may pick here."""
        locale = self.editor.locale
        return [
            ModeInfo(id=mode, name=say(locale, name), description=say(locale, description))
            for mode, name, description in MODES
        ]

    async def models(self) -> Sequence[ModelInfo]:
        """The models of whoever answers now; none in a demonstration and without a model."""
        found = self._link.state
        if not isinstance(found, Linked) or found.demonstration:
            return ()
        told, _ = await self._link.known()
        cards = told or [self._link.card(name) for name in found.offered or MODELS]
        return [model_info(card, self.editor.locale) for card in cards]

    def model_id(self, model: str) -> str:
        """The id of the model that answers for a name."""
        return self._link.card(model).id

    async def connect(self, api_key: str | None) -> Connection:
        """Look for a model, and say what was found."""
        found = await self._link.connect(api_key)
        connection = self._connection(found, tuple(await self.models()))
        await self.editor.connection(connection)
        self._prepare()
        return connection

    def context_window(self, model: str) -> int | None:
        """Size of a model's context in tokens."""
        return self._link.card(model).window

    def changes(self) -> Sequence[Changes]:
        """What waits for review."""
        return [
            changes_of(session.id, session.review, uri_of)
            for session in self.sessions.sessions()
            if session.review.pending() or session.review.undone()
        ]

    async def review(self, request: Review) -> Reviewed:
        """Keep or undo."""
        session = self.sessions.get(request.session_id)
        if session is None:
            raise AgentError(f"There is no open conversation {request.session_id}.")
        if request.action == "keep":
            return Reviewed(done=await session.keep(request.path, request.hunk_id))
        if request.action == "redo":
            done, problem = await session.redo()
        else:
            done, problem = await session.undo(request.path, request.hunk_id)
        return Reviewed(done=done, problem=problem)

    def original(self, path: str) -> str | None:
        """The text before the pending changes."""
        found = (session.review.original(path) for session in self.sessions.sessions())
        return next((text for text in found if text is not None), None)

    async def text_changed(self, path: str, text: str) -> None:
        """The editor's text of a file is another one."""
        await self.sessions.text_changed(path, text)

    async def file_changed(self, change: FileChange) -> None:
        """A save, or a watcher's report."""
        await self.sessions.file_changed(change)

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """The workspace's folders are others: for hooks, the first that went and that came."""
        old = removed[0] if removed else self.editor.roots[0] if self.editor.roots else ""
        new = added[0] if added else old
        if old != new:
            await self.sessions.cwd_changed(old, new)

    async def terminal_moved(self, old_cwd: str, new_cwd: str) -> None:
        """A terminal of the editor went to another folder."""
        await self.sessions.cwd_changed(old_cwd, new_cwd)

    def _connection(self, found: Linked | NoModel, models: tuple[ModelInfo, ...]) -> Connection:
        if isinstance(found, NoModel):
            return Connection(ready=False, problem=found.advice, tried=found.tried)
        return Connection(
            ready=True,
            model=found.model(self._default_model()),
            source=". ".join(filter(None, (found.source, found.way, found.warning))),
            demonstration=found.demonstration,
            models=models,
        )
