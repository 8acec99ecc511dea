"""What a turn tells the world; spans come as Started and Ended."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from pydantic import Field

from sidelight.core.content import Json, ToolResult, ToolUse, UserBlock
from sidelight.core.decision import Decision
from sidelight.core.errors import ToolErrorKind
from sidelight.core.host import PermissionPrompt, Severity, UserQuestion
from sidelight.core.messages import AssistantMessage, Message, Repairs, Usage
from sidelight.core.record import Record
from sidelight.core.spend import Spent, Total

TaskKind = Literal["shell", "monitor"]
TaskStatus = Literal["running", "completed", "failed", "stopped"]
EndReason = Literal["completed", "cancelled", "max_steps", "budget", "blocked", "failed"]


class TurnStarted(Record):
    """A prompt was accepted."""

    type: Literal["turn_started"] = "turn_started"
    turn_id: str
    prompt_id: str


class TurnEnded(Record):
    """The turn is over; `error` is a sentence for the user when it failed or was blocked."""

    type: Literal["turn_ended"] = "turn_ended"
    turn_id: str
    reason: EndReason
    usage: Usage = Usage()
    steps: int = 0
    error: str | None = None


class StepStarted(Record):
    """A request to the model is about to be sent; `transition` is why there is another one."""

    type: Literal["step_started"] = "step_started"
    step: int
    model: str
    transition: str = "prompt"


class TextDelta(Record):
    """A piece of the answer."""

    type: Literal["text_delta"] = "text_delta"
    message_id: str
    text: str


class ThinkingDelta(Record):
    """A piece of shown thinking."""

    type: Literal["thinking_delta"] = "thinking_delta"
    message_id: str
    text: str


class MessageAdded(Record):
    """A message joined the history; the durable event, written to the transcript."""

    type: Literal["message_added"] = "message_added"
    message: Message


class MessageDropped(Record):
    """A half-streamed answer is void, it will be asked for again; clients forget its text."""

    type: Literal["message_dropped"] = "message_dropped"
    message_id: str


class AnswerDiscarded(Record):
    """An answer broke off or is asked for anew; nothing of it stays, but it was paid for."""

    type: Literal["answer_discarded"] = "answer_discarded"
    request_id: str
    model: str
    usage: Usage


class HistoryRepaired(Record):
    """From here on requests leave this out; durable, so that a later process does the same."""

    type: Literal["history_repaired"] = "history_repaired"
    repairs: Repairs


class ToolCallStarted(Record):
    """A call's input is valid and it is about to be judged; `summary` is one line."""

    type: Literal["tool_call_started"] = "tool_call_started"
    call: ToolUse
    summary: str


class ToolProgress(Record):
    """Output of a running call."""

    type: Literal["tool_progress"] = "tool_progress"
    tool_use_id: str
    text: str


class ToolCallEnded(Record):
    """A call has its result; `outcome` is a word for people, `data` the structured result.

    `error` is the class of a failure: all of it that telemetry may have.
    """

    type: Literal["tool_call_ended"] = "tool_call_ended"
    name: str
    result: ToolResult
    outcome: Literal["done", "failed", "denied", "stopped"]
    error: ToolErrorKind | None = None
    paths_changed: tuple[str, ...] = ()
    data: Json = {}
    duration_ms: int = 0


class PermissionAsked(Record):
    """A person is being asked."""

    type: Literal["permission_asked"] = "permission_asked"
    prompt: PermissionPrompt


class PermissionDecided(Record):
    """A call was judged, by rule, mode, hook or person."""

    type: Literal["permission_decided"] = "permission_decided"
    tool_use_id: str
    decision: Decision


class QuestionAsked(Record):
    """The person is asked to choose; the turn waits."""

    type: Literal["question_asked"] = "question_asked"
    question: UserQuestion


class QuestionAnswered(Record):
    """The question is closed; `option` is the chosen one's id, None without an answer."""

    type: Literal["question_answered"] = "question_answered"
    question_id: str
    option: str | None = None


class SpendChanged(Record):
    """A request was answered and counted: itself, and the sums that it is part of."""

    type: Literal["spend_changed"] = "spend_changed"
    spent: Spent
    turn: Total
    session: Total
    models: dict[str, Total]
    sources: dict[str, Total]


class HookEnded(Record):
    """A hook ran; `outcome` in a word, `detail` is what it said."""

    type: Literal["hook_ended"] = "hook_ended"
    event: str
    command: str
    outcome: Literal["ok", "blocked", "failed", "timeout"]
    detail: str = ""
    duration_ms: int = 0


class RetryScheduled(Record):
    """The model will be asked again in `delay_s` seconds."""

    type: Literal["retry_scheduled"] = "retry_scheduled"
    attempt: int
    delay_s: float
    cause: str


class ModeChanged(Record):
    """The session's permission mode is another one now."""

    type: Literal["mode_changed"] = "mode_changed"
    mode: str


class PauseChanged(Record):
    """The next step of the turn waits, or need wait no longer."""

    type: Literal["pause_changed"] = "pause_changed"
    paused: bool


class Queued(Record):
    """A prompt that no turn has taken up yet."""

    id: str
    content: tuple[UserBlock, ...]


class QueueChanged(Record):
    """Prompts that wait for the running turn, oldest first."""

    type: Literal["queue_changed"] = "queue_changed"
    prompts: tuple[Queued, ...]


class BackgroundTask(Record):
    """A command that runs on beside the turns; `started_at` is in milliseconds of the epoch."""

    id: str
    kind: TaskKind
    command: str
    description: str
    tool_use_id: str
    status: TaskStatus
    started_at: int
    output_file: str


class TasksChanged(Record):
    """A background task began or ended; these run now, oldest first."""

    type: Literal["tasks_changed"] = "tasks_changed"
    tasks: tuple[BackgroundTask, ...]


class ReviewChanged(Record):
    """The hunks that wait for review are others now; ask the session which."""

    type: Literal["review_changed"] = "review_changed"


class Notice(Record):
    """A sentence for the user."""

    type: Literal["notice"] = "notice"
    severity: Severity
    text: str


Event = Annotated[
    TurnStarted
    | TurnEnded
    | StepStarted
    | TextDelta
    | ThinkingDelta
    | MessageAdded
    | MessageDropped
    | AnswerDiscarded
    | HistoryRepaired
    | ToolCallStarted
    | ToolProgress
    | ToolCallEnded
    | PermissionAsked
    | PermissionDecided
    | QuestionAsked
    | QuestionAnswered
    | SpendChanged
    | HookEnded
    | RetryScheduled
    | ModeChanged
    | PauseChanged
    | QueueChanged
    | TasksChanged
    | ReviewChanged
    | Notice,
    Field(discriminator="type"),
]
Sink = Callable[[Event], Awaitable[None]]


def counted(so_far: TurnEnded, event: Event) -> TurnEnded:
    """How a turn would end if it were cancelled after this event."""
    match event:
        case StepStarted():
            return so_far.model_copy(update={"steps": event.step})
        case MessageAdded(message=AssistantMessage() as message):
            return so_far.model_copy(update={"usage": so_far.usage + message.usage})
        case AnswerDiscarded():
            return so_far.model_copy(update={"usage": so_far.usage + event.usage})
        case _:
            return so_far
