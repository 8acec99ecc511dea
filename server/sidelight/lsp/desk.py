"""`Desk`: the application behind the editor's door, over sessions and the link to a model."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from sidelight.actions.small import SmallActions
from sidelight.core.errors import AgentError
from sidelight.core.host import FileChange, Host
from sidelight.lsp.application import Editor
from sidelight.lsp.convert import uri_of
from sidelight.lsp.model_words import model_info
from sidelight.model.catalog import MODELS
from sidelight.model.link import Linked, ModelLink
from sidelight.model.local.engine import LocalModel
from sidelight.model.provider import NoModel
from sidelight.session.manager import Build, SessionManager
from sidelight.session.session import Session
from sidelight.wire.catalogue import say
from sidelight.wire.changes import changes_of
from sidelight.wire.connection import Connection, ModelInfo, SmallModel
from sidelight.wire.methods import ModeInfo, SessionInfo
from sidelight.wire.reviewing import Changes, Review, Reviewed

MODES = (
    ("default", "Ask", "Edits and commands are asked first"),
    ("acceptEdits", "Accept edits", "Edits in the workspace are made at once, commands are asked"),
    ("plan", "Plan", "Looks around and plans, changes nothing"),
    ("dontAsk", "Don't ask", "What no rule allows is denied"),
)

SMALL_ONLY = (
    "Only the small local model is here. It explains code, writes docstrings and commit messages, "
    "and renames; it cannot work as an agent, so the chat is off. For the agent:"
)
SMALL_OFFER = (
    "Or get a small model that runs on this computer ({megabytes} MB, {licence}): "
    "`sidelight local install`. It explains code, writes docstrings and commit messages, and "
    "renames. It cannot work as an agent."
)


class Desk:
    """Implements Application.

    `editor_is_here` is told the editor before any session is built; `prepare` gets the model ready
    in the background; `unsaved` reads the user's setting of that name.
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
        local: LocalModel,
        actions: SmallActions,
        unsaved: Callable[[], Literal["save", "keep"]],
    ) -> None:
        self._build = build
        self._link = link
        self._state_home = state_home
        self._editor_is_here = editor_is_here
        self._default_model = default_model
        self._prepare = prepare
        self._local = local
        self._actions = actions
        self._unsaved = unsaved
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

    def unsaved_buffers(self) -> Literal["save", "keep"]:
        """What an edit does first with text that the user has not saved."""
        return self._unsaved()

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
        await self._local.stop()

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

    async def small_actions(self) -> SmallActions | None:
        """The small model's actions while it is the only model."""
        if self._link.state is None:
            await self.connect(None)
        return self._actions if self.only_small() else None

    def only_small(self) -> bool:
        """Whether the small model is there and no other."""
        return isinstance(self._link.state, NoModel) and not self._local.store.problem()

    async def host_for(self, path: str) -> Host:
        """The newest conversation that holds the file, else a new one in its folder."""
        place = Path(path)
        for session in reversed(self.sessions.sessions()):
            if place.is_relative_to(session.cwd):
                return session.host
        holding = [root for root in self.editor.roots if place.is_relative_to(root)]
        return (await self.new_session(holding[0] if holding else str(place.parent))).host

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
            return Reviewed(done=await session.reviewing.keep(request.path, request.hunk_id))
        if request.action == "redo":
            done, problem = await session.reviewing.redo()
        else:
            done, problem = await session.reviewing.undo(request.path, request.hunk_id)
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
            small = self._small()
            words = SMALL_ONLY if small.ready else SMALL_OFFER
            about = say(self.editor.locale, words, megabytes=small.megabytes, licence=small.licence)
            problem = f"{about}\n{found.advice}" if small.ready else f"{found.advice}\n{about}"
            return Connection(ready=False, problem=problem, tried=found.tried, small=small)
        return Connection(
            ready=True,
            model=found.model(self._default_model()),
            source=". ".join(filter(None, (found.source, found.way, found.warning))),
            demonstration=found.demonstration,
            models=models,
        )

    def _small(self) -> SmallModel:
        store = self._local.store
        return SmallModel(
            ready=not store.problem(),
            title=store.weights.title,
            megabytes=store.weights.megabytes,
            licence=store.weights.licence,
            place=str(store.folder),
        )
