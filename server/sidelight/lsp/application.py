"""What the editor's door needs from the rest of the house; the composition root provides it.

This module is loaded after `initialize` was answered (it needs pydantic); `lsp/server.py` never
imports it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sidelight.actions.small import SmallActions
from sidelight.background.tasks import Background
from sidelight.core.content import Json, UserBlock
from sidelight.core.decision import Mode
from sidelight.core.events import Queued, Sink, SpendChanged, TurnEnded
from sidelight.core.host import FileChange, Host
from sidelight.core.messages import Message
from sidelight.transcripts.entry import CallStored
from sidelight.wire.connection import Connection, ModelInfo
from sidelight.wire.methods import ModeInfo, SessionInfo
from sidelight.wire.reviewing import Changes, Review, Reviewed


@dataclass(frozen=True, slots=True)
class Editor:
    """What the application gets from the door; valid until `Application.shutdown` returns.

    `host` and `sink` take a session's id and give the same object every time; the sink is for
    what happens outside a turn as well. `connection` is to be called when another model answers
    than before. `options` gives the client's settings as they are now (`unsavedBuffers`, `model`,
    `permissionMode`); `locale` is as in `en` or `zh-cn`.
    """

    host: Callable[[str], Host]
    sink: Callable[[str], Sink]
    connection: Callable[[Connection], Awaitable[None]]
    roots: tuple[str, ...]
    options: Callable[[], Json]
    locale: str


class Pausing(Protocol):
    """Holds a turn between two steps."""

    async def hold(self) -> None:
        """What runs ends, the next step waits for `release` or the end of the turn."""
        ...

    async def release(self) -> None:
        """Let a held turn go on."""
        ...


class Conversation(Protocol):
    """One session, as the door sees it."""

    @property
    def id(self) -> str:
        """The session's name."""
        ...

    @property
    def cwd(self) -> str:
        """The folder that the conversation is about, absolute."""
        ...

    @property
    def mode(self) -> Mode:
        """The present permission mode."""
        ...

    @property
    def model(self) -> str:
        """The model that answers, as it was asked for: an id or an alias."""
        ...

    @property
    def title(self) -> str | None:
        """What lists show; None before the first prompt."""
        ...

    @property
    def history(self) -> Sequence[Message]:
        """The history so far, for replay."""
        ...

    @property
    def calls(self) -> Mapping[str, CallStored]:
        """How the calls of the stored history ended, by the call's id."""
        ...

    @property
    def spent(self) -> SpendChanged | None:
        """What the conversation has cost so far; None before its first answer."""
        ...

    @property
    def running(self) -> bool:
        """Whether a turn is under way."""
        ...

    @property
    def pause(self) -> Pausing:
        """Holds the running turn."""
        ...

    @property
    def queued(self) -> Sequence[Queued]:
        """Prompts that wait, oldest first."""
        ...

    @property
    def background(self) -> Background:
        """The tasks that run beside the turns."""
        ...

    def withheld(self, path: str) -> str:
        """Why a file's text must not go along with a prompt; empty if it may."""
        ...

    async def prompt(self, content: Sequence[UserBlock], prompt_id: str | None = None) -> TurnEnded:
        """Run a turn, or join the running one; `prompt_id` becomes the message's id.

        `cancel()` ends it with reason `cancelled`; cancelling the caller's task does so too and
        raises. Failures of the turn are in the result, not raised.
        """
        ...

    def cancel(self) -> None:
        """Stop the running turn, if there is one; returns at once."""
        ...

    async def edit_queued(
        self, prompt_id: str, change: Callable[[Sequence[UserBlock]], Sequence[UserBlock]]
    ) -> bool:
        """Change a prompt that waits; False when a turn has taken it up already."""
        ...

    async def remove_queued(self, prompt_id: str) -> bool:
        """Take back a prompt that waits; False when a turn has taken it up already."""
        ...

    def stop_call(self, tool_use_id: str) -> bool:
        """End one running call; False when there is none of that name."""
        ...

    async def set_mode(self, mode: Mode) -> None:
        """Change the mode; raises AgentError for a mode that is not allowed here."""
        ...

    async def set_model(self, model: str) -> None:
        """Another model from the next turn on; raises AgentError while a turn runs."""
        ...


class Application(Protocol):
    """Everything behind the door. All of it runs on the server's loop."""

    @property
    def state_folder(self) -> str:
        """Absolute path of our own folder for state; answers for plain clients go below it."""
        ...

    def unsaved_buffers(self) -> Literal["save", "keep"]:
        """What the user's settings say of unsaved text that is edited. Blocks: reads files."""
        ...

    async def start(self, editor: Editor) -> None:
        """Begin; called once, before anything else."""
        ...

    async def shutdown(self) -> None:
        """Cancel turns, write what is unwritten, end processes; within two seconds."""
        ...

    async def new_session(self, cwd: str) -> Conversation:
        """Begin a conversation in a folder; raises AgentError when the folder cannot be used."""
        ...

    async def load_session(self, session_id: str, cwd: str) -> Conversation:
        """Take up an old conversation; raises AgentError when there is none of that name."""
        ...

    async def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        """Conversations of a folder, or all, newest first."""
        ...

    def session(self, session_id: str) -> Conversation | None:
        """An open conversation."""
        ...

    def modes(self) -> Sequence[ModeInfo]:
        """The modes that may be picked."""
        ...

    async def models(self) -> Sequence[ModelInfo]:
        """The models that may be picked; none while nobody answers."""
        ...

    def model_id(self, model: str) -> str:
        """The id of the model that answers for a name."""
        ...

    async def connect(self, api_key: str | None) -> Connection:
        """Look for a model; a key is kept in memory only."""
        ...

    async def small_actions(self) -> SmallActions | None:
        """The small local model's actions while it is the only model; looks for one if need be."""
        ...

    def only_small(self) -> bool:
        """Whether the small local model is the only one, as far as it is known; no waiting."""
        ...

    async def host_for(self, path: str) -> Host:
        """A host whose edits wait for review in a conversation of the file's folder.

        Raises AgentError when there is none and none can be begun.
        """
        ...

    def context_window(self, model: str) -> int | None:
        """Size of a model's context in tokens, None when not known."""
        ...

    def changes(self) -> Sequence[Changes]:
        """What waits for review, one item a session that has any; cheap, called at every lens."""
        ...

    async def review(self, request: Review) -> Reviewed:
        """Keep or undo; edits go through the session's host."""
        ...

    def original(self, path: str) -> str | None:
        """The text before the pending changes; None when nothing is pending in the file."""
        ...

    async def text_changed(self, path: str, text: str) -> None:
        """A file with pending hunks has another text in the editor (debounced)."""
        ...

    async def file_changed(self, change: FileChange) -> None:
        """The editor saved a file, or its watcher saw one change; one write may come twice."""
        ...

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None:
        """The workspace's folders are others now."""
        ...

    async def terminal_moved(self, old_cwd: str, new_cwd: str) -> None:
        """A terminal of the editor went to another folder."""
        ...
