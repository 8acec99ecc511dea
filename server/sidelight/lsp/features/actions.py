"""The actions on code by whoever can do them: the agent, else the small local model alone."""

import logging
from collections.abc import Awaitable, Callable

import anyio
from lsprotocol import types

from sidelight.actions.checks import ActionError
from sidelight.actions.small import Done, Place
from sidelight.core.errors import AgentError
from sidelight.lsp.application import Application
from sidelight.lsp.convert import path_of
from sidelight.lsp.documents import read
from sidelight.lsp.features.plain import Document, PlacePoint, PlainCommands, Target
from sidelight.lsp.lines import Lines
from sidelight.lsp.lines import Place as Point
from sidelight.lsp.progress import Progress
from sidelight.lsp.server import AgentServer
from sidelight.lsp.shown import Shown
from sidelight.wire.catalogue import say
from sidelight.wire.connection import CommitMessage
from sidelight.wire.methods import Nothing

log = logging.getLogger(__name__)

MARK = "By the small local model on this computer; it may be wrong."
BUG = "The action failed by a fault of its own and changed nothing; the log has the details."
Work = Callable[[], Awaitable[Done]]


class ActionCommands:
    """Explain, document, rename, commit message. One action of the small model at a time."""

    def __init__(
        self, server: AgentServer, application: Application, plain: PlainCommands, shown: Shown
    ) -> None:
        self._server = server
        self._application = application
        self._plain = plain
        self._shown = shown
        self._scope: anyio.CancelScope | None = None

    @property
    def running(self) -> bool:
        """Whether the small model is at work."""
        return self._scope is not None

    async def explain(self, target: Target) -> None:
        """Explain the selection or the problem."""
        small = await self._application.small_actions()
        if small is None:
            await self._plain.explain(target)
            return

        async def work() -> Done:
            host = await self._application.host_for(path_of(target.uri))
            return await small.explain(host, await self._place(target))

        self._start("Sidelight: explain the selection", work)

    async def document(self, target: Target) -> None:
        """Write a docstring."""
        small = await self._application.small_actions()
        if small is None:
            await self._plain.document(target)
            return

        async def work() -> Done:
            host = await self._application.host_for(path_of(target.uri))
            return await small.document(host, await self._place(target))

        self._start("Sidelight: write a docstring", work)

    async def rename(self, target: Target) -> None:
        """Rename what the words say."""
        small = await self._application.small_actions()
        if small is None:
            await self._plain.rename(target)
            return

        async def work() -> Done:
            host = await self._application.host_for(path_of(target.uri))
            return await small.rename(host, await self._place(target), target.words or "")

        self._start("Sidelight: rename", work)

    async def commit_message(self, folder: Document) -> CommitMessage | None:
        """A commit message for what is staged; our own extension gets it as the answer."""
        small = await self._application.small_actions()
        path = path_of(folder.uri)
        if small is None:
            if self._server.client.ours:
                raise AgentError(
                    say(self._server.locale, "Ask for the commit message in the chat.")
                )
            await self._plain.commit_message(path)
            return None
        title = "Sidelight: commit message"
        if not self._server.client.ours:
            self._start(title, lambda: small.commit_message(path))
            return None
        self._require_nothing_runs()
        done = await self._watched(title, lambda: small.commit_message(path))
        return CommitMessage(text=done.text)

    async def stop(self, nothing: Nothing) -> None:
        """Stop what runs without a panel."""
        if self._scope is not None:
            self._scope.cancel()
        else:
            await self._plain.stop(nothing)

    # --- the small model at work ----------------------------------------------------------------

    def _require_nothing_runs(self) -> None:
        if self._scope is not None:
            words = "A task is running already; stop it first."
            raise AgentError(say(self._server.locale, words))

    def _start(self, title: str, work: Work) -> None:
        """Begin and return: some editors freeze while a command runs."""
        self._require_nothing_runs()
        self._scope = anyio.CancelScope()
        self._server.background(self._told(title, work))

    async def _told(self, title: str, work: Work) -> None:
        try:
            done = await self._watched(title, work)
        except AgentError as error:
            self._shown.message("Failed: {error}", types.MessageType.Error, error=error)
            return
        except Exception:
            log.exception("an action failed by a fault of ours")
            self._shown.message(BUG, types.MessageType.Error)
            return
        if done.words == "Explained.":
            mark = say(self._server.locale, MARK)
            await self._shown.document(f"{done.text}\n\n---\n{mark}\n", "explanation.md")
            return
        self._shown.message(say(self._server.locale, done.words, **done.fields))

    async def _watched(self, title: str, work: Work) -> Done:
        """With progress and a way to stop; raises AgentError in the editor's language."""
        locale = self._server.locale
        name = say(locale, "{title} (small local model)", title=say(locale, title))
        self._scope = scope = self._scope or anyio.CancelScope()
        try:
            async with Progress(self._server, name, scope.cancel) as shown:
                with scope:
                    done = await work()
                    shown.last_words = say(locale, "Done")
                    return done
                shown.last_words = say(locale, "Stopped")
            raise AgentError(say(locale, "Stopped"))
        except ActionError as error:
            raise AgentError(say(locale, error.words, **error.fields)) from error
        finally:
            self._scope = None

    async def _place(self, target: Target) -> Place:
        path = path_of(target.uri)
        try:
            text = (await read(self._server.buffers, path)).text
        except OSError as error:
            raise ActionError("{path} cannot be read: {error}", path=path, error=error) from error
        lines, encoding = Lines(text), self._server.buffers.encoding

        def offset(point: PlacePoint) -> int:
            return lines.offset(Point(point.line, point.character), encoding)

        return Place(path, offset(target.range.start), offset(target.range.end))
