"""`session/*` and `_sidelight/*`: one handler each, over the application."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

from sidelight.core.errors import AgentError
from sidelight.core.events import EndReason, Notice
from sidelight.core.record import Record
from sidelight.lsp.application import Application, Conversation
from sidelight.lsp.convert import path_of
from sidelight.lsp.endpoint import Handler
from sidelight.lsp.feeds import Feeds
from sidelight.permissions.storable import unfit
from sidelight.wire.catalogue import say
from sidelight.wire.connection import Connect, Connection
from sidelight.wire.controls import (
    CheckRule,
    EditQueued,
    MoveCall,
    RemoveQueued,
    RuleChecked,
    SetPaused,
    StopCall,
    StopTask,
    WasThere,
)
from sidelight.wire.methods import (
    NOTIFICATIONS,
    REQUESTS,
    Cancel,
    ListSessions,
    LoadSession,
    Models,
    Modes,
    NewSession,
    Nothing,
    Prompt,
    PromptEnded,
    SessionCreated,
    SessionList,
    SessionLoaded,
    SetMode,
    SetModel,
    StopReason,
    TerminalCwd,
    meta,
)
from sidelight.wire.prompts import to_blocks, with_words
from sidelight.wire.reviewing import Original, OriginalText, Review, Reviewed
from sidelight.wire.shapes import info_update, replay

STOP_REASONS: Mapping[EndReason, StopReason] = {
    "completed": "end_turn",
    "cancelled": "cancelled",
    "max_steps": "max_turn_requests",
    "budget": "max_turn_requests",
    "blocked": "refusal",
    "failed": "end_turn",
}


class Sessions:
    """Answers the panel. What a session says meanwhile goes through its feed."""

    def __init__(self, application: Application, feeds: Feeds, locale: str) -> None:
        self._application = application
        self._feeds = feeds
        self._locale = locale

    def methods(self) -> dict[str, tuple[type[Record], Handler]]:
        """Every method of the wire with the record of its params and its handler."""
        handlers: dict[str, Handler] = {
            "session/new": self.new,
            "session/load": self.load,
            "session/list": self.list,
            "session/prompt": self.prompt,
            "session/set_mode": self.set_mode,
            "session/set_model": self.set_model,
            "session/cancel": self.cancel,
            "_sidelight/connect": self.connect,
            "_sidelight/review": self.review,
            "_sidelight/original": self.original,
            "_sidelight/check_rule": self.check_rule,
            "_sidelight/queue_edit": self.edit_queued,
            "_sidelight/queue_remove": self.remove_queued,
            "_sidelight/stop_call": self.stop_call,
            "_sidelight/pause": self.pause,
            "_sidelight/move_call": self.move_call,
            "_sidelight/stop_task": self.stop_task,
            "_sidelight/terminal_cwd": self.terminal_cwd,
        }
        kinds = {name: params for name, (params, _) in REQUESTS.items()} | NOTIFICATIONS
        return {name: (kinds[name], handler) for name, handler in handlers.items()}

    async def new(self, params: NewSession) -> SessionCreated:
        """Begin a conversation."""
        session = await self._application.new_session(path_of(params.cwd))
        models = await self._models(session)
        return SessionCreated(session_id=session.id, modes=self._modes(session), models=models)

    async def load(self, params: LoadSession) -> SessionLoaded:
        """Take up a conversation: its messages as updates, then what waits for review."""
        cwd = path_of(params.cwd)
        session = await self._application.load_session(params.session_id, cwd)
        feed = self._feeds.of(session.id)
        for update in replay(session.history, session.calls):
            feed.update(update)
            await self._feeds.drain()
        if session.title:
            feed.update(info_update(session.title))
        if session.spent is not None:
            feed.spent(session.spent)
        if session.background.running:
            await feed(session.background.state)
        feed.state()
        await self._feeds.send_changes(session.id, even_if_none=False)
        return SessionLoaded(modes=self._modes(session), models=await self._models(session))

    async def list(self, params: ListSessions) -> SessionList:
        """Stored conversations."""
        cwd = None if params.cwd is None else path_of(params.cwd)
        return SessionList(sessions=tuple(await self._application.list_sessions(cwd)))

    async def prompt(self, params: Prompt) -> PromptEnded:
        """Run a turn; answered when it has ended, also when it was cancelled or failed."""
        session = self._session(params.session_id)
        kept_back: list[str] = []

        def withheld(uri: str) -> str:
            reason = session.withheld(path_of(uri))
            if reason:
                kept_back.append(f"{path_of(uri)} was not sent along: {reason}")
            return reason

        content, refused = await to_blocks(params.prompt, withheld)
        kept_back += [
            say(self._locale, "A picture was not sent along: {reason}", reason=reason)
            for reason in refused
        ]
        for text in kept_back:
            await self._feeds.sink(session.id)(Notice(severity="warning", text=text))
        ended = await session.prompt(content, params.message_id)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._feeds.of(session.id).update(info_update(session.title, now))
        error = meta(error=ended.error) if ended.error else None
        return PromptEnded(stop_reason=STOP_REASONS[ended.reason], _meta=error)

    async def cancel(self, params: Cancel) -> None:
        """Stop the running turn; its prompt is answered with `cancelled`."""
        self._session(params.session_id).cancel()

    async def set_mode(self, params: SetMode) -> Nothing:
        """Change the permission mode."""
        session = self._session(params.session_id)
        known = {mode.id for mode in self._application.modes()}
        if params.mode_id not in known:
            raise AgentError(f"There is no mode {params.mode_id!r}; pick one of {sorted(known)}.")
        await session.set_mode(params.mode_id)  # pyright: ignore[reportArgumentType] (checked)
        return Nothing()

    async def set_model(self, params: SetModel) -> Nothing:
        """Another model from the next turn on."""
        session = self._session(params.session_id)
        known = [model.model_id for model in await self._application.models()]
        if params.model_id not in known:
            raise AgentError(f"There is no model {params.model_id!r}; pick one of {known}.")
        await session.set_model(params.model_id)
        return Nothing()

    async def connect(self, params: Connect) -> Connection:
        """Look for a model again."""
        return await self._application.connect(params.api_key)

    async def review(self, params: Review) -> Reviewed:
        """Keep or undo."""
        self._session(params.session_id)
        return await self._application.review(params)

    async def original(self, params: Original) -> OriginalText:
        """The text before the pending changes."""
        return OriginalText(text=self._application.original(path_of(params.uri)))

    async def check_rule(self, params: CheckRule) -> RuleChecked:
        """Whether a rule may be kept as it is typed."""
        return RuleChecked(problem=unfit(params.rule) or None)

    async def edit_queued(self, params: EditQueued) -> WasThere:
        """Other words for a prompt that waits."""
        if not params.text.strip():
            raise AgentError("A prompt without words cannot be sent; remove it instead.")
        session = self._session(params.session_id)
        change = partial(with_words, words=params.text)
        return WasThere(done=await session.edit_queued(params.id, change))

    async def remove_queued(self, params: RemoveQueued) -> WasThere:
        """A prompt that waits is not to be sent."""
        session = self._session(params.session_id)
        return WasThere(done=await session.remove_queued(params.id))

    async def stop_call(self, params: StopCall) -> WasThere:
        """End one running call."""
        session = self._session(params.session_id)
        return WasThere(done=session.stop_call(params.tool_call_id))

    async def pause(self, params: SetPaused) -> WasThere:
        """Hold the turn's next step, or let it go on; nothing happens while no turn runs."""
        session = self._session(params.session_id)
        if not session.running:
            return WasThere(done=False)
        await (session.pause.hold() if params.paused else session.pause.release())
        return WasThere(done=True)

    async def move_call(self, params: MoveCall) -> WasThere:
        """A running command goes on in the background."""
        session = self._session(params.session_id)
        return WasThere(done=session.background.move(params.tool_call_id))

    async def stop_task(self, params: StopTask) -> WasThere:
        """End a background task."""
        session = self._session(params.session_id)
        return WasThere(done=await session.background.stop(params.id, "by the user"))

    async def terminal_cwd(self, params: TerminalCwd) -> None:
        """A terminal went to another folder."""
        await self._application.terminal_moved(params.old_cwd, params.new_cwd)

    def _session(self, session_id: str) -> Conversation:
        session = self._application.session(session_id)
        if session is None:
            raise AgentError(f"There is no open conversation {session_id!r}; load it first.")
        return session

    def _modes(self, session: Conversation) -> Modes:
        return Modes(current_mode_id=session.mode, available_modes=tuple(self._application.modes()))

    async def _models(self, session: Conversation) -> Models:
        return Models(
            current_model_id=self._application.model_id(session.model),
            available_models=tuple(await self._application.models()),
        )
