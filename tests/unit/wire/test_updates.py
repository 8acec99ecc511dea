"""Events as updates: every one valid for the protocol, deltas joined, order and words kept."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import pytest
from acp.schema import RequestPermissionRequest, SessionNotification

from sidelight.core.access import Access
from sidelight.core.content import Image, Json, Text, Thinking, ToolResult, ToolUse
from sidelight.core.decision import Allow, Deny, PermissionUpdate, Reason
from sidelight.core.events import (
    Event,
    HookEnded,
    MessageAdded,
    MessageDropped,
    ModeChanged,
    Notice,
    PermissionAsked,
    PermissionDecided,
    QueueChanged,
    Queued,
    RetryScheduled,
    ReviewChanged,
    SpendChanged,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallEnded,
    ToolCallStarted,
    ToolProgress,
    TurnEnded,
    TurnStarted,
)
from sidelight.core.host import PermissionPrompt
from sidelight.core.messages import AssistantMessage, Attachment, Message, Usage, UserMessage
from sidelight.core.spend import Spent, Total
from sidelight.transcripts.entry import CallStored
from sidelight.wire.methods import FROM_SERVER
from sidelight.wire.permission import choices_for, request_for
from sidelight.wire.shapes import replay
from sidelight.wire.updates import Feed, Wire

pytestmark = pytest.mark.anyio

# Kinds of update that the library's schema does not know, each with a reason: none so far.
UNKNOWN_KINDS: dict[str, str] = {}


@dataclass
class Line:
    """Where a feed sends to; `slow` makes the client one that does not read."""

    sent: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    changed: int = 0
    gate: anyio.Event | None = None

    def feed(self, queued: Sequence[Queued] = ()) -> Feed:
        async def drain() -> None:
            if self.gate is not None:
                await self.gate.wait()

        async def changed() -> None:
            self.changed += 1

        return Feed(
            "s1",
            Wire(
                send=lambda method, params: self.sent.append((method, params)),
                drain=drain,
                window=lambda model: 200_000 if model else None,
                queued=lambda: queued,
                changed=changed,
            ),
        )

    def updates(self) -> list[Json]:
        return [params["update"] for method, params in self.sent if method == "session/update"]


CALL = ToolUse(id="t1", name="Edit", input={"file_path": "/w/a.py", "old_string": "a"})
PATCH = {"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": [" x", "-a", "+b"]}
DATA: Json = {
    "filePath": "/w/a.py",
    "oldString": "a",
    "newString": "b",
    "structuredPatch": [PATCH],
}
RESULT = ToolResult(tool_use_id="t1", content=(Text(text="Edited /w/a.py"),))
PROMPT = PermissionPrompt(
    id="p1",
    call=CALL,
    title="Edit a.py",
    reason=Reason(layer="mode", detail="Edits ask."),
    accesses=(Access(kind="write", target="/w/a.py", mutates=True),),
    suggestions=(PermissionUpdate(action="set_mode", mode="acceptEdits"),),
)
ANSWER = AssistantMessage(
    id="m2",
    content=(Thinking(raw={"type": "thinking", "thinking": "hm"}), Text(text="Hello"), CALL),
    usage=Usage(input_tokens=10, output_tokens=5, cache_read_input_tokens=100),
    model="a-model",
)
USER = UserMessage(
    id="m1",
    content=(
        Text(text="hi"),
        Text(text='<editor_context uri="file:///w/a.py#L1-L2">\nx\n</editor_context>'),
        Image(media_type="image/png", data="AAAA"),
    ),
)
REQUEST = Spent(request_id="m2", model="a-model", usage=ANSWER.usage, cost_usd=0.125)
ONCE = Total().plus(REQUEST)
SPENT = SpendChanged(
    spent=REQUEST, turn=ONCE, session=ONCE, models={"a-model": ONCE}, sources={"main": ONCE}
)
EVENTS: list[Event] = [
    TurnStarted(turn_id="turn", prompt_id="m1"),
    MessageAdded(message=USER),
    StepStarted(step=1, model="a-model"),
    ThinkingDelta(message_id="m2", text="hm"),
    TextDelta(message_id="m2", text="Hello"),
    MessageDropped(message_id="m0"),
    MessageAdded(message=ANSWER),
    SPENT,
    ToolCallStarted(call=CALL, summary="/w/a.py"),
    PermissionAsked(prompt=PROMPT),
    PermissionDecided(tool_use_id="t1", decision=Allow(reason=Reason(layer="person"))),
    ToolProgress(tool_use_id="t1", text="half"),
    ToolCallEnded(
        name="Edit",
        result=RESULT,
        outcome="done",
        data=DATA,
        paths_changed=("/w/a.py",),
        duration_ms=12,
    ),
    ReviewChanged(),
    MessageAdded(message=UserMessage(id="m3", content=(RESULT,), origin="tools")),
    MessageAdded(message=Attachment(id="m4", kind="mode", text="reminder")),
    PermissionDecided(
        tool_use_id="t2", decision=Deny(reason=Reason(layer="rule", rule="Bash"), message="no")
    ),
    ModeChanged(mode="plan"),
    QueueChanged(prompts=(Queued(id="q1", content=(Text(text="next"),)),)),
    RetryScheduled(attempt=2, delay_s=1.5, cause="overloaded"),
    HookEnded(event="PreToolUse", command="lint", outcome="ok"),
    HookEnded(event="PreToolUse", command="lint", outcome="timeout", detail="10 s"),
    HookEnded(event="PostToolUse", command="lint", outcome="blocked", detail="style"),
    Notice(severity="error", text="disk full"),
    TurnEnded(turn_id="turn", reason="failed", error="The model is away."),
]


def assert_valid(update: Json) -> None:
    """Nothing may be lost or altered by the protocol's own types: they are lenient."""
    notification = {"sessionId": "s1", "update": update}
    if update["sessionUpdate"] in UNKNOWN_KINDS:
        return
    parsed = SessionNotification.model_validate(notification)
    assert parsed.model_dump(mode="json", by_alias=True, exclude_unset=True) == notification


async def test_every_event_gives_messages_that_the_protocol_knows() -> None:
    line = Line()
    feed = line.feed()
    for event in EVENTS:
        await feed(event)
    for update in line.updates():
        assert_valid(update)
    for method, params in line.sent:
        FROM_SERVER[method].model_validate(params)
    assert line.changed == 1
    kinds = [
        params["update"]["sessionUpdate"] if method == "session/update" else method
        for method, params in line.sent
    ]
    assert kinds == [
        "_sidelight/state",
        *["user_message_chunk"] * 3,
        "agent_thought_chunk",
        "agent_message_chunk",
        "agent_message_chunk",
        "usage_update",
        "tool_call",
        "_sidelight/state",
        "_sidelight/state",
        "tool_call_update",
        "tool_call_update",
        "tool_call_update",
        "tool_call_update",
        "current_mode_update",
        "_sidelight/state",
        "_sidelight/retry",
        "_sidelight/notice",
        "_sidelight/notice",
        "_sidelight/notice",
        "_sidelight/state",
    ]


async def test_a_call_is_told_whole() -> None:
    line = Line()
    feed = line.feed()
    for event in EVENTS:
        await feed(event)
    started, decided, piece, ended, _denied = [
        update for update in line.updates() if update.get("toolCallId")
    ]
    assert started == {
        "sessionUpdate": "tool_call",
        "toolCallId": "t1",
        "title": "Edit /w/a.py",
        "kind": "edit",
        "status": "pending",
        "locations": [{"path": "/w/a.py"}],
        "rawInput": CALL.input,
        "_meta": {"sidelight": {"tool": "Edit", "summary": "/w/a.py"}},
    }
    assert decided["status"] == "in_progress"
    assert piece["_meta"]["sidelight"] == {"outputDelta": "half"}
    assert ended == {
        "sessionUpdate": "tool_call_update",
        "toolCallId": "t1",
        "status": "completed",
        "content": [
            {"type": "content", "content": {"type": "text", "text": "Edited /w/a.py"}},
            {"type": "diff", "path": "/w/a.py", "oldText": "a", "newText": "b"},
        ],
        "locations": [{"path": "/w/a.py"}],
        "_meta": {
            "sidelight": {
                "outcome": "done",
                "durationMs": 12,
                "diffs": [
                    {
                        "path": "/w/a.py",
                        "added": 1,
                        "removed": 1,
                        "creates": False,
                        "lines": [
                            {"sign": " ", "text": "x", "old": 3, "new": 3},
                            {"sign": "-", "text": "a", "old": 4},
                            {"sign": "+", "text": "b", "new": 4},
                        ],
                    }
                ],
            }
        },
    }


async def test_deltas_of_one_moment_are_one_update_which_goes_at_once() -> None:
    line = Line()
    feed = line.feed()
    for number in range(12):
        await feed(TextDelta(message_id="m", text=str(number)))
    await asyncio.sleep(0)
    assert [update["content"]["text"] for update in line.updates()] == ["01234567891011"]


async def test_what_follows_an_update_closely_waits_for_more_but_not_for_ever() -> None:
    line = Line()
    feed = line.feed()
    await feed(TextDelta(message_id="m", text="a"))
    await asyncio.sleep(0)
    await feed(TextDelta(message_id="m", text="b"))
    await feed(TextDelta(message_id="m", text="c"))
    texts: list[str] = []
    with anyio.fail_after(5):
        while len(texts) < 2:
            await asyncio.sleep(0)
            texts = [update["content"]["text"] for update in line.updates()]
    assert texts == ["a", "bc"]


async def test_many_deltas_are_sent_by_twenties_in_order() -> None:
    line = Line()
    feed = line.feed()
    for number in range(1000):
        await feed(TextDelta(message_id="m", text=f"{number} "))
    feed.flush()
    texts = [update["content"]["text"] for update in line.updates()]
    assert "".join(texts) == "".join(f"{number} " for number in range(1000))
    assert len(texts) == 50


async def test_whatever_is_no_delta_sends_the_deltas_before_it() -> None:
    line = Line()
    feed = line.feed()
    await feed(TextDelta(message_id="m", text="a"))
    await feed(ThinkingDelta(message_id="m", text="c"))
    await feed(ToolProgress(tool_use_id="t", text="d"))
    await feed(Notice(severity="info", text="e"))
    order = [
        params["update"]["sessionUpdate"] if "update" in params else method
        for method, params in line.sent
    ]
    assert order == [
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call_update",
        "_sidelight/notice",
    ]


async def test_a_client_that_does_not_read_holds_up_the_stream() -> None:
    line = Line(gate=anyio.Event())
    feed = line.feed()
    done = anyio.Event()

    async def stream() -> None:
        await feed(TextDelta(message_id="m", text="a"))
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream)
        await anyio.wait_all_tasks_blocked()
        assert not done.is_set()
        assert line.gate is not None
        line.gate.set()
        with anyio.fail_after(5):
            await done.wait()


async def test_an_answer_that_was_not_streamed_is_told_whole() -> None:
    line = Line()
    await line.feed()(MessageAdded(message=ANSWER))
    chunk = line.updates()[0]
    assert chunk["content"] == {"type": "text", "text": "Hello"}


async def test_a_stored_conversation_is_told_in_its_order() -> None:
    stopped = ToolUse(id="t9", name="Bash", input={"command": "sleep 9"})
    plain = ToolUse(id="t8", name="Read", input={"file_path": "/w/a.py", "offset": 7})
    history: list[Message] = [
        USER,
        ANSWER,
        UserMessage(id="m3", content=(RESULT,), origin="tools"),
        Attachment(id="m4", kind="mode", text="reminder"),
        AssistantMessage(id="m5", content=(plain, stopped), model="a-model"),
        UserMessage(
            id="m6",
            content=(ToolResult(tool_use_id="t8", content=(), is_error=True),),
            origin="tools",
        ),
    ]
    stored = CallStored(tool_use_id="t1", name="Edit", outcome="done", data=DATA, duration_ms=12)
    updates = list(replay(history, {"t1": stored}))
    for update in updates:
        assert_valid(update)
    told = [
        (one["sessionUpdate"], one.get("status"), one.get("messageId") or one.get("toolCallId"))
        for one in updates
    ]
    assert told == [
        *[("user_message_chunk", None, "m1")] * 3,
        ("agent_thought_chunk", None, "m2"),
        ("agent_message_chunk", None, "m2"),
        ("tool_call", "pending", "t1"),
        ("tool_call_update", "completed", "t1"),
        ("tool_call", "pending", "t8"),
        ("tool_call_update", "failed", "t8"),
        ("tool_call", "pending", "t9"),
        ("tool_call_update", "failed", "t9"),
    ]
    assert updates[7]["locations"] == [{"path": "/w/a.py", "line": 7}]
    assert updates[-1]["_meta"] == {"sidelight": {"outcome": "stopped"}}


def test_a_permission_question_is_one_that_the_protocol_knows() -> None:
    request = request_for("s1", PROMPT, choices_for(PROMPT, "en"), (), "en").to_wire()
    parsed = RequestPermissionRequest.model_validate(request)
    assert parsed.model_dump(mode="json", by_alias=True, exclude_unset=True) == request
