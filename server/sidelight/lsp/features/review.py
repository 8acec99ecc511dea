"""Pending hunks in the editor: the rows above them, and the commands behind the rows."""

from lsprotocol import types

from sidelight.core.record import Record
from sidelight.lsp.application import Application
from sidelight.lsp.convert import file_key, path_of
from sidelight.lsp.server import AgentServer
from sidelight.wire.capabilities import OPEN_DIFF
from sidelight.wire.catalogue import say
from sidelight.wire.methods import Nothing
from sidelight.wire.reviewing import HunkInfo, Review, Reviewed


class HunkTarget(Record):
    """Which hunk a row belongs to."""

    session_id: str
    hunk_id: str


class ReviewCommands:
    """Lens rows and commands over what waits for review in all sessions."""

    def __init__(self, server: AgentServer, application: Application) -> None:
        self._server = server
        self._application = application

    def lenses(self, uri: str) -> list[types.CodeLens]:
        """Four lenses a hunk, in the order of the rows' words."""
        key = file_key(path_of(uri))
        hunks = [
            (changes.session_id, hunk)
            for changes in self._application.changes()
            for file in changes.files
            if file_key(file.path) == key
            for hunk in file.hunks
            if hunk.state == "pending"
        ]
        hunks.sort(key=lambda pair: pair[1].line)
        lenses: list[types.CodeLens] = []
        for at, (session_id, hunk) in enumerate(hunks):
            lenses += self._row(uri, session_id, hunk, at + 1, len(hunks))
        return lenses

    async def keep(self, target: HunkTarget) -> Reviewed:
        """Keep one hunk."""
        return await self._settle(target, "keep")

    async def undo(self, target: HunkTarget) -> Reviewed:
        """Undo one hunk."""
        return await self._settle(target, "undo")

    async def keep_all(self, _: Nothing) -> Reviewed:
        """Keep everything that waits, in every session."""
        done = 0
        for changes in self._application.changes():
            kept = await self._review(Review(session_id=changes.session_id, action="keep"))
            done += kept.done
        self._say(done, "{count} changes kept.")
        return Reviewed(done=done)

    async def undo_all(self, _: Nothing) -> Reviewed:
        """Undo everything that waits, in every session."""
        done = 0
        for changes in self._application.changes():
            undone = await self._review(Review(session_id=changes.session_id, action="undo"))
            done += undone.done
        self._say(done, "{count} changes undone.")
        return Reviewed(done=done)

    async def _settle(self, target: HunkTarget, action: str) -> Reviewed:
        fields = {"session_id": target.session_id, "action": action, "hunk_id": target.hunk_id}
        return await self._review(Review.model_validate(fields))

    async def _review(self, request: Review) -> Reviewed:
        reviewed = await self._application.review(request)
        if reviewed.problem:
            self._server.window_show_message(
                types.ShowMessageParams(type=types.MessageType.Warning, message=reviewed.problem)
            )
        return reviewed

    def _say(self, done: int, words: str) -> None:
        if self._server.client.ours:
            return  # the panel shows it
        sentence = say(self._server.locale, words, count=done)
        if not done:
            sentence = say(self._server.locale, "Nothing is waiting for review.")
        self._server.window_show_message(
            types.ShowMessageParams(type=types.MessageType.Info, message=sentence)
        )

    def _row(
        self, uri: str, session_id: str, hunk: HunkInfo, n: int, total: int
    ) -> list[types.CodeLens]:
        line = max(hunk.line - 1, 0)
        place = types.Range(
            start=types.Position(line=line, character=0), end=types.Position(line=line, character=0)
        )
        target = HunkTarget(session_id=session_id, hunk_id=hunk.id).to_wire()
        diff = OPEN_DIFF if self._server.client.ours else "sidelight.showDiff"
        locale = self._server.locale
        commands = (
            types.Command(say(locale, "Keep"), "sidelight.keep", arguments=[target]),
            types.Command(say(locale, "Undo"), "sidelight.undo", arguments=[target]),
            types.Command(say(locale, "Show diff"), diff, arguments=[uri]),
            types.Command(say(locale, "{n} of {total}", n=n, total=total), ""),
        )
        return [types.CodeLens(range=place, command=command) for command in commands]
