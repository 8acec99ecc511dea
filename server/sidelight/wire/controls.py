"""Params and results of the small controls: waiting prompts, running calls and tasks, a rule."""

from sidelight.core.events import BackgroundTask
from sidelight.core.record import Record


class QueuedPrompt(Record):
    """A prompt that waits for the running turn; `id` is its `message_id`."""

    id: str
    text: str


class EditQueued(Record):
    """`_sidelight/queue_edit`: other words for a prompt that waits; what was attached stays."""

    session_id: str
    id: str
    text: str


class RemoveQueued(Record):
    """`_sidelight/queue_remove`: a waiting prompt is not to be sent; it answers `cancelled`."""

    session_id: str
    id: str


class StopCall(Record):
    """`_sidelight/stop_call`: end one running tool call; the turn goes on with that result."""

    session_id: str
    tool_call_id: str


class SetPaused(Record):
    """`_sidelight/pause`: what runs ends and the next step waits, or the turn goes on."""

    session_id: str
    paused: bool


class MoveCall(Record):
    """`_sidelight/move_call`: a running command goes on in the background; its call ends."""

    session_id: str
    tool_call_id: str


class StopTask(Record):
    """`_sidelight/stop_task`: end a background task; answered when it has ended."""

    session_id: str
    id: str


class TasksShown(Record):
    """`_sidelight/tasks` (notification): the background tasks that run now, oldest first."""

    session_id: str
    tasks: tuple[BackgroundTask, ...]


class WasThere(Record):
    """Whether what was meant was still there; if not, nothing happened."""

    done: bool


class CheckRule(Record):
    """`_sidelight/check_rule`: may this text be kept as an allow rule from a dialog?"""

    rule: str


class RuleChecked(Record):
    """Answer to `_sidelight/check_rule`; `problem` says why not."""

    problem: str | None = None
