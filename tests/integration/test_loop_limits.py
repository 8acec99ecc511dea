"""The circuit breakers of a turn, its hooks at the end, pausing it, and a slow reader."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio
import pytest

from sidelight.agent.limits import token_target
from sidelight.agent.turn import Bounds
from sidelight.core.content import ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.events import Event, Notice, StepStarted, TextDelta, TurnEnded
from sidelight.core.host import PermissionReply
from sidelight.core.messages import Attachment, UserMessage
from sidelight.core.model import ModelEvent, ModelRequest, TextChunk
from sidelight.hooks.outcome import HookOutcome
from tests.builders import NoHooks, Stage, results
from tests.fakes.model import ScriptedModel, Wait
from tests.fakes.tools import StepTool

pytestmark = pytest.mark.anyio

ALLOW = PermissionReply(behavior="allow")


def look(number: int = 0, **more: Any) -> ToolUse:
    return ToolUse(id=f"toolu_{number}", name="Look", input={"name": "a", **more})


def ended(events: Sequence[Event]) -> TurnEnded:
    assert isinstance(events[-1], TurnEnded)
    return events[-1]


def told(stage: Stage, kind: str) -> list[str]:
    return [m.text for m in stage.history if isinstance(m, Attachment) and m.kind == kind]


def repeating(count: int, **more: Any) -> list[list[ToolUse]]:
    return [[look(number, **more)] for number in range(count)]


@pytest.mark.req("LOOP-06")
async def test_the_third_equal_call_is_remarked_on_and_the_sixth_is_asked_for() -> None:
    tool = StepTool()
    stage = Stage(ScriptedModel([*repeating(7), ["done"]]), [tool])
    stage.host.replies = [ALLOW]
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert tool.log.count("+a") == 7
    assert len(told(stage, "repeated_call")) == 1
    (prompt,) = stage.host.prompts
    assert (prompt.reason.layer, prompt.reason.detail) == (
        "limit",
        "The same call of Look ran 5 times in a row.",
    )


@pytest.mark.req("LOOP-06")
@pytest.mark.parametrize(
    ("tool", "more"), [("Look", {"fail": "no"}), ("Look", {"wrong": 1}), ("Nothing", {})]
)
async def test_an_equal_call_that_failed_three_times_is_asked_for_before_it_runs_again(
    tool: str, more: dict[str, Any]
) -> None:
    calls = [[ToolUse(id=f"toolu_{n}", name=tool, input={"name": "a", **more})] for n in range(4)]
    step = StepTool()
    stage = Stage(ScriptedModel(calls), [step])
    stage.host.replies = [PermissionReply(behavior="deny")]
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("blocked", 4)
    assert step.log.count("+a") == (3 if "fail" in more else 0)
    assert "did not work 3 times in a row" in stage.host.prompts[0].reason.detail
    assert len(results(stage.history)) == 4


async def test_where_nobody_answers_the_same_call_for_ever_is_refused_once_and_then_ends() -> None:
    stage = Stage(ScriptedModel(repeating(20)), [StepTool()])
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("blocked", 7)
    assert "so that it does not go on for ever" in str(ended(events).error)
    assert "It was not run again" in results(stage.history)[5][1]


async def test_a_mode_that_never_asks_asks_nobody_about_a_repeated_call_either() -> None:
    stage = Stage(ScriptedModel(repeating(20, fail="no")), [StepTool()], mode="dontAsk")
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("blocked", 5)
    assert stage.host.prompts == []


async def test_equal_calls_in_one_answer_run_one_after_the_other_and_are_counted_too() -> None:
    tool = StepTool()
    stage = Stage(ScriptedModel([[look(number) for number in range(50)]]), [tool])
    events = await stage.run()
    assert ended(events).reason == "blocked"
    assert tool.log == ["+a", "-a"] * 5
    assert len(results(stage.history)) == 50


async def test_another_call_in_between_begins_the_count_anew() -> None:
    calls = [[look(n, name=f"{n // 4}")] for n in range(16)]
    stage = Stage(ScriptedModel([*calls, ["done"]]), [StepTool()])
    assert ended(await stage.run()).reason == "completed"
    assert len(told(stage, "repeated_call")) == 4
    assert stage.host.prompts == []


@pytest.mark.req("LOOP-06")
async def test_a_turn_that_may_not_be_paid_for_ends_before_its_next_request() -> None:
    model = ScriptedModel([[look()], ["x"]])
    stage = Stage(model, [StepTool()])

    async def hear(event: Event) -> None:
        if isinstance(event, StepStarted):
            stage.spent = "The ceiling of $1.00 is reached."

    stage.hear = hear
    events = await stage.run()
    assert (ended(events).reason, ended(events).error) == (
        "budget",
        "The ceiling of $1.00 is reached.",
    )
    assert len(model.requests) == 1


@pytest.mark.req("LOOP-13")
async def test_a_token_target_is_told_and_ends_the_turn_with_a_report() -> None:
    model = ScriptedModel([[look(n, name=f"{n}")] for n in range(9)])
    stage = Stage(model, [StepTool()], bounds=Bounds(max_steps=20, token_target=12))
    events = await stage.run()
    assert told(stage, "token_target") == [
        "The user set a target of 12 output tokens for this turn. The turn ends when it is "
        "reached, so do the most important things first and leave nothing half done."
    ]
    assert (ended(events).reason, ended(events).error) == (
        "budget",
        "The token target of 12 is reached: 15 output tokens in 3 steps. Everything so far is "
        "kept; another prompt goes on from here.",
    )
    assert len(results(stage.history)) == 3


@pytest.mark.req("LOOP-13")
@pytest.mark.parametrize(
    ("prompt", "target"),
    [
        ("+500k write the tests", 500_000),
        ("write the tests +1.5M", 1_500_000),
        ("write the tests, +500K.", 500_000),
        ("add +5k rows to it", None),
        ("print 1+500k", None),
        ("+500", None),
        ("+0k go", None),
        ("", None),
    ],
)
def test_a_target_is_read_at_the_beginning_or_the_end_of_a_prompt(
    prompt: str, target: int | None
) -> None:
    assert token_target(prompt) == target


@pytest.mark.req("LOOP-10")
async def test_a_stop_hook_that_objects_is_heard_eight_times_in_a_row_and_then_no_more() -> None:
    stage = Stage(ScriptedModel([["done"]] * 12), [])
    stage.hooks.answers = {"Stop": HookOutcome(block="the tests have not run")}
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 9)
    assert (
        told(stage, "stop_hook")
        == ["A Stop hook objects to ending here: the tests have not run"] * 8
    )
    asked = [extra for event, extra in stage.hooks.fired if event == "Stop"]
    assert asked[:2] == [
        {"stop_hook_active": False, "last_assistant_message": "done"},
        {"stop_hook_active": True, "last_assistant_message": "done"},
    ]
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert notices == ["Stop hooks objected 8 times in a row; the turn ends all the same."]


@pytest.mark.req("LOOP-10")
async def test_a_call_between_two_objections_begins_their_count_anew() -> None:
    model = ScriptedModel([["done"], [look(1)], ["done"], ["done"], ["x"]])
    stage = Stage(model, [StepTool()], bounds=Bounds(max_steps=20, stop_hook_cap=1))
    stage.hooks.answers = {"Stop": HookOutcome(contexts=("mind the docs",))}
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 4)
    assert told(stage, "stop_hook") == ["A Stop hook says: mind the docs"] * 2


async def test_a_stop_hook_that_ends_everything_beats_one_that_objects() -> None:
    stage = Stage(ScriptedModel([["done"]]), [])
    stage.hooks.answers = {"Stop": HookOutcome(block="no", stop="enough")}
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 1)


async def test_a_failed_turn_is_told_to_its_hooks_with_the_failures_word() -> None:
    stage = Stage(ScriptedModel([[ModelError("billing", "No credit is left.")]]), [])
    await stage.run()
    assert stage.hooks.fired == [
        (
            "StopFailure",
            {
                "error": "billing_error",
                "error_details": "No credit is left.",
                "last_assistant_message": "No credit is left.",
            },
        )
    ]


async def test_a_hook_that_ends_the_turn_at_a_call_says_why_and_is_no_error() -> None:
    stage = Stage(ScriptedModel([[look()], ["x"]]), [StepTool()])
    stage.hooks.answers = {"PostToolUse": HookOutcome(stop="that is enough")}
    events = await stage.run()
    assert (ended(events).reason, ended(events).error) == ("blocked", None)
    said = [event.text for event in events if isinstance(event, Notice)]
    assert said == ["A hook stopped the turn: that is enough"]


@pytest.mark.req("LOOP-12")
async def test_a_pause_lets_the_running_call_end_and_holds_the_next_step() -> None:
    tool = StepTool()
    model = ScriptedModel([[look(gate="go")], ["done"]])
    stage = Stage(model, [tool])
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        await tool.started("a")
        stage.pause.hold()
        tool.open("go")
        with anyio.fail_after(5):
            while not results(stage.history):
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
        assert len(model.requests) == 1
        stage.pause.release()
    assert ended(stage.events).reason == "completed"


class Torrent:
    """A model that never stops talking; `said` is how much of it has been taken."""

    def __init__(self) -> None:
        self.said = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        while True:
            self.said += 1
            yield TextChunk(text="word ")


@pytest.mark.req("LOOP-12")
async def test_a_reader_that_stands_still_holds_the_model_and_little_waits_in_between() -> None:
    model = Torrent()
    stage = Stage(model, [])

    async def hear(event: Event) -> None:
        if isinstance(event, TextDelta):
            await anyio.sleep_forever()

    stage.hear = hear
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        with anyio.fail_after(5):
            while not model.said:
                await anyio.lowlevel.checkpoint()
            await anyio.wait_all_tasks_blocked()
        assert model.said < 100
        stage.scope.cancel()


@pytest.mark.req("LOOP-03")
async def test_the_cap_holds_back_the_reads_beyond_it() -> None:
    tool = StepTool()
    calls = [
        ToolUse(id=f"t{n}", name="Look", input={"name": f"{n}", "gate": "go"}) for n in range(5)
    ]
    stage = Stage(
        ScriptedModel([[*calls, Wait("on")], ["done"]]),
        [tool],
        bounds=Bounds(max_steps=20, max_parallel=3),
    )
    async with anyio.create_task_group() as group:
        group.start_soon(stage.run)
        with anyio.fail_after(5):
            await tool.started("2")
            await anyio.wait_all_tasks_blocked()
        assert tool.log == ["+0", "+1", "+2"]
        tool.open("go")
        assert isinstance(stage.model, ScriptedModel)
        stage.model.open("on")
    assert [text for _, text, _ in results(stage.history)] == [f"{n} done" for n in range(5)]


@pytest.mark.req("HOOK-01")
async def test_hooks_around_a_request_are_told_of_it_and_may_end_the_turn() -> None:
    hooks = NoHooks(answers={"PreSampling": HookOutcome(), "PostSampling": HookOutcome()})
    stage = Stage(ScriptedModel([[look()], ["done"]]), [StepTool()], hooks=hooks)
    await stage.run()
    told = [(event, extra) for event, extra in hooks.fired if event.endswith("Sampling")]
    assert [(event, extra["model"], extra["message_count"]) for event, extra in told] == [
        ("PreSampling", "scripted", 1),
        ("PostSampling", "scripted", 1),
        ("PreSampling", "scripted", 3),
        ("PostSampling", "scripted", 3),
    ]
    assert [extra.get("stop_reason") for _, extra in told] == [None, "tool_use", None, "end_turn"]
    assert all(extra["tokens"] > 0 for _, extra in told)


@pytest.mark.parametrize(
    ("event", "asked", "results"), [("PreSampling", 0, 0), ("PostSampling", 1, 1)]
)
async def test_a_sampling_hook_that_says_stop_ends_the_turn_and_every_call_has_its_result(
    event: str, asked: int, results: int
) -> None:
    hooks = NoHooks(answers={event: HookOutcome(stop="enough")})
    model = ScriptedModel([[look()]])
    stage = Stage(model, [StepTool()], hooks=hooks)
    events = await stage.run()
    end = events[-1]
    assert isinstance(end, TurnEnded)
    assert (end.reason, end.error) == ("blocked", f"A {event} hook ended the turn: enough")
    assert len(model.requests) == asked
    kept = [m for m in stage.history if isinstance(m, UserMessage) and m.origin == "tools"]
    assert len(kept) == results


@pytest.mark.req("HOOK-01")
async def test_hooks_after_the_calls_of_a_step_see_all_of_them_and_may_speak_or_end_the_turn() -> (
    None
):
    hooks = NoHooks(answers={"PostToolBatch": HookOutcome(contexts=("mind the tests",))})
    calls = [look(1), look(2, name="b")]
    stage = Stage(ScriptedModel([calls, ["done"]]), [StepTool()], hooks=hooks)
    assert ended(await stage.run()).reason == "completed"
    (batch,) = [extra["tool_calls"] for event, extra in hooks.fired if event == "PostToolBatch"]
    assert [(one["tool_use_id"], one["tool_input"]) for one in batch] == [
        (call.id, call.input) for call in calls
    ]
    assert all(one["tool_response"] for one in batch)
    assert told(stage, "hook") == ["A PostToolBatch hook says: mind the tests"]

    hooks = NoHooks(answers={"PostToolBatch": HookOutcome(block="no more")})
    model = ScriptedModel([[look(1)]])
    stopped = Stage(model, [StepTool()], hooks=hooks)
    end = ended(await stopped.run())
    assert (end.reason, end.error) == ("blocked", "A PostToolBatch hook ended the turn: no more")
    assert len(model.requests) == 1
