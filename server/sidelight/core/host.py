"""What the agent asks of an editor; nothing here knows any protocol."""

from collections.abc import Sequence
from typing import Literal, Protocol

from sidelight.core.access import Access
from sidelight.core.content import Json, ToolUse
from sidelight.core.decision import PermissionUpdate, Reason
from sidelight.core.record import Record

Severity = Literal["info", "warning", "error"]
ChangeKind = Literal["add", "change", "unlink"]


class FileSnapshot(Record):
    """A text file as the user sees it now.

    `text` has its exact line ends and no byte-order mark; `version` is the editor's, None for a
    file that is not open; `digest` identifies the text (see `core.ledger.digest_of`). `encoding`
    is a Python codec name, `bom` the mark's bytes in hex or empty.
    """

    path: str
    text: str
    digest: str
    version: int | None = None
    unsaved: bool = False
    encoding: str = "utf-8"
    bom: str = ""


class TextEdit(Record):
    """Replace `text[start:end]` by `new_text`; offsets in code points of the base text."""

    start: int
    end: int
    new_text: str


class FileEdit(Record):
    """Edits of one file, made for the text with digest `base`; None means: must not exist yet.

    Edits are sorted, do not overlap, and are all applied or none is. `removes` deletes the file
    instead (the undo of a creation); then `after` has no snapshot of it.
    """

    path: str
    base: str | None
    edits: tuple[TextEdit, ...]
    removes: bool = False


class EditOutcome(Record):
    """What became of an edit. `after` holds the files as they are now, saved, save participants
    included; `failure` says why nothing was applied; `note` is for the model (disk older...)."""

    applied: bool
    failure: Literal["", "stale", "refused", "gone"] = ""
    detail: str = ""
    note: str = ""
    after: tuple[FileSnapshot, ...] = ()


class FileChange(Record):
    """A file on disk was added, changed or removed; `path` is absolute."""

    path: str
    event: ChangeKind


class PermissionPrompt(Record):
    """All that a dialog needs to show before a person decides."""

    id: str
    call: ToolUse
    title: str
    reason: Reason
    accesses: tuple[Access, ...] = ()
    preview: tuple[FileEdit, ...] = ()
    suggestions: tuple[PermissionUpdate, ...] = ()
    dangerous: bool = False


class PermissionReply(Record):
    """A person's answer; `feedback` is what to tell the model, `remember` what to keep."""

    behavior: Literal["allow", "deny"]
    feedback: str = ""
    updated_input: Json | None = None
    remember: tuple[PermissionUpdate, ...] = ()


class UserOption(Record):
    """One answer to a question; `label` is what people read."""

    id: str
    label: str


class UserQuestion(Record):
    """A question with answers to choose from; the last one is the way out.

    `title`, `detail` and the labels are templates for `fields`, so that a client may show them in
    its own language.
    """

    id: str
    title: str
    detail: str = ""
    options: tuple[UserOption, ...]
    fields: dict[str, str] = {}

    def text(self, template: str) -> str:
        """A template of this question in English, its fields filled in."""
        return template.format(**self.fields) if self.fields else template


class Host(Protocol):
    """The editor, or what stands in for it. Every method may be cancelled."""

    async def read_text(self, path: str) -> FileSnapshot:
        """The open buffer if there is one, else the file on disk.

        Raises FileNotFoundError, IsADirectoryError, PermissionError or BinaryFileError.
        """
        ...

    async def unsaved(self) -> Sequence[FileSnapshot]:
        """The open documents whose text is not what their file holds; never raises.

        Documents that belong to no file (untitled ones) are not among them.
        """
        ...

    async def apply_edit(self, edits: Sequence[FileEdit], label: str) -> EditOutcome:
        """Apply all edits or none; what was applied is saved when this returns.

        A base that no longer matches gives `failure="stale"`; raises HostError when the editor
        is gone.
        """
        ...

    async def ask_permission(self, prompt: PermissionPrompt) -> PermissionReply:
        """Ask the person; cancelling closes the dialog. Closing the dialog is a denial."""
        ...

    async def ask_user(self, question: UserQuestion) -> str | None:
        """The id of the option that the person chose; None when nobody answered.

        Cancelling closes the dialog. Raises HostError when the editor is gone.
        """
        ...

    async def notify(self, severity: Severity, text: str) -> None:
        """Tell the person something that needs no answer; never raises."""
        ...

    async def watch(self, paths: Sequence[str]) -> None:
        """Replace the list of absolute paths (or globs) whose changes are to be reported."""
        ...
