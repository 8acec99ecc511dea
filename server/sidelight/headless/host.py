"""`DiskHost`: the host port on the bare disk, for runs without an editor."""

from collections.abc import Awaitable, Callable, Sequence

import anyio.to_thread

from sidelight.core.host import (
    EditOutcome,
    FileEdit,
    FileSnapshot,
    PermissionPrompt,
    PermissionReply,
    Severity,
    UserQuestion,
)
from sidelight.files.disk import apply_on_disk, read_snapshot

Answer = Callable[[PermissionPrompt], Awaitable[PermissionReply]]
Tell = Callable[[Severity, str], None]


async def deny(prompt: PermissionPrompt) -> PermissionReply:
    """The answer where nobody can be asked; the model learns how it may be allowed."""
    return PermissionReply(
        behavior="deny",
        feedback=(
            f"Nobody can be asked in this run, so {prompt.call.name} was denied. Go on without "
            "it, and name in the final answer what could not be done. The user can allow it with "
            "a rule in the settings, --allowedTools or --permission-mode."
        ),
    )


class DiskHost:
    """Files are those on disk; questions are answered by `answer`, notices go to `tell`.

    `watched` is the list that `watch` was last given; who reports changes reads it.
    """

    def __init__(self, tell: Tell, answer: Answer = deny) -> None:
        self.watched: tuple[str, ...] = ()
        self._tell = tell
        self._answer = answer
        self._writing = anyio.Lock()

    async def read_text(self, path: str) -> FileSnapshot:
        """The file on disk, read in a thread."""
        return await anyio.to_thread.run_sync(read_snapshot, path)

    async def unsaved(self) -> Sequence[FileSnapshot]:
        """None: nothing is open."""
        return ()

    async def apply_edit(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        """Write all or nothing, one call after the other; a started write is not broken off."""
        async with self._writing:
            return await anyio.to_thread.run_sync(apply_on_disk, tuple(edits))

    async def ask_permission(self, prompt: PermissionPrompt) -> PermissionReply:
        """What the policy of this run answers."""
        return await self._answer(prompt)

    async def ask_user(self, question: UserQuestion) -> str | None:
        """Nobody is there to choose."""
        return None

    async def notify(self, severity: Severity, text: str) -> None:
        """Pass it to the callback."""
        self._tell(severity, text)

    async def watch(self, paths: Sequence[str]) -> None:
        """Keep the list."""
        self.watched = tuple(paths)
