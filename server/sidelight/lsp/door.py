"""`EditorDoor`: everything between the editor and the application, put together.

Built by the composition root in the loading thread; from `open` on it lives on the loop.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, get_args

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from sidelight.core.host import ChangeKind, FileChange, Host
from sidelight.core.record import Record
from sidelight.lsp.application import Application, Editor
from sidelight.lsp.buffers import Buffer, BufferEvent
from sidelight.lsp.convert import file_key, is_uri, path_of
from sidelight.lsp.documents import look, read_disk
from sidelight.lsp.edits import Edits
from sidelight.lsp.endpoint import Endpoint, Handler
from sidelight.lsp.features.actions import ActionCommands
from sidelight.lsp.features.plain import Document, PlainCommands, Target, Task
from sidelight.lsp.features.review import HunkTarget, ReviewCommands
from sidelight.lsp.features.sessions import Sessions
from sidelight.lsp.feeds import Feeds
from sidelight.lsp.host import LspHost
from sidelight.lsp.questions import Questions
from sidelight.lsp.server import AgentServer
from sidelight.lsp.shown import Shown
from sidelight.wire.methods import Nothing

PAUSE_SECONDS = 0.2
"""How long the person must pause before pending hunks are worked out anew."""


class EditorDoor:
    """Implements `lsp.server.Door` over an application."""

    def __init__(self, server: AgentServer, application: Application) -> None:
        self._server = server
        self._application = application
        self._edits = Edits(server, application.unsaved_buffers)
        self._questions = Questions(server)
        self._hosts: dict[str, LspHost] = {}
        self._roots: dict[str, None] = {}
        self._pauses: dict[str, asyncio.TimerHandle] = {}
        self._feeds = Feeds(server, application)
        self._review = ReviewCommands(server, application)
        shown = Shown(server, application.state_folder)
        roots = lambda: tuple(self._roots)  # noqa: E731
        self._plain = PlainCommands(server, application, self._feeds, roots, shown)
        self._actions = ActionCommands(server, application, self._plain, shown)
        self._methods = Endpoint(Sessions(application, self._feeds, server.locale).methods())
        self._commands = Endpoint(self._command_table())

    async def open(self) -> None:
        """Start the application."""
        workspace = self._server.workspace
        folders = [folder.uri for folder in workspace.folders.values()]
        if not folders and workspace.root_uri:
            folders = [workspace.root_uri]
        self._roots = dict.fromkeys(map(path_of, folders))
        self._server.buffers.listeners.append(self._on_buffer)
        editor = Editor(
            host=self._host,
            sink=self._feeds.sink,
            connection=self._feeds.connection,
            roots=tuple(self._roots),
            options=lambda: self._server.options,
            locale=self._server.locale,
        )
        await self._application.start(editor)

    async def close(self) -> None:
        """End the application."""
        for pause in self._pauses.values():
            pause.cancel()
        await self._application.shutdown()

    async def request(self, method: str, params: Any) -> Any:
        """One of our own requests."""
        return await self._methods.call(method, params)

    async def notification(self, method: str, params: Any) -> None:
        """One of our own notifications."""
        await self._methods.call(method, params)

    async def command(self, name: str, arguments: Sequence[Any]) -> Any:
        """One of our commands; it takes one object, a text alone stands for its only field."""
        if len(arguments) > 1:
            raise JsonRpcInvalidParams(f"{name} takes one argument, not {len(arguments)}")
        argument: Any = arguments[0] if arguments else {}
        if isinstance(argument, str):
            fields = {"sidelight.run": "text"}
            field = fields.get(name, "uri")
            argument = {field: argument}
        return await self._commands.call(name, argument)

    async def file_event(self, uri: str, kind: str) -> None:
        """A save or a watcher's report."""
        path = path_of(uri)
        if is_uri(path) or kind not in get_args(ChangeKind):
            return
        await self._application.file_changed(
            FileChange.model_validate({"path": path, "event": kind})
        )
        if self._server.buffers.find(path) is None:
            await self._closed_text(path)

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """The workspace's folders."""
        new = [path for uri in added if (path := path_of(uri)) not in self._roots]
        old = [path for uri in removed if (path := path_of(uri)) in self._roots]
        for path in old:
            del self._roots[path]
        self._roots.update(dict.fromkeys(new))
        if new or old:
            await self._application.folders_changed(new, old)

    def lenses(self, uri: str) -> list[types.CodeLens]:
        """The rows above pending hunks."""
        return self._review.lenses(uri)

    def busy(self) -> bool:
        """Whether a task runs that was started without a panel."""
        return self._plain.running or self._actions.running

    def only_small(self) -> bool:
        """Whether the small local model is the only one."""
        return self._application.only_small()

    def _command_table(self) -> dict[str, tuple[type[Record], Handler]]:
        review, plain, actions = self._review, self._plain, self._actions
        return {
            "sidelight.explain": (Target, actions.explain),
            "sidelight.fix": (Target, plain.fix),
            "sidelight.document": (Target, actions.document),
            "sidelight.rename": (Target, actions.rename),
            "sidelight.commitMessage": (Document, actions.commit_message),
            "sidelight.addToChat": (Target, plain.add_to_chat),
            "sidelight.run": (Task, plain.run),
            "sidelight.stop": (Nothing, actions.stop),
            "sidelight.showDiff": (Document, plain.show_diff),
            "sidelight.keep": (HunkTarget, review.keep),
            "sidelight.undo": (HunkTarget, review.undo),
            "sidelight.keepAll": (Nothing, review.keep_all),
            "sidelight.undoAll": (Nothing, review.undo_all),
        }

    def _host(self, session_id: str) -> Host:
        if session_id not in self._hosts:
            host = LspHost(self._server, session_id, self._edits, self._questions)
            self._hosts[session_id] = host
        return self._hosts[session_id]

    # --- hunks move with the text ---------------------------------------------------------------

    def _on_buffer(self, buffer: Buffer, event: BufferEvent) -> None:
        if event in {"changed", "closed"} and self._is_reviewed(buffer.path):
            self._pause(buffer.path)

    def _is_reviewed(self, path: str) -> bool:
        key = file_key(path)
        return any(
            file_key(file.path) == key
            for changes in self._application.changes()
            for file in changes.files
        )

    def _pause(self, path: str) -> None:
        if path in self._pauses:
            self._pauses[path].cancel()
        loop = asyncio.get_running_loop()
        self._pauses[path] = loop.call_later(PAUSE_SECONDS, self._paused, path)

    def _paused(self, path: str) -> None:
        self._pauses.pop(path, None)
        if self._edits.busy(path):
            self._pause(path)  # our own edit: it is noted when it is done
            return
        buffer = self._server.buffers.find(path)
        text = self._closed_text(path) if buffer is None else self._open_text(path)
        self._server.background(text)

    async def _open_text(self, path: str) -> None:
        view = await look(self._server.buffers, path)
        if view is not None:
            await self._application.text_changed(path, view.snapshot.text)

    async def _closed_text(self, path: str) -> None:
        if not self._is_reviewed(path) or self._edits.busy(path):
            return
        disk = await read_disk(path)
        if disk is not None:
            await self._application.text_changed(path, disk.text)
