"""Every way in which the loop goes on after an answer that was cut, refused, broken or late."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest

from sidelight.agent.turn import Bounds
from sidelight.context.normalise import normalise
from sidelight.core.content import Document, Image, Text, Thinking, ToolResult, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.events import (
    Event,
    HistoryRepaired,
    MessageAdded,
    MessageDropped,
    Notice,
    RetryScheduled,
    StepStarted,
    TextDelta,
    TurnEnded,
)
from sidelight.core.messages import AssistantMessage, Attachment, UserMessage
from sidelight.model.catalog import plain_card
from sidelight.model.retry import Backoff
from tests.builders import Stage, results
from tests.fakes.model import ScriptedModel, StopReason, Unclosed, Wait
from tests.fakes.tools import StepTool

pytestmark = pytest.mark.anyio

LIMIT = StopReason("max_tokens")


def look(name: str) -> ToolUse:
    return ToolUse(id=f"toolu_{name}", name="Look", input={"name": name})


def busy(kind: str = "overloaded", **more: Any) -> ModelError:
    return ModelError(kind, "busy", **{"retry_after": 0, **more})  # pyright: ignore[reportArgumentType]


def staged(replies: Sequence[Sequence[Any]], **more: Any) -> tuple[Stage, ScriptedModel]:
    model = ScriptedModel(replies)
    return Stage(model, [StepTool()], **more), model


def ended(events: Sequence[Event]) -> TurnEnded:
    assert isinstance(events[-1], TurnEnded)
    return events[-1]


def transitions(events: Sequence[Event]) -> list[tuple[int, str]]:
    return [(e.step, e.transition) for e in events if isinstance(e, StepStarted)]


def notices(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


@pytest.mark.req("LOOP-07")
async def test_a_cut_answer_is_asked_for_again_with_more_room_and_then_continued() -> None:
    parts = [[f"part {n} ", LIMIT] for n in range(4)]
    stage, model = staged([*parts, ["the end"]], model_name="sonnet")
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert [request.max_output_tokens for request in model.requests] == [None, *[64_000] * 4]
    assert transitions(events) == [
        (1, "prompt"),
        (2, "larger_output"),
        *((step, "cut_at_limit") for step in (3, 4, 5)),
    ]
    dropped = [event.message_id for event in events if isinstance(event, MessageDropped)]
    answers = [m for m in stage.history if isinstance(m, AssistantMessage)]
    assert [m.text for m in answers] == ["part 1 ", "part 2 ", "part 3 ", "the end"]
    assert dropped and dropped[0] not in {m.id for m in answers}


@pytest.mark.req("LOOP-07")
async def test_the_parts_of_a_continued_answer_are_shown_under_one_name() -> None:
    stage, _ = staged([["one ", LIMIT], ["two ", LIMIT], ["three"]])
    events = await stage.run()
    shown = {event.message_id for event in events if isinstance(event, TextDelta)}
    answers = [m for m in stage.history if isinstance(m, AssistantMessage)]
    assert {m.shown_as for m in answers} == shown == {answers[0].id}
    assert len({m.id for m in answers}) == 3


async def test_a_continuation_that_breaks_off_keeps_what_people_have_read() -> None:
    stage, _ = staged([["one ", LIMIT], ["two ", busy("cut_off")], ["three"]])
    events = await stage.run()
    answers = [m for m in stage.history if isinstance(m, AssistantMessage)]
    assert [m.text for m in answers] == ["one ", "two ", "three"]
    assert {m.shown_as for m in answers} == {answers[0].id}
    assert not any(isinstance(event, MessageDropped) for event in events)


async def test_calls_of_a_cut_answer_stay_and_the_next_one_has_more_room() -> None:
    stage, model = staged([[look("a"), LIMIT], ["done"]], model_name="sonnet")
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert [request.max_output_tokens for request in model.requests] == [None, 64_000]
    assert results(stage.history) == [("toolu_a", "a done", False)]


@pytest.mark.req("LOOP-08")
async def test_a_prompt_that_is_too_long_is_sent_once_and_the_error_says_what_to_do() -> None:
    stage, model = staged([[ModelError("context_too_long", "too long")]])
    events = await stage.run()
    assert len(model.requests) == 1
    assert (ended(events).reason, ended(events).error) == (
        "failed",
        "The conversation no longer fits the model's window. Start a new conversation, "
        "or choose a model with a larger window.",
    )


def with_pictures(stage: Stage) -> list[UserMessage]:
    """A conversation with a picture of the user's and one in a call's result."""
    picture, other = (Image(media_type="image/png", data=name) for name in ("one", "two"))
    call = look("shot")
    result = ToolResult(tool_use_id=call.id, content=(Text(text="here"), other))
    messages = [
        UserMessage(id="u1", content=(Text(text="see"), picture)),
        UserMessage(id="u2", content=(result,), origin="tools"),
    ]
    stage.history += [messages[0], AssistantMessage(id="a1", content=(call,)), messages[1]]
    return messages


@pytest.mark.req("LOOP-09")
@pytest.mark.parametrize(
    ("path", "place"),
    [("messages.0.content.1", ("u1", (1,))), ("messages.2.content.0.content.1", ("u2", (0, 1)))],
)
async def test_the_picture_that_a_refusal_names_becomes_a_note_in_what_is_sent(
    path: str, place: tuple[str, tuple[int, ...]]
) -> None:
    refusal = ModelError("media_refused", "too large", paths=(path,))
    stage, model = staged([[refusal], ["done"]])
    kept = with_pictures(stage)
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 1)
    (repaired,) = [event.repairs for event in events if isinstance(event, HistoryRepaired)]
    assert repaired.struck == {place}
    assert model.requests[1].messages == normalise(stage.history[:-1], struck=repaired.struck)
    assert [m for m in stage.history if isinstance(m, UserMessage)][:2] == kept


@pytest.mark.req("LOOP-09")
async def test_a_refusal_that_names_no_picture_is_tried_with_the_new_ones_then_with_all() -> None:
    """B110: pictures that an answer followed were taken before."""
    refusal = ModelError("media_refused", "too large", paths=("messages.9.content.9",))
    stage, model = staged([[refusal], [refusal], ["done"]])
    with_pictures(stage)
    events = await stage.run()
    repaired = [event.repairs for event in events if isinstance(event, HistoryRepaired)]
    assert [each.struck for each in repaired] == [{("u2", (0, 1))}, {("u1", (1,)), ("u2", (0, 1))}]
    assert (ended(events).reason, len(model.requests)) == ("completed", 3)
    stage, model = staged([[refusal], [refusal], [refusal]])
    with_pictures(stage)
    events = await stage.run()
    assert (ended(events).reason, len(model.requests)) == ("failed", 3)
    assert "left out from now on" in str(ended(events).error)


@pytest.mark.req("LOOP-09")
@pytest.mark.parametrize("kind", ["invalid_request", "request_too_large"])
async def test_a_refusal_for_any_reason_is_tried_without_the_new_pictures(kind: str) -> None:
    """B110: servers do not always say that a picture is the reason."""
    refusal = ModelError(kind, "Could not process image")  # pyright: ignore[reportArgumentType]
    stage, model = staged([[refusal], ["done"], ["next"]])
    with_pictures(stage)
    pages = Document(media_type="application/pdf", data="AA", text="what it says")
    stage.history.append(UserMessage(id="u3", content=(Text(text="and"), pages)))
    events = await stage.run()
    (repaired,) = [event.repairs for event in events if isinstance(event, HistoryRepaired)]
    assert repaired.struck == {("u2", (0, 1)), ("u3", (1,))}
    assert "going on without" in notices(events)[0]
    assert ended(events).reason == "completed"
    last = model.requests[1].messages[-1].content
    assert Text(text="what it says") in last
    assert not [block for block in last if isinstance(block, Image | Document)]


async def test_a_text_is_left_out_only_if_it_makes_a_request_too_large() -> None:
    large = UserMessage(id="u1", content=(Text(text="x" * 1_100_000), Text(text="see above")))
    for kind, requests in (("invalid_request", 1), ("request_too_large", 2)):
        refusal = ModelError(kind, "413")  # pyright: ignore[reportArgumentType]
        stage, model = staged([[refusal], ["done"]])
        stage.history.append(large)
        await stage.run()
        assert len(model.requests) == requests
    said = [
        block.text for block in model.requests[-1].messages[0].content if isinstance(block, Text)
    ]
    assert said[:2] == ["(something stood here that the server refused)", "see above"]


async def test_thinking_that_the_server_no_longer_takes_back_is_left_out_once() -> None:
    thought = Thinking(raw={"type": "thinking", "thinking": "hm", "signature": "c2ln"})
    unbound = ModelError("unbound_thinking", "bound to a different conversation")
    stage, model = staged([[thought, look("a")], [unbound], ["done"], ["x"]])
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert transitions(events)[-1] == (2, "thinking_dropped")
    sent = [[b.type for m in r.messages for b in m.content] for r in model.requests]
    assert sent[1] == ["text", "thinking", "tool_use", "tool_result"]
    assert sent[2] == ["text", "tool_use", "tool_result"]
    stage, model = staged([[unbound], [unbound]])
    events = await stage.run()
    assert (ended(events).reason, len(model.requests)) == ("failed", 2)
    assert "Start a new conversation" in str(ended(events).error)


@pytest.mark.req("MODEL-02")
async def test_credentials_that_were_loaded_anew_are_tried_once_and_others_not_at_all() -> None:
    def refused(*, reloaded: bool) -> ModelError:
        error = busy("authentication")
        error.reloaded = reloaded
        return error

    stage, model = staged([[refused(reloaded=True)], ["done"]])
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert transitions(events) == [(1, "prompt"), (1, "credentials_reloaded")]
    stage, model = staged([[refused(reloaded=True)], [refused(reloaded=True)], ["x"]])
    events = await stage.run()
    assert (ended(events).reason, len(model.requests)) == ("failed", 2)
    stage, model = staged([[refused(reloaded=False)], ["x"]])
    events = await stage.run()
    assert (ended(events).error, len(model.requests)) == ("busy", 1)


@pytest.mark.req("MODEL-02")
async def test_three_overloads_in_a_row_bring_in_the_next_model_and_it_is_said() -> None:
    bounds = Bounds(max_steps=20, fallbacks=("second", "third"))
    replies = [[busy()], [busy()], [busy()], [busy()], [look("a")], [busy()], ["done"]]
    stage, model = staged(replies, bounds=bounds)
    events = await stage.run()
    assert (ended(events).reason, ended(events).steps) == ("completed", 2)
    assert [r.model for r in model.requests] == [*["scripted"] * 3, *["second"] * 4]
    assert notices(events) == ["scripted is overloaded; second answers for the rest of this turn."]
    retries = [event.attempt for event in events if isinstance(event, RetryScheduled)]
    assert retries == [1, 2, 1, 1]


async def test_overloads_that_are_not_in_a_row_change_no_model() -> None:
    bounds = Bounds(max_steps=20, fallbacks=("second",))
    replies = [[busy()], [busy()], [busy("server")], [busy()], [busy()], ["done"]]
    stage, model = staged(replies, bounds=bounds)
    assert ended(await stage.run()).reason == "completed"
    assert {r.model for r in model.requests} == {"scripted"}


@pytest.mark.req("MODEL-02")
async def test_an_unattended_turn_waits_out_an_outage_in_slices_that_are_told() -> None:
    async def at_once(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    bounds = Bounds(max_steps=20, backoff=Backoff(unattended=True, tries=1))
    replies = [[busy(retry_after=0)]] * 30 + [[busy("rate_limit", retry_after=7_200)], ["done"]]
    stage, _ = staged(replies, bounds=bounds, sleep=at_once)
    events = await stage.run()
    assert ended(events).reason == "completed"
    told = [event.delay_s for event in events if isinstance(event, RetryScheduled)]
    assert told[30:33] == [7_200, 7_170, 7_140]
    assert sum(stage.waits) == 7_200


@pytest.mark.req("MODEL-03")
async def test_a_stall_is_retried_while_nothing_was_said_and_reported_afterwards() -> None:
    stage, _ = staged([[busy("stalled")], ["done"]])
    assert ended(await stage.run()).reason == "completed"
    stage, model = staged([["half an", busy("stalled")], ["x"]])
    events = await stage.run()
    assert (ended(events).reason, ended(events).error, len(model.requests)) == (
        "failed",
        "busy What had arrived is kept; another prompt goes on from there.",
        1,
    )
    assert [m.text for m in stage.history if isinstance(m, AssistantMessage)] == ["half an"]


async def test_a_silent_model_is_told_of_before_its_deadline() -> None:
    model = ScriptedModel([["Well", Wait("silence"), "done"]])
    stage = Stage(model, [], bounds=Bounds(max_steps=20, quiet_s=0.001))

    async def hear(event: Event) -> None:
        if isinstance(event, Notice):
            model.open("silence")

    stage.hear = hear
    with anyio.fail_after(5):
        events = await stage.run()
    assert notices(events)[0] == "No data from the model for 0.001 s; still waiting."
    assert ended(events).reason == "completed"


async def test_a_call_that_three_broken_answers_began_has_one_pair_in_the_end() -> None:
    broken = [Unclosed("Look"), busy("cut_off")]
    stage, _ = staged([broken, broken, broken, [look("a")], ["done"]])
    assert ended(await stage.run()).steps == 2
    assert [name for name, _, _ in results(stage.history)] == ["toolu_a"]


async def test_an_unknown_reason_to_end_is_said_and_ends_the_turn() -> None:
    stage, _ = staged([["well", StopReason("bored")]])
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert notices(events) == ["The model ended its answer for a reason that is not known: bored."]


async def test_a_refusal_ends_the_turn_also_beside_a_call_which_has_its_result() -> None:
    stage, model = staged([[look("a"), StopReason("refusal")], ["x"]])
    events = await stage.run()
    assert (ended(events).reason, len(model.requests)) == ("blocked", 1)
    assert results(stage.history) == [("toolu_a", "a done", False)]


async def test_a_paused_answer_goes_back_with_nothing_behind_it() -> None:
    stage, model = staged([["half", StopReason("pause_turn")], ["whole"]])

    async def hear(event: Event) -> None:
        if isinstance(event, MessageAdded) and isinstance(event.message, AssistantMessage):
            stage.prompt_later(Attachment(id="late", kind="x", text="late news"))

    stage.hear = hear
    await stage.run()
    assert [m.role for m in model.requests[1].messages] == ["user", "assistant"]


@pytest.mark.req("LOOP-01")
async def test_every_step_says_why_it_is_taken_and_counts_from_one() -> None:
    replies = [
        [busy("connection")],
        [look("a")],
        ["cut", LIMIT],
        ["half", StopReason("pause_turn")],
        ["done"],
    ]
    stage, _ = staged(replies)
    events = await stage.run()
    assert transitions(events) == [
        (1, "prompt"),
        (1, "retry"),
        (2, "tools"),
        (3, "cut_at_limit"),
        (4, "pause_turn"),
    ]
    assert (ended(events).steps, ended(events).usage.output_tokens) == (4, 20)


@pytest.mark.req("MODEL-02")
async def test_overloaded_fast_mode_goes_on_at_standard_speed_first_and_then_falls_back() -> None:
    bounds = Bounds(max_steps=20, fast=True, fallbacks=("haiku",))
    stage, model = staged([*[[busy()]] * 4, ["there"]], bounds=bounds, model_name="opus")
    events = await stage.run()
    assert ended(events).reason == "completed"
    assert [(request.model, request.fast) for request in model.requests] == [
        ("opus", True),
        *[("opus", False)] * 3,
        ("haiku", False),
    ]
    assert transitions(events) == [
        (1, "prompt"),
        (1, "standard_speed"),
        (1, "retry"),
        (1, "retry"),
        (1, "fallback_model"),
    ]
    assert notices(events) == [
        "Fast mode is overloaded; going on at standard speed for the rest of this turn.",
        "opus is overloaded; haiku answers for the rest of this turn.",
    ]
    assert stage.waits == [0, 0]


async def test_how_much_more_room_there_is_is_what_the_provider_told_of_its_model() -> None:
    small = replace(plain_card("own"), output_cap=20_000, default_output=4_000)
    cards = {"own": small}
    stage, model = staged([["cut", LIMIT], ["whole"]], model_name="own", card=cards.__getitem__)
    assert ended(await stage.run()).reason == "completed"
    assert [request.max_output_tokens for request in model.requests] == [None, 20_000]
