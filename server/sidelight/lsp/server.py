"""The server object: what the client can do, the open documents, and the door behind them.

Loaded before `initialize` is answered: neither pydantic nor `sidelight.core` is imported here.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from sidelight.lsp.buffers import Buffers
from sidelight.lsp.protocol import AgentProtocol
from sidelight.wire.capabilities import Client

log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
REQUEST_FAILED = -32803


class Door(Protocol):
    """Everything that needs the application; built in a thread after `initialize`."""

    async def open(self) -> None:
        """Begin; called once, on the loop."""
        ...

    async def close(self) -> None:
        """Cancel turns and end; within two seconds."""
        ...

    async def request(self, method: str, params: Any) -> Any:
        """Answer one of our own requests; params and result are plain JSON."""
        ...

    async def notification(self, method: str, params: Any) -> None:
        """Take one of our own notifications."""
        ...

    async def command(self, name: str, arguments: Sequence[Any]) -> Any:
        """Run one of our commands; cancellable."""
        ...

    async def file_event(self, uri: str, kind: str) -> None:
        """A file was saved or the watcher saw it: `add`, `change` or `unlink`."""
        ...

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """The workspace's folders (as URIs) are others now."""
        ...

    def lenses(self, uri: str) -> list[types.CodeLens]:
        """The lens rows of a document; no waiting."""
        ...

    def busy(self) -> bool:
        """Whether a turn runs that was started without a panel."""
        ...

    def only_small(self) -> bool:
        """Whether the small local model is the only one; no waiting."""
        ...


Load = Callable[["AgentServer"], Door]


class AgentServer(LanguageServer):
    """One server a client. `load` is called in a thread once the client has our answer.

    `stoppable` says what to call when the person cancels a progress, by its token.
    """

    protocol: AgentProtocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, version: str, load: Load) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "sidelight",
            version,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=AgentProtocol,
        )
        self.client = Client()
        self.options: dict[str, Any] = {}
        self.locale = "en"
        self.buffers = Buffers()
        self.stoppable: dict[str | int, Callable[[], None]] = {}
        self._load = load
        self._loading = False
        self._closing = False
        self._coming: Door | None = None
        self._opened: asyncio.Future[Door] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.protocol.close = self.close

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the log; never a box in the person's face."""
        log.error("%s: %s", getattr(source, "__name__", source), error)

    @property
    def door(self) -> Door | None:
        """The door, once it is open."""
        opened = self._opened
        if opened is None or not opened.done() or opened.cancelled() or opened.exception():
            return None
        return opened.result()

    async def wait_for_door(self) -> Door:
        """The door; raises JsonRpcException with a sentence when it could not be opened."""
        if self.client.problem:
            raise JsonRpcException(self.client.problem, REQUEST_FAILED)
        self.start_loading()
        try:
            return await asyncio.shield(self._opening())
        except JsonRpcException:
            raise
        except Exception as error:
            sentence = f"Sidelight could not start: {type(error).__name__}: {error}"
            raise JsonRpcException(sentence, REQUEST_FAILED) from error

    def start_loading(self) -> None:
        """Load the application in a thread of its own, once; begins at `initialized`."""
        if self._loading:
            return
        self._loading = True
        loop, opening = asyncio.get_running_loop(), self._opening()

        def work() -> None:
            try:
                door = self._load(self)
            except BaseException as error:  # handed to those who wait for the door
                self._on_loop(loop, self._failed, opening, error)
            else:
                self._on_loop(loop, self._loaded, opening, door)

        threading.Thread(target=work, name="load", daemon=True).start()

    def background(self, work: Any) -> None:
        """Run a coroutine beside the requests; its failure is logged."""
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def close(self) -> None:
        """End the application, then whatever still runs; a few seconds at most."""
        door, self._coming = self._coming, None
        self._closing = True
        if door is not None:
            try:
                await asyncio.wait_for(door.close(), CLOSE_SECONDS)
            except TimeoutError:
                log.error("the application did not end within %g seconds", CLOSE_SECONDS)
            except Exception:
                log.exception("the application did not end well")
        await self.protocol.end_work()
        for task in list(self._tasks):
            task.cancel()

    def _opening(self) -> "asyncio.Future[Door]":
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
        return self._opened

    @staticmethod
    def _on_loop(loop: asyncio.AbstractEventLoop, act: Callable[..., None], *args: Any) -> None:
        try:
            loop.call_soon_threadsafe(act, *args)
        except RuntimeError:
            log.debug("loaded after the end")

    def _loaded(self, opening: "asyncio.Future[Door]", door: Door) -> None:
        self.background(self._open(opening, door))

    async def _open(self, opening: "asyncio.Future[Door]", door: Door) -> None:
        if self._closing:
            return
        self._coming = door
        try:
            await door.open()
        except Exception as error:
            self._failed(opening, error)
        else:
            opening.set_result(door)

    def _failed(self, opening: "asyncio.Future[Door]", error: BaseException) -> None:
        log.error("the application could not be loaded", exc_info=error)
        if not isinstance(error, Exception):
            error = RuntimeError(f"{type(error).__name__}: {error}")
        opening.set_exception(error)
        opening.exception()  # seen: it is in the log even if nobody ever asks for the door
        self.window_show_message(
            types.ShowMessageParams(
                type=types.MessageType.Error,
                message=f"Sidelight could not start: {error}",
            )
        )

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("background work failed", exc_info=error)
