"""`FakeHost`: an editor in memory, with files, open buffers and a person who answers."""

from collections.abc import Callable, Sequence

import anyio

from sidelight.core.host import (
    EditOutcome,
    FileEdit,
    FileSnapshot,
    PermissionPrompt,
    PermissionReply,
    Severity,
    TextEdit,
    UserQuestion,
)
from sidelight.core.ledger import digest_of


class FakeHost:
    """Files are texts by path; an open buffer wins over its file, edits save what they touch.

    `on_save` stands for save participants: it gets path and text and returns what is saved.
    `before_apply` is called once before the next edit, as a user who types at that moment.
    `replies` are given to permission prompts in order; without one the answer is a denial.
    `answers` are given to questions in order; without one nobody answers. While `away` is set the
    dialogs stay open, and `dialogs` counts those that are.
    """

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self.files = dict(files or {})
        self.buffers: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.on_save: Callable[[str, str], str] = lambda path, text: text
        self.before_apply: Callable[[], None] | None = None
        self.refuse_edits = ""
        self.replies: list[PermissionReply] = []
        self.questions: list[UserQuestion] = []
        self.answers: list[str] = []
        self.away = False
        self.dialogs = 0
        self.prompts: list[PermissionPrompt] = []
        self.notices: list[tuple[Severity, str]] = []
        self.labels: list[str] = []
        self.watched: tuple[str, ...] = ()

    def open(self, path: str, text: str) -> None:
        """The user has the file open, with this text in the buffer."""
        self.buffers[path] = text
        self.versions[path] = self.versions.get(path, 0) + 1

    async def read_text(self, path: str) -> FileSnapshot:
        if path in self.buffers:
            text = self.buffers[path]
            unsaved = text != self.files.get(path)
            return FileSnapshot(
                path=path,
                text=text,
                digest=digest_of(text),
                version=self.versions[path],
                unsaved=unsaved,
            )
        if path not in self.files:
            if any(name.startswith(path + "/") for name in self.files):
                raise IsADirectoryError(21, "is a folder", path)
            raise FileNotFoundError(2, "no such file", path)
        text = self.files[path]
        return FileSnapshot(path=path, text=text, digest=digest_of(text))

    async def unsaved(self) -> Sequence[FileSnapshot]:
        open_ones = [await self.read_text(path) for path in self.buffers]
        return [snapshot for snapshot in open_ones if snapshot.unsaved]

    async def apply_edit(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        if self.before_apply is not None:
            user, self.before_apply = self.before_apply, None
            user()
        if self.refuse_edits:
            return EditOutcome(applied=False, failure="refused", detail=self.refuse_edits)
        texts: dict[str, str] = {}
        for edit in edits:
            present = self.buffers.get(edit.path, self.files.get(edit.path))
            if edit.base is not None and present is None:
                return EditOutcome(applied=False, failure="gone", detail="the file is gone")
            base = None if present is None else digest_of(present)
            if base != edit.base:
                return EditOutcome(applied=False, failure="stale", detail="the text has changed")
            changed = _edited(present or "", edit.edits)
            if changed is None or edit.path in texts:
                return EditOutcome(applied=False, failure="refused", detail="edits do not fit")
            texts[edit.path] = changed
        self.labels.append(label)
        gone = {edit.path for edit in edits if edit.removes}
        for path in gone:
            self.files.pop(path, None)
            self.buffers.pop(path, None)
        for path, text in texts.items():
            if path not in gone:
                self._save(path, text)
        after = [await self.read_text(path) for path in texts if path not in gone]
        return EditOutcome(applied=True, after=tuple(after))

    def _save(self, path: str, text: str) -> None:
        saved = self.on_save(path, text)
        self.files[path] = saved
        if path in self.buffers:
            self.open(path, saved)

    async def ask_permission(self, prompt: PermissionPrompt) -> PermissionReply:
        self.prompts.append(prompt)
        await self._stay_open()
        if self.replies:
            return self.replies.pop(0)
        return PermissionReply(behavior="deny", feedback="Nobody answered.")

    async def ask_user(self, question: UserQuestion) -> str | None:
        self.questions.append(question)
        await self._stay_open()
        return self.answers.pop(0) if self.answers else None

    async def _stay_open(self) -> None:
        if not self.away:
            return
        self.dialogs += 1
        try:
            await anyio.sleep_forever()
        finally:
            self.dialogs -= 1

    async def notify(self, severity: Severity, text: str) -> None:
        self.notices.append((severity, text))

    async def watch(self, paths: Sequence[str]) -> None:
        self.watched = tuple(paths)


def _edited(text: str, edits: Sequence[TextEdit]) -> str | None:
    """The text after the edits, worked from the end; None for edits that do not fit."""
    limit = len(text)
    for edit in reversed(edits):
        if not 0 <= edit.start <= edit.end <= limit:
            return None
        text = text[: edit.start] + edit.new_text + text[edit.end :]
        limit = edit.start
    return text
