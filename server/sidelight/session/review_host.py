"""A host whose edits are noted for review; everything else passes through."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from sidelight.core.errors import HostError
from sidelight.core.host import (
    EditOutcome,
    FileEdit,
    FileSnapshot,
    Host,
    PermissionPrompt,
    PermissionReply,
    Severity,
    UserQuestion,
)
from sidelight.review.ledger import ReviewLedger


class ReviewHost:
    """Implements Host around the session's host. `changed` is called after every noted edit."""

    def __init__(
        self, inner: Host, review: ReviewLedger, changed: Callable[[], Awaitable[None]]
    ) -> None:
        self._inner = inner
        self._review = review
        self._changed = changed

    async def read_text(self, path: str) -> FileSnapshot:
        """As the inner host."""
        return await self._inner.read_text(path)

    async def unsaved(self) -> Sequence[FileSnapshot]:
        """As the inner host."""
        return await self._inner.unsaved()

    async def apply_edit(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        """As the inner host; what was applied waits for review from here on."""
        before = {edit.path: await self._text(edit.path) for edit in edits}
        outcome = await self._inner.apply_edit(edits, label)
        if outcome.applied:
            for after in outcome.after:
                self._review.note_edit(after.path, before.get(after.path), after.text)
            with anyio.CancelScope(shield=True):  # the file is changed: that must not go unsaid
                await self._changed()
        return outcome

    async def ask_permission(self, prompt: PermissionPrompt) -> PermissionReply:
        """As the inner host."""
        return await self._inner.ask_permission(prompt)

    async def ask_user(self, question: UserQuestion) -> str | None:
        """As the inner host."""
        return await self._inner.ask_user(question)

    async def notify(self, severity: Severity, text: str) -> None:
        """As the inner host."""
        await self._inner.notify(severity, text)

    async def watch(self, paths: Sequence[str]) -> None:
        """As the inner host."""
        await self._inner.watch(paths)

    async def _text(self, path: str) -> str | None:
        try:
            return (await self._inner.read_text(path)).text
        except (OSError, HostError):
            return None
