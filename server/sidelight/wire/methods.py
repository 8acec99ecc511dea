"""Params and results of every custom method; `client-vscode/src/protocol.ts` mirrors this file.

Shapes of `session/*` follow the Agent Client Protocol, version 1: absolute paths, 1-based lines,
our own additions under `_meta.sidelight` or in `_sidelight/*` methods.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from sidelight.core.content import Json
from sidelight.core.record import Record
from sidelight.wire.connection import Connect, Connection, ModelInfo
from sidelight.wire.controls import (
    CheckRule,
    EditQueued,
    MoveCall,
    QueuedPrompt,
    RemoveQueued,
    RuleChecked,
    SetPaused,
    StopCall,
    StopTask,
    TasksShown,
    WasThere,
)
from sidelight.wire.reviewing import Changes, Original, OriginalText, Review, Reviewed

# --- what a prompt is made of -------------------------------------------------------------------


class TextBlock(Record):
    """Text that the person typed."""

    type: Literal["text"] = "text"
    text: str


class ImageBlock(Record):
    """A pasted picture, data in base64."""

    type: Literal["image"] = "image"
    mime_type: str
    data: str


class EmbeddedText(Record):
    """A file's or selection's text with the address it came from."""

    uri: str
    text: str
    mime_type: str | None = None


class ResourceBlock(Record):
    """Context that goes along: a selection (`uri` ends in `#L5-L10`) or a file."""

    type: Literal["resource"] = "resource"
    resource: EmbeddedText


PromptBlock = Annotated[TextBlock | ImageBlock | ResourceBlock, Field(discriminator="type")]

# --- session/* ----------------------------------------------------------------------------------


class ModeInfo(Record):
    """A permission mode as a person picks it."""

    id: str
    name: str
    description: str | None = None


class Modes(Record):
    """The present mode and those that may be picked."""

    current_mode_id: str
    available_modes: tuple[ModeInfo, ...]


class Models(Record):
    """The model that answers in a conversation and those that may be picked."""

    current_model_id: str
    available_models: tuple[ModelInfo, ...]


class NewSession(Record):
    """`session/new`: begin a conversation in a folder."""

    cwd: str
    mcp_servers: tuple[Json, ...] = ()


class SessionCreated(Record):
    """Answer to `session/new`."""

    session_id: str
    modes: Modes
    models: Models


class LoadSession(Record):
    """`session/load`: take up an old conversation; its messages come as updates first."""

    session_id: str
    cwd: str
    mcp_servers: tuple[Json, ...] = ()


class SessionLoaded(Record):
    """Answer to `session/load`, after the replay."""

    modes: Modes
    models: Models


class ListSessions(Record):
    """`session/list`: conversations of a folder, newest first."""

    cwd: str | None = None


class SessionInfo(Record):
    """A conversation in a list; `updated_at` is ISO 8601, UTC."""

    session_id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None


class SessionList(Record):
    """Answer to `session/list`."""

    sessions: tuple[SessionInfo, ...]


class Prompt(Record):
    """`session/prompt`: run a turn; the answer comes when the turn has ended.

    While a turn runs, a further prompt is stored and queued; its own answer comes with the turn
    that takes it up. `message_id` names the prompt for the client (given back in updates).
    """

    session_id: str
    prompt: tuple[PromptBlock, ...]
    message_id: str | None = None


StopReason = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class PromptEnded(Record):
    """Answer to `session/prompt`; `_meta.sidelight.error` is set when the turn failed."""

    stop_reason: StopReason
    meta: Json | None = Field(default=None, alias="_meta")


class Cancel(Record):
    """`session/cancel` (notification): stop the running turn; its prompt answers `cancelled`."""

    session_id: str


class SetMode(Record):
    """`session/set_mode`."""

    session_id: str
    mode_id: str


class SetModel(Record):
    """`session/set_model`: another model from the next turn on; refused while one runs."""

    session_id: str
    model_id: str


class Nothing(Record):
    """An empty answer."""


class SessionUpdate(Record):
    """`session/update` (notification): `update.sessionUpdate` says which kind it is."""

    session_id: str
    update: Json


OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(Record):
    """One answer of a permission request."""

    option_id: str
    name: str
    kind: OptionKind


class RequestPermission(Record):
    """`session/request_permission` (server asks): `_meta.sidelight` is a `PermissionDetail`."""

    session_id: str
    tool_call: Json
    options: tuple[PermissionOption, ...]
    meta: Json | None = Field(default=None, alias="_meta")


class DiffLine(Record):
    """One line of a preview: sign ` `, `+` or `-`, numbers in the old and new text."""

    sign: Literal[" ", "+", "-"]
    text: str
    old: int | None = None
    new: int | None = None


class FileDiff(Record):
    """A file's change as people read it."""

    path: str
    added: int
    removed: int
    lines: tuple[DiffLine, ...]
    creates: bool = False


class PermissionDetail(Record):
    """What our own panel shows beside the plain request.

    `kind` picks the card; `command` is whole, `cause` the part of it that made us ask, if it is
    only a part; `effects` are resolved facts such as `writes: /abs/path`; `rules` are what "for
    this session" and longer would add, and may come back edited if `rules_editable`.
    """

    id: str
    kind: Literal["command", "edit", "other"]
    tool: str
    title: str
    why: str
    dangerous: bool = False
    command: str | None = None
    cause: str | None = None
    description: str | None = None
    effects: tuple[str, ...] = ()
    diffs: tuple[FileDiff, ...] = ()
    rules: tuple[str, ...] = ()
    rules_editable: bool = False


class PermissionOutcome(Record):
    """The client's choice; `_meta.sidelight` may hold `feedback`, `updatedInput`, `rules`.

    `rules` (texts) are kept in place of those offered. One that may not be kept is not; the call
    is allowed once, and a notice says why. `_sidelight/check_rule` tells beforehand.
    """

    outcome: Literal["selected", "cancelled"]
    option_id: str | None = None
    meta: Json | None = Field(default=None, alias="_meta")


class PermissionAnswer(Record):
    """Answer to `session/request_permission`."""

    outcome: PermissionOutcome


# --- _sidelight/* -------------------------------------------------------------------------------


class State(Record):
    """`_sidelight/state` (notification): what a session is doing.

    `paused` means that the next step waits; `started_at` is in milliseconds since 1970; `queued`
    are prompts that wait, oldest first; `error` is a sentence after a turn that failed.
    """

    session_id: str
    state: Literal["idle", "running", "requires_action"]
    paused: bool = False
    turn_id: str | None = None
    started_at: int | None = None
    duration_ms: int | None = None
    queued: tuple[QueuedPrompt, ...] = ()
    error: str | None = None


class NoticeShown(Record):
    """`_sidelight/notice` (notification): a sentence in the conversation, or everywhere."""

    session_id: str | None = None
    severity: Literal["info", "warning", "error"]
    text: str


class Retry(Record):
    """`_sidelight/retry` (notification): the model is asked again in `delay_ms`."""

    session_id: str
    attempt: int
    delay_ms: int
    cause: str


class AddToChat(Record):
    """`_sidelight/add_to_chat` (notification): a code action put this into the prompt."""

    uri: str
    start_line: int
    end_line: int
    text: str
    prompt: str | None = None
    send: bool = False


class TerminalCwd(Record):
    """`_sidelight/terminal_cwd` (notification, client tells): a terminal moved."""

    old_cwd: str
    new_cwd: str


def meta(**fields: Any) -> Json:
    """Our additions to a protocol object, in their place."""
    return {"sidelight": {key: value for key, value in fields.items() if value is not None}}


REQUESTS: dict[str, tuple[type[Record], type[Record]]] = {
    "session/new": (NewSession, SessionCreated),
    "session/load": (LoadSession, SessionLoaded),
    "session/list": (ListSessions, SessionList),
    "session/prompt": (Prompt, PromptEnded),
    "session/set_mode": (SetMode, Nothing),
    "session/set_model": (SetModel, Nothing),
    "_sidelight/connect": (Connect, Connection),
    "_sidelight/review": (Review, Reviewed),
    "_sidelight/original": (Original, OriginalText),
    "_sidelight/check_rule": (CheckRule, RuleChecked),
    "_sidelight/queue_edit": (EditQueued, WasThere),
    "_sidelight/queue_remove": (RemoveQueued, WasThere),
    "_sidelight/stop_call": (StopCall, WasThere),
    "_sidelight/pause": (SetPaused, WasThere),
    "_sidelight/move_call": (MoveCall, WasThere),
    "_sidelight/stop_task": (StopTask, WasThere),
}
NOTIFICATIONS: dict[str, type[Record]] = {
    "session/cancel": Cancel,
    "_sidelight/terminal_cwd": TerminalCwd,
}
FROM_SERVER: dict[str, type[Record]] = {
    "session/update": SessionUpdate,
    "session/request_permission": RequestPermission,
    "_sidelight/state": State,
    "_sidelight/notice": NoticeShown,
    "_sidelight/retry": Retry,
    "_sidelight/tasks": TasksShown,
    "_sidelight/connection": Connection,
    "_sidelight/changes": Changes,
    "_sidelight/add_to_chat": AddToChat,
}
