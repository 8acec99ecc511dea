"""One feed a session, and what is told to all of the client at once."""

from collections.abc import Callable

from pygls.exceptions import JsonRpcException

from sidelight.core.events import Event, Queued, Sink
from sidelight.lsp.application import Application
from sidelight.lsp.server import AgentServer
from sidelight.lsp.transport import ConnectionLostError
from sidelight.wire.methods import Connection
from sidelight.wire.reviewing import Changes
from sidelight.wire.updates import Feed, Wire


class Feeds:
    """Gives each session its sink. Editors without our extension are told nothing of our own
    methods; a turn that was started there listens by `tap`."""

    def __init__(self, server: AgentServer, application: Application) -> None:
        self._server = server
        self._application = application
        self._feeds: dict[str, Feed] = {}
        self._taps: dict[str, Sink] = {}

    def of(self, session_id: str) -> Feed:
        """The session's feed, the same each time."""
        if session_id not in self._feeds:
            wire = Wire(
                send=self._send,
                drain=self.drain,
                window=self._application.context_window,
                queued=lambda: self._queued(session_id),
                changed=lambda: self.send_changes(session_id),
            )
            self._feeds[session_id] = Feed(session_id, wire)
        return self._feeds[session_id]

    def sink(self, session_id: str) -> Sink:
        """Where a session's events go."""
        feed = self.of(session_id)

        async def take(event: Event) -> None:
            await feed(event)
            tap = self._taps.get(session_id)
            if tap is not None:
                await tap(event)

        return take

    def tap(self, session_id: str, sink: Sink) -> Callable[[], None]:
        """Listen to a session as well, until the result is called."""
        self._taps[session_id] = sink

        def untap() -> None:
            self._taps.pop(session_id, None)

        return untap

    async def drain(self) -> None:
        """Wait while the client is slow to read."""
        await self._server.protocol.drain()

    async def send_changes(self, session_id: str, *, even_if_none: bool = True) -> None:
        """Tell the panel what waits for review, and have the lenses asked for again."""
        waiting = [one for one in self._application.changes() if one.session_id == session_id]
        if not waiting and not even_if_none:
            return
        changes = waiting[0] if waiting else Changes(session_id=session_id, files=())
        self._send("_sidelight/changes", changes.to_wire())
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self._server.background(self._refresh_lenses())

    async def connection(self, connection: Connection) -> None:
        """Tell which model answers."""
        self._send("_sidelight/connection", connection.to_wire())

    def _send(self, method: str, params: dict[str, object]) -> None:
        if self._server.client.ours:
            self._server.protocol.tell(method, params)

    def _queued(self, session_id: str) -> tuple[Queued, ...]:
        session = self._application.session(session_id)
        return tuple(session.queued) if session is not None else ()

    async def _refresh_lenses(self) -> None:
        try:
            await self._server.workspace_code_lens_refresh_async(None)
        except (JsonRpcException, ConnectionLostError):
            return  # lenses are a bonus; the editor asks again by itself
