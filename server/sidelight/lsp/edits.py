"""Edits through the editor: checked, applied, saved, and read back as they then are."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from os.path import commonprefix
from typing import Literal

import anyio
import anyio.to_thread
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sidelight.core.errors import HostError
from sidelight.core.host import EditOutcome, FileEdit, FileSnapshot, TextEdit
from sidelight.files.disk import apply_on_disk, apply_text_edits
from sidelight.lsp.buffers import Buffer
from sidelight.lsp.convert import is_uri, real_key, to_range
from sidelight.lsp.documents import View, look, read_disk, until
from sidelight.lsp.server import AgentServer
from sidelight.lsp.transport import ConnectionLostError

SECONDS_TO_REPORT = 3.0
"""How long an editor may take to report the text it has just changed (Eglot waits 0.5 s)."""
SECONDS_TO_SAVE = 10.0
"""How long save participants, formatters above all, may take."""

Failure = Literal["stale", "refused", "gone"]


class _Refused(Exception):
    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.outcome = EditOutcome(applied=False, failure=failure, detail=detail)


@dataclass(frozen=True, slots=True)
class _Plan:
    """An edit of an open document, worked out on the text of this very moment."""

    edit: FileEdit
    view: View
    after: str
    version: int
    saves: int
    before: str
    edits: tuple[types.TextEdit, ...]

    @property
    def buffer(self) -> Buffer:
        return self.view.buffer


class Edits:
    """All edits of one server, of whichever session: one writer a document at a time.

    `unsaved` is what the user's own settings say of buffers with unsaved changes, `save` or
    `keep`; it counts where the editor says nothing. May block.
    """

    def __init__(self, server: AgentServer, unsaved: Callable[[], str]) -> None:
        self._server = server
        self._unsaved = unsaved
        self._buffers = server.buffers
        self._locks: dict[str, anyio.Lock] = {}

    async def apply(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        """Apply all or none; see `Host.apply_edit`. Raises HostError when the editor is gone."""
        paths = [edit.path for edit in edits]
        if len({real_key(path) for path in paths}) < len(paths):
            detail = "one file is named twice in one edit"
            return EditOutcome(applied=False, failure="refused", detail=detail)
        async with self._alone(paths):
            try:
                return await self._apply(edits, label)
            except _Refused as refused:
                return refused.outcome
            except ConnectionLostError as error:
                raise HostError(str(error)) from error

    async def _apply(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        views = {edit.path: await look(self._buffers, edit.path) for edit in edits}
        garbled = [view for view in views.values() if view and view.garbled and view.stale]
        closed = [edit for edit in edits if views[edit.path] in (None, *garbled)]
        opened = [
            (edit, view)
            for edit in edits
            if (view := views[edit.path]) is not None and view not in garbled
        ]
        if not opened:
            return _left_behind(garbled, await _on_disk(closed))
        for edit in closed:
            await _check(edit)
        if not self._can_apply():
            outcome = await _on_disk([*closed, *(_around(*pair) for pair in opened)])
            return _left_behind([*garbled, *(view for _, view in opened)], outcome)
        plans = [self._plan(edit, view) for edit, view in opened]
        changed = [plan for plan in plans if not plan.edit.removes]
        removed = [plan for plan in plans if plan.edit.removes]
        remark = await self._in_editor(changed, label)
        written = await _on_disk(closed) if closed else EditOutcome(applied=True)
        _left_behind(garbled, written)
        if not written.applied:
            return await self._take_back(changed, label, written)
        try:
            await self._in_editor(removed, label)  # last: an editor does not bring a file back
        except _Refused:
            if len(removed) == len(edits):
                raise  # else the rest is done: `_settle` removes the file from the disk or says so
        return await self._settle(edits, plans, written, remark)

    def busy(self, path: str) -> bool:
        """Whether an edit of the file is under way."""
        lock = self._locks.get(real_key(path))
        return lock is not None and lock.locked()

    # --- working it out -------------------------------------------------------------------------

    def _plan(self, edit: FileEdit, view: View) -> _Plan:
        """No waiting from here to the request: version, text and ranges belong together."""
        buffer, text = view.buffer, view.buffer.text
        base = view.snapshot.text if view.stale else text
        snapshot = view.snapshot
        if edit.base is None:
            raise _Refused("stale", f"{edit.path} exists already: it is open in the editor")
        if view.garbled and view.disk:
            raise _Refused(
                "refused",
                f"{edit.path} is in {view.disk.encoding}, the editor reads it in another encoding "
                "and has unsaved changes; saved, its letters would be lost. Ask the user to take "
                "back the changes and to reopen the file with its encoding",
            )
        if edit.base != snapshot.digest or (not view.stale and text != snapshot.text):
            raise _Refused("stale", f"{edit.path} has changed in the editor since it was read")
        try:
            after = "" if edit.removes else apply_text_edits(base, edit.edits)
        except ValueError as error:
            raise _Refused("refused", f"{edit.path}: {error}") from error
        parts = (_whole(text, after),) if view.stale else edit.edits
        lines, encoding = buffer.lines, self._buffers.encoding
        ranges = tuple(
            types.TextEdit(
                range=to_range(lines, part.start, part.end, encoding), new_text=part.new_text
            )
            for part in parts
        )
        return _Plan(edit, view, after, buffer.version, buffer.saves, text, ranges)

    def _can_apply(self) -> bool:
        workspace = self._server.client_capabilities.workspace
        return bool(workspace and workspace.apply_edit)

    # --- asking the editor ----------------------------------------------------------------------

    async def _in_editor(self, plans: Sequence[_Plan], label: str) -> str:
        """Have it applied and wait until it is reported; what the editor remarks about it."""
        edit = self._workspace_edit(plans)
        if not (edit.changes or edit.document_changes):
            return ""
        try:
            answer = await self._server.workspace_apply_edit_async(
                types.ApplyWorkspaceEditParams(edit=edit, label=label)
            )
        except JsonRpcException as error:
            raise self._refusal(plans, f"the editor refused the edit: {error.message}") from error
        if not answer.applied:
            why = f": {answer.failure_reason}" if answer.failure_reason else ""
            raise self._refusal(plans, f"the editor did not apply the edit{why}")
        for plan in plans:
            if plan.edit.removes or plan.after == plan.before:
                continue
            if not await until(self._buffers, lambda p=plan: self._moved(p), SECONDS_TO_REPORT):
                raise _Refused(
                    "refused",
                    f"the editor says that it edited {plan.edit.path}, but its text is as before",
                )
        return answer.failure_reason or ""

    def _workspace_edit(self, plans: Sequence[_Plan]) -> types.WorkspaceEdit:
        workspace = self._server.client_capabilities.workspace
        known = workspace.workspace_edit if workspace else None
        if known is None or not known.document_changes:
            return types.WorkspaceEdit(
                changes={
                    plan.buffer.uri: list(plan.edits) for plan in plans if not plan.edit.removes
                }
            )
        can_delete = types.ResourceOperationKind.Delete in (known.resource_operations or [])
        changes: list[
            types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile
        ] = []
        for plan in plans:
            if plan.edit.removes:
                if can_delete:
                    changes.append(types.DeleteFile(uri=plan.buffer.uri))
                continue
            document = types.OptionalVersionedTextDocumentIdentifier(
                uri=plan.buffer.uri, version=plan.version
            )
            changes.append(types.TextDocumentEdit(text_document=document, edits=list(plan.edits)))
        return types.WorkspaceEdit(document_changes=changes)

    def _refusal(self, plans: Sequence[_Plan], detail: str) -> _Refused:
        """An editor gives no reason for an old version; whether there was one is seen here."""
        moved = [plan.edit.path for plan in plans if self._moved(plan)]
        if moved:
            return _Refused("stale", f"{moved[0]} was changed in the editor at the same moment")
        return _Refused("refused", detail)

    def _moved(self, plan: _Plan) -> bool:
        return self._is_closed(plan) or plan.buffer.version != plan.version

    def _is_closed(self, plan: _Plan) -> bool:
        return self._buffers.get(plan.buffer.uri) is not plan.buffer

    async def _take_back(
        self, plans: Sequence[_Plan], label: str, failed: EditOutcome
    ) -> EditOutcome:
        """The disk refused its part: the editor gets its texts back."""
        back: list[_Plan] = []
        for plan in plans:
            text = plan.buffer.text
            part = _whole(text, plan.before)
            lines, encoding = plan.buffer.lines, self._buffers.encoding
            undo = types.TextEdit(
                range=to_range(lines, part.start, part.end, encoding), new_text=part.new_text
            )
            version, saves = plan.buffer.version, plan.buffer.saves
            back.append(_Plan(plan.edit, plan.view, plan.before, version, saves, text, (undo,)))
        try:
            await self._in_editor(back, label)
        except _Refused as refused:
            detail = f"{failed.detail}; and the editor kept its part of the edit: {refused}"
            return failed.model_copy(update={"detail": detail})
        return failed

    # --- saved, and as it is then ---------------------------------------------------------------

    async def _settle(
        self,
        edits: Sequence[FileEdit],
        plans: Sequence[_Plan],
        written: EditOutcome,
        remark: str,
    ) -> EditOutcome:
        notes = [written.note]
        for plan in plans:
            if plan.edit.removes:
                notes.append(await _remove(plan))
            else:
                notes.append(await self._save(plan, remark))
        after = {snapshot.path: snapshot for snapshot in written.after}
        for plan in plans:
            snapshot = None if plan.edit.removes else await self._after(plan)
            if snapshot is not None:
                after[plan.edit.path] = snapshot
        order = [after[edit.path] for edit in edits if edit.path in after]
        return EditOutcome(applied=True, note=" ".join(filter(None, notes)), after=tuple(order))

    async def _after(self, plan: _Plan) -> FileSnapshot | None:
        view = await look(self._buffers, plan.edit.path)
        if view is not None:
            return view.snapshot
        return await read_disk(plan.edit.path)

    async def _save(self, plan: _Plan, remark: str) -> str:
        """See that the disk has the text; the note says why it has not."""
        path = plan.edit.path
        if is_uri(plan.buffer.path):
            return f"{path} has no file yet: its text is in the editor only."
        if plan.view.snapshot.unsaved and await self._keeps_unsaved():
            return (
                f"{path} had unsaved changes before this edit and is not saved: "
                "the disk is older than the editor's text."
            )
        if self._server.client.ours:
            patience = 0 if remark else SECONDS_TO_SAVE  # it saves before it answers
            if await until(self._buffers, lambda: self._is_saved(plan), patience):
                return ""
            why = f" ({remark})" if remark else ""
            return f"The editor did not save {path}{why}: the disk is older than its text."
        return "" if self._is_saved(plan) else await self._save_ourselves(plan)

    async def _keeps_unsaved(self) -> bool:
        told = self._server.options.get("unsavedBuffers")
        return (told or await anyio.to_thread.run_sync(self._unsaved)) == "keep"

    def _is_saved(self, plan: _Plan) -> bool:
        return self._is_closed(plan) or plan.buffer.saves != plan.saves

    async def _save_ourselves(self, plan: _Plan) -> str:
        """An editor without our extension has no way to be told to save."""
        buffer, disk, text = plan.buffer, plan.view.disk, plan.buffer.text
        older = f"{plan.edit.path} is not saved: the disk is older than the editor's text"
        if buffer.disk_changed and not plan.view.stale:
            return f"{older}, because another program has changed the file."
        whole = TextEdit(start=0, end=len(disk.text) if disk else 0, new_text=text)
        edit = FileEdit(path=buffer.path, base=disk.digest if disk else None, edits=(whole,))
        outcome = await _on_disk([edit])
        if not outcome.applied:
            return f"{older} ({outcome.detail})."
        buffer.saved_text = text
        return ""

    @asynccontextmanager
    async def _alone(self, paths: Sequence[str]) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for key in sorted({real_key(path) for path in paths}):
                await stack.enter_async_context(self._locks.setdefault(key, anyio.Lock()))
            yield


async def _on_disk(edits: Sequence[FileEdit]) -> EditOutcome:
    return await anyio.to_thread.run_sync(apply_on_disk, tuple(edits))


async def _remove(plan: _Plan) -> str:
    """See that the file is gone, also where the editor has no way to delete one."""
    disk = await read_disk(plan.buffer.path)
    if disk is None:
        return ""
    removal = FileEdit(path=plan.buffer.path, base=disk.digest, edits=(), removes=True)
    outcome = await _on_disk([removal])
    return "" if outcome.applied else f"{plan.edit.path} was not removed: {outcome.detail}."


def _left_behind(views: Sequence[View], outcome: EditOutcome) -> EditOutcome:
    """The outcome; the editor has yet to take up what was written behind its back."""
    for view in views if outcome.applied else ():
        view.buffer.left_behind()
    return outcome


def _around(edit: FileEdit, view: View) -> FileEdit:
    """The edit for the disk, where the editor cannot apply edits and has nothing unsaved."""
    if view.snapshot.unsaved:
        raise _Refused(
            "refused",
            f"{edit.path} has unsaved changes and this editor cannot apply edits: save it first",
        )
    return edit


async def _check(edit: FileEdit) -> None:
    """Before the editor is asked: does the part that is for the disk still fit?"""
    disk = await read_disk(edit.path)
    if edit.base is None and disk is not None:
        raise _Refused("stale", f"{edit.path} exists already")
    if edit.base is not None and disk is None:
        raise _Refused("gone", f"{edit.path} does not exist any more")
    if edit.base is not None and disk is not None and disk.digest != edit.base:
        raise _Refused("stale", f"{edit.path} has changed since it was read")


def _whole(before: str, after: str) -> TextEdit:
    """One replacement that turns a text into another, as small as one can be."""
    head = len(commonprefix([before, after]))
    if before[head - 1 : head] == "\r" or after[head - 1 : head] == "\r":
        head -= 1  # no position is inside a line end
    rest_before, rest_after = before[head:], after[head:]
    tail = len(commonprefix([rest_before[::-1], rest_after[::-1]]))
    if before[len(before) - tail :].startswith("\n"):
        tail -= 1
    return TextEdit(
        start=head,
        end=len(before) - tail,
        new_text=rest_after[: len(rest_after) - tail],
    )
