"""`LspHost`: what the agent asks of an editor, asked over the protocol."""

import logging
from collections.abc import Sequence
from pathlib import PurePath

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sidelight.core.host import (
    EditOutcome,
    FileEdit,
    FileSnapshot,
    PermissionPrompt,
    PermissionReply,
    Severity,
    UserQuestion,
)
from sidelight.lsp.convert import uri_of
from sidelight.lsp.documents import read, unsaved
from sidelight.lsp.edits import Edits
from sidelight.lsp.questions import Questions
from sidelight.lsp.server import AgentServer
from sidelight.lsp.transport import ConnectionLostError
from sidelight.wire.methods import NoticeShown

log = logging.getLogger(__name__)

MESSAGE_TYPES = {
    "info": types.MessageType.Info,
    "warning": types.MessageType.Warning,
    "error": types.MessageType.Error,
}
WATCHED = types.WORKSPACE_DID_CHANGE_WATCHED_FILES


class LspHost:
    """One session's host; `edits` and `questions` are shared by all sessions of the server."""

    def __init__(
        self, server: AgentServer, session_id: str, edits: Edits, questions: Questions
    ) -> None:
        self._server = server
        self._session_id = session_id
        self._edits = edits
        self._questions = questions
        self._watching: tuple[str, ...] = ()

    async def read_text(self, path: str) -> FileSnapshot:
        """The open buffer if there is one, else the file on disk."""
        return await read(self._server.buffers, path)

    async def unsaved(self) -> Sequence[FileSnapshot]:
        """The open documents of files, compared with the disk."""
        return await unsaved(self._server.buffers)

    async def apply_edit(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        """Open files through the editor, closed ones on disk; saved when this returns."""
        return await self._edits.apply(edits, label)

    async def ask_permission(self, prompt: PermissionPrompt) -> PermissionReply:
        """A card or a message; cancelling closes it."""
        return await self._questions.ask(self._session_id, prompt)

    async def ask_user(self, question: UserQuestion) -> str | None:
        """A card or a message; cancelling closes it."""
        return await self._questions.choose(self._session_id, question)

    async def notify(self, severity: Severity, text: str) -> None:
        """In our own panel, else as a message."""
        if self._server.client.ours:
            notice = NoticeShown(session_id=self._session_id, severity=severity, text=text)
            self._server.protocol.tell("_sidelight/notice", notice.to_wire())
            return
        self._server.window_show_message(
            types.ShowMessageParams(type=MESSAGE_TYPES[severity], message=text)
        )

    async def watch(self, paths: Sequence[str]) -> None:
        """Register with the editor's own watcher; an editor without one is logged."""
        wanted = tuple(dict.fromkeys(paths))
        if wanted == self._watching:
            return
        workspace = self._server.client_capabilities.workspace
        known = workspace.did_change_watched_files if workspace else None
        if known is None or not known.dynamic_registration:
            log.warning("the editor watches no files for others: only saves are seen")
            return
        try:
            await self._register(wanted, relative=bool(known.relative_pattern_support))
        except JsonRpcException as error:
            log.error("the editor does not watch %d paths: %s", len(wanted), error.message)
        except ConnectionLostError:
            log.debug("nobody is there to watch files")
        else:
            self._watching = wanted

    async def _register(self, paths: Sequence[str], *, relative: bool) -> None:
        name = f"watch-{self._session_id}"
        if self._watching:
            old = types.Unregistration(id=name, method=WATCHED)
            await self._server.client_unregister_capability_async(
                types.UnregistrationParams(unregisterations=[old])
            )
            self._watching = ()
        if not paths:
            return
        options = types.DidChangeWatchedFilesRegistrationOptions(
            watchers=[_watcher(path, relative=relative) for path in paths]
        )
        new = types.Registration(id=name, method=WATCHED, register_options=options)
        await self._server.client_register_capability_async(
            types.RegistrationParams(registrations=[new])
        )


def _watcher(path: str, *, relative: bool) -> types.FileSystemWatcher:
    """A literal path keeps its brackets and braces; a glob begins where the first sign is."""
    parts = PurePath(path).parts
    literal = next(
        (at for at, part in enumerate(parts) if "*" in part or "?" in part), len(parts) - 1
    )
    base, rest = str(PurePath(*parts[:literal])), parts[literal:]
    pattern = "/".join(part if "*" in part or "?" in part else _literal(part) for part in rest)
    if relative:
        return types.FileSystemWatcher(
            glob_pattern=types.RelativePattern(base_uri=uri_of(base), pattern=pattern)
        )
    return types.FileSystemWatcher(glob_pattern=f"{PurePath(base).as_posix()}/{pattern}")


def _literal(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "[]{}" else sign for sign in name)
