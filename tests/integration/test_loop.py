"""The real loop with a scripted model: order, parallelism, failures, limits, cancelling."""

import json
from typing import Any

import anyio
import pytest

from sidelight.agent.executor import AFTER_DENIAL, INTERRUPTED, NOT_STARTED
from sidelight.context.normalise import normalise
from sidelight.core.content import Text, Thinking, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.events import (
    Event,
    MessageAdded,
    MessageDropped,
    RetryScheduled,
    TextDelta,
    TurnEnded,
)
from sidelight.core.host import PermissionReply
from sidelight.core.messages import AssistantMessage, Attachment, UserMessage
from sidelight.core.model import ModelRequest, SystemPrompt
from sidelight.hooks.outcome import HookOutcome
from sidelight.model.catalog import card
from sidelight.model.encode import Encoder
from tests.builders import Stage, results
from tests.fakes.messages_api.rules import check_request
from tests.fakes.model import ScriptedModel, StopReason, Unclosed, Wait
from tests.fakes.tools import StepTool

pytestmark = pytest.mark.anyio


def call(tool: str, name: str, **more: Any) -> ToolUse:
    return ToolUse(id=f"toolu_{name}", name=tool, input={"name": name, **more})


def ended(events: list[Event]) -> TurnEnded:
    assert isinstance(events[-1], TurnEnded)
    return events[-1]


def again(kind: str = "overloaded") -> ModelError:
    return ModelError(kind, "busy", retry_after=0)  # pyright: ignore[reportArgumentType]


def assert_valid(stage: Stage) -> None:
    """What is left can be sent, with one more prompt behind it."""
    messages = normalise([*stage.history, Attachment(id="x", kind="x", text="and now?")])
    asked = ModelRequest(
        model="sonnet", system=SystemPrompt(stable="A test."), tools=(), messages=messages
    )
    body = json.loads(Encoder().body(asked, card("sonnet")))
    assert check_request({**body, "tools": tools()}) == []


def tools() -> list[Any]:
    return [{"name": name, "input_schema": {"type": "object"}} for name in ("Look", "Change")]


@pytest.mark.req("LOOP-03")
async def test_a_call_has_finished_before_the_next_block_arrives() -> None:
    look = StepTool()
    model = ScriptedModel([[call("Look", "a"), Wait("b"), call("Look", "b")], ["done"]])
    stage = Stage(model, [look])
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        await model.reached("b")
        with anyio.fail_after(5):
            while "-a" not in look.log:
                await anyio.lowlevel.checkpoint()
        assert look.log == ["+a", "-a"]
        model.open("b")
    assert look.log == ["+a", "-a", "+b", "-b"]
    assert [name for name, _, _ in results(stage.history)] == ["toolu_a", "toolu_b"]


@pytest.mark.req("LOOP-03")
async def test_reads_run_side_by_side_and_a_change_alone_and_in_order() -> None:
    look, change = StepTool(), StepTool("Change", changes=True)
    change.log = look.log
    reply = [
        call("Look", "a", gate="go"),
        call("Look", "b", gate="go"),
        call("Change", "c"),
        call("Look", "d"),
    ]
    stage = Stage(ScriptedModel([reply, ["done"]]), [look, change])
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        await look.started("a")
        await look.started("b")
        assert look.log == ["+a", "+b"]
        look.open("go")
    assert look.log[-4:] == ["+c", "-c", "+d", "-d"]
    assert [text for _, text, _ in results(stage.history)] == [
        "a done",
        "b done",
        "c done",
        "d done",
    ]


async def test_a_failed_call_a_faulty_tool_and_an_unknown_one_get_honest_results() -> None:
    reply = [
        call("Look", "a", fail="There is no a."),
        call("Look", "b", bug=True),
        call("Nothing", "c"),
        call("Look", "d", more=1),
        call("Look", "e"),
    ]
    stage = Stage(ScriptedModel([reply, ["done"]]), [StepTool()])
    await stage.run()
    said = {name: (text, wrong) for name, text, wrong in results(stage.history)}
    assert said["toolu_a"] == ("There is no a.", True)
    assert said["toolu_b"][1] and "fault of its own (RuntimeError)" in said["toolu_b"][0]
    assert said["toolu_c"] == ("There is no tool 'Nothing'. The tools are: Look.", True)
    assert "more is not a field of it" in said["toolu_d"][0]
    assert said["toolu_e"] == ("e done", False)
    assert_valid(stage)


async def test_a_failure_before_anything_was_said_is_retried_in_sight() -> None:
    stage = Stage(ScriptedModel([[again()], [again()], ["hello"]]), [])
    events = await stage.run()
    assert ended(events).reason == "completed"
    retries = [event.attempt for event in events if isinstance(event, RetryScheduled)]
    assert retries == [1, 2]
    assert [m.content for m in stage.history if isinstance(m, AssistantMessage)] == [
        (Text(text="hello"),)
    ]


async def test_words_of_a_broken_answer_are_withdrawn_and_asked_for_again() -> None:
    stage = Stage(ScriptedModel([["half an", again("cut_off")], ["whole"]]), [])
    events = await stage.run()
    dropped = [event.message_id for event in events if isinstance(event, MessageDropped)]
    shown = {event.message_id for event in events if isinstance(event, TextDelta)}
    assert len(dropped) == 1 and dropped[0] in shown
    assert_valid(stage)


async def test_a_call_that_ran_before_the_stream_broke_stays_in_the_history() -> None:
    thought = Thinking(raw={"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    broken = [thought, "look", call("Look", "a"), again("connection")]
    stage = Stage(ScriptedModel([broken, ["done"]]), [StepTool()])
    await stage.run()
    kept = stage.history[1]
    assert isinstance(kept, AssistantMessage)
    assert kept.content == (thought, Text(text="look"), call("Look", "a"))
    assert results(stage.history) == [("toolu_a", "a done", False)]
    assert_valid(stage)


async def test_an_error_that_no_retry_mends_ends_the_turn_with_its_words() -> None:
    error = ModelError("billing", "The key was refused.")
    events = await Stage(ScriptedModel([[error]]), []).run()
    assert (ended(events).reason, ended(events).error) == ("failed", "The key was refused.")


async def test_the_limit_of_steps_ends_the_turn_with_results_for_every_call() -> None:
    replies = [[call("Look", f"n{n}")] for n in range(5)]
    stage = Stage(ScriptedModel(replies), [StepTool()], max_steps=3)
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("max_steps", 3)
    assert len(results(stage.history)) == 3
    assert_valid(stage)


async def test_a_denial_without_words_ends_the_turn_and_spares_what_comes_after() -> None:
    change = StepTool("Change", changes=True)
    stage = Stage(
        ScriptedModel([[call("Change", "a"), call("Change", "b")]]), [change], mode="default"
    )
    stage.host.replies = [PermissionReply(behavior="deny")]
    events = await stage.run()
    assert ended(events).reason == "blocked"
    assert change.log == []
    assert [text for _, text, _ in results(stage.history)][1] == AFTER_DENIAL
    assert_valid(stage)


async def test_a_denial_with_words_goes_to_the_model_and_the_turn_goes_on() -> None:
    change = StepTool("Change", changes=True)
    stage = Stage(ScriptedModel([[call("Change", "a")], ["I see"]]), [change], mode="default")
    stage.host.replies = [PermissionReply(behavior="deny", feedback="use b instead")]
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert results(stage.history)[0][1] == ("The user denied this call and said: use b instead")


async def test_a_hook_denies_a_call_and_another_adds_to_its_result() -> None:
    look = StepTool()
    stage = Stage(ScriptedModel([[call("Look", "a")], ["done"]]), [look])
    stage.hooks.answers = {
        "PreToolUse": HookOutcome(permission="deny", reason="not today"),
    }
    await stage.run()
    assert look.log == []
    assert "not today" in results(stage.history)[0][1]
    stage = Stage(ScriptedModel([[call("Look", "a")], ["done"]]), [look])
    stage.hooks.answers = {"PostToolUse": HookOutcome(contexts=("mind the gap",))}
    await stage.run()
    assert results(stage.history) == [("toolu_a", "a done", False)]
    told = [message.text for message in stage.history if isinstance(message, Attachment)]
    assert told == ["On the call of Look: mind the gap"]
    assert [event for event, _ in stage.hooks.fired] == ["PreToolUse", "PostToolUse", "Stop"]


@pytest.mark.parametrize(
    ("steps", "gate", "expected"),
    [
        ([Wait("x")], "x", []),
        (["some words", Wait("x")], "x", []),
        ([call("Look", "a", gate="never"), Wait("x")], "x", [INTERRUPTED]),
        (
            [call("Change", "a", gate="never"), call("Change", "b"), Wait("x")],
            "x",
            [INTERRUPTED, NOT_STARTED],
        ),
    ],
)
async def test_a_cancelled_turn_leaves_a_valid_history_and_closes_the_stream(
    steps: list[Any], gate: str, expected: list[str]
) -> None:
    look, change = StepTool(), StepTool("Change", changes=True)
    model = ScriptedModel([steps])
    stage = Stage(model, [look, change])
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        await model.reached(gate)
        if expected:
            await (look if steps[0].name == "Look" else change).started("a")
        group.cancel_scope.deadline = anyio.current_time() + 1
        stage.scope.cancel()
    assert not group.cancel_scope.cancelled_caught
    assert model.closed == 1
    assert [text for _, text, _ in results(stage.history)] == expected
    assert_valid(stage)


@pytest.mark.req("LOOP-04")
async def test_a_cancel_closes_an_open_dialog_and_the_call_never_runs() -> None:
    change = StepTool("Change", changes=True)
    calls = [call("Change", "a"), call("Change", "b")]
    stage = Stage(ScriptedModel([calls]), [change], mode="default")
    stage.host.away = True
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        with anyio.fail_after(5):
            while not stage.host.dialogs:
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.deadline = anyio.current_time() + 1
        stage.scope.cancel()
    assert not group.cancel_scope.cancelled_caught
    assert (stage.host.dialogs, change.log) == (0, [])
    assert [text for _, text, _ in results(stage.history)] == [INTERRUPTED, NOT_STARTED]
    assert_valid(stage)


async def test_a_cancel_while_the_next_try_is_waited_for_ends_at_once() -> None:
    stage = Stage(ScriptedModel([[ModelError("overloaded", "busy", retry_after=500)]]), [])
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        with anyio.fail_after(5):
            while not any(isinstance(event, RetryScheduled) for event in stage.events):
                await anyio.lowlevel.checkpoint()
        group.cancel_scope.deadline = anyio.current_time() + 1
        stage.scope.cancel()
    assert not group.cancel_scope.cancelled_caught
    assert [message.role for message in stage.history] == ["user"]


async def test_a_call_that_is_never_complete_never_runs() -> None:
    look = StepTool()
    steps = [call("Look", "a"), Unclosed("Look"), again("cut_off")]
    stage = Stage(ScriptedModel([steps, ["done"]]), [look])
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert look.log == ["+a", "-a"]
    assert [name for name, _, _ in results(stage.history)] == ["toolu_a"]
    assert_valid(stage)


async def test_thinking_that_ends_a_broken_answer_is_not_sent_back() -> None:
    def thought(words: str) -> Thinking:
        return Thinking(raw={"type": "thinking", "thinking": words, "signature": "c2ln"})

    steps = [thought("one"), call("Look", "a"), thought("two"), again("cut_off")]
    stage = Stage(ScriptedModel([steps, ["done"]]), [StepTool()])
    await stage.run()
    kept = stage.history[1]
    assert isinstance(kept, AssistantMessage)
    assert kept.content == (thought("one"), call("Look", "a"))
    assert_valid(stage)


async def test_an_answer_cut_at_the_limit_is_continued_three_times_and_no_more() -> None:
    parts = [[f"part {n}", StopReason("max_tokens")] for n in range(3)]
    stage = Stage(ScriptedModel([*parts, ["the end"]]), [])
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 4)
    assert [m.kind for m in stage.history if isinstance(m, Attachment)] == ["recovery"] * 3
    assert_valid(stage)
    stage = Stage(ScriptedModel([*parts, parts[0]]), [])
    events = await stage.run()
    assert (ended(events).reason, ended(events).error) == (
        "failed",
        "The answer was cut off at the output limit several times. Ask for it in smaller parts.",
    )
    assert_valid(stage)


@pytest.mark.parametrize(
    ("stop", "reason"), [("refusal", "blocked"), ("model_context_window_exceeded", "failed")]
)
async def test_an_answer_that_the_model_or_its_window_ends_is_said(stop: str, reason: str) -> None:
    events = await Stage(ScriptedModel([["well", StopReason(stop)]]), []).run()
    assert ended(events).reason == reason
    assert ended(events).error


async def test_a_paused_answer_is_asked_for_again() -> None:
    stage = Stage(ScriptedModel([["half", StopReason("pause_turn")], ["whole"]]), [])
    assert ended(await stage.run()).reason == "completed"
    assert_valid(stage)


async def test_tries_that_failed_do_not_count_as_steps() -> None:
    replies = [[again()], [again()], [call("Look", "a")], [again()], ["done"]]
    stage = Stage(ScriptedModel(replies), [StepTool()], max_steps=2)
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 2)


async def test_a_server_that_stays_busy_ends_the_turn_after_ten_further_tries() -> None:
    model = ScriptedModel([[again()]] * 20)
    events = await Stage(model, []).run()
    assert (ended(events).reason, ended(events).error) == ("failed", "busy")
    assert len(model.requests) == 11


async def test_hooks_hear_a_call_by_the_name_that_the_tool_has_today() -> None:
    stage = Stage(ScriptedModel([[call("Task", "a")], ["done"]]), [StepTool("Agent")])
    await stage.run()
    assert [(event, extra.get("tool_name")) for event, extra in stage.hooks.fired] == [
        ("PreToolUse", "Agent"),
        ("PostToolUse", "Agent"),
        ("Stop", None),
    ]


async def test_a_cancel_while_the_results_are_told_adds_them_once_with_all_that_hooks_said() -> (
    None
):
    stage = Stage(ScriptedModel([[call("Look", "a"), call("Look", "b")]]), [StepTool()])
    stage.hooks.answers = {"PostToolUse": HookOutcome(contexts=("mind the gap",))}

    class Stop(list[Event]):
        def append(self, event: Event) -> None:
            super().append(event)
            match event:
                case MessageAdded(message=UserMessage(origin="tools")):
                    stage.scope.cancel()
                case _:
                    pass

    stage.events = Stop()
    await stage.run()
    assert [m.role for m in stage.history] == ["user", "assistant", "user", *["attachment"] * 2]
    assert_valid(stage)


async def test_every_message_of_the_history_was_told_once_and_in_order() -> None:
    stage = Stage(ScriptedModel([["a", call("Look", "a")], ["b"]]), [StepTool()])
    events = await stage.run()
    told = [event.message.id for event in events if isinstance(event, MessageAdded)]
    assert told == [message.id for message in stage.history]
