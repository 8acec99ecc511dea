"""What a conversation costs, and its ceiling: real sessions, real HTTP, the real SDK."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.events import (
    Notice,
    QuestionAnswered,
    QuestionAsked,
    SpendChanged,
    ThinkingDelta,
)
from sidelight.core.messages import AssistantMessage, Usage
from sidelight.core.spend import Spent, Total
from sidelight.model.decode import usage_of
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import (
    Block,
    Reply,
    cut,
    gate,
    overloaded,
    reply,
    thinking,
)
from tests.real_session import SECONDS, Desk, opened, project_settings, read

pytestmark = pytest.mark.anyio

SONNET, OPUS = "claude-sonnet-5-5", "claude-opus-5-5"
WRITING = {
    "input_tokens": 1_000,
    "output_tokens": 100,
    "cache_read_input_tokens": 0,
    "cache_creation_input_tokens": 30_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 10_000, "ephemeral_1h_input_tokens": 20_000},
}
READING = {
    "input_tokens": 2_000,
    "output_tokens": 200,
    "cache_read_input_tokens": 30_000,
    "cache_creation_input_tokens": 0,
    "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
}
WROTE = Usage(
    input_tokens=1_000,
    output_tokens=100,
    cache_write_5m_tokens=10_000,
    cache_write_1h_tokens=20_000,
)
READ = Usage(input_tokens=2_000, output_tokens=200, cache_read_input_tokens=30_000)
# Dollars a million: 2 in, 10 out, 0.10 read, 2.50 and 4 written.
WROTE_USD = 0.108  # 0.002 + 0.001 + 0.025 + 0.08
READ_USD = 0.009  # 0.004 + 0.002 + 0.003


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "project").resolve()
    made.mkdir()
    (made / "a.txt").write_text("one\n", encoding="utf-8")
    return made


def settings(home: Path, usd: float | None) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    limits = {} if usd is None else {"maxBudgetUsd": usd}
    path.write_text(json.dumps({"sidelight": {"limits": limits}}), encoding="utf-8")


def dollar(*steps: Block | str) -> Reply:
    """An answer of Sonnet that costs a dollar."""
    nothing = {**READING, "input_tokens": 0, "cache_read_input_tokens": 0}
    return reply(*steps, usage={**nothing, "output_tokens": 100_000})


def rounded(spent: Spent) -> tuple[str, str, Usage, float | None]:
    usd = None if spent.cost_usd is None else round(spent.cost_usd, 9)
    return spent.source, spent.model, spent.usage, usd


def figures(total: Total) -> tuple[int, int, float, Usage]:
    return total.requests, total.unpriced, round(total.known_usd, 9), total.usage


def told(desk: Desk) -> list[SpendChanged]:
    return [event for event in desk.events if isinstance(event, SpendChanged)]


@pytest.mark.req("MODEL-05")
async def test_each_request_turn_session_and_model_is_counted_with_the_caches_apart(
    folder: Path,
) -> None:
    script = [
        reply(read(folder / "a.txt"), usage=WRITING),
        overloaded(),
        reply("Seen.", usage=READING),
        reply("Again.", usage=READING),
    ]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            first = await desk.ask("look")
            second = await desk.ask("once more")
            events = told(desk)
            assert desk.session.spent == events[-1]
    answers = [m for m in desk.session.history if isinstance(m, AssistantMessage)]
    assert [event.spent.request_id for event in events] == [message.id for message in answers]
    assert [event.spent.turn_id for event in events] == [first.turn_id] * 2 + [second.turn_id]
    assert [rounded(event.spent) for event in events] == [
        ("main", SONNET, WROTE, WROTE_USD),
        ("main", SONNET, READ, READ_USD),
        ("main", SONNET, READ, READ_USD),
    ]
    assert (first.usage, second.usage) == (WROTE + READ, READ)
    last = events[-1]
    everything = (3, 0, round(WROTE_USD + 2 * READ_USD, 9), WROTE + READ + READ)
    assert figures(last.turn) == (1, 0, READ_USD, READ)
    assert figures(last.session) == everything
    assert {name: figures(total) for name, total in last.models.items()} == {SONNET: everything}
    assert {name: figures(total) for name, total in last.sources.items()} == {"main": everything}


@pytest.mark.req("MODEL-05")
async def test_what_the_cache_took_and_gave_is_counted_as_the_server_counted_it(
    folder: Path,
) -> None:
    with running_double([reply(read(folder / "a.txt")), reply("Seen.")]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("look")
        wrote, found = (usage_of(usage) for usage in double.usages)
        assert [event.spent.usage for event in told(desk)] == [wrote, found]
    assert wrote.cache_read_input_tokens == 0
    assert wrote.cache_write_1h_tokens > 1_000
    assert (
        found.cache_read_input_tokens == wrote.cache_write_1h_tokens + wrote.cache_write_5m_tokens
    )


@pytest.mark.req("MODEL-05")
async def test_the_cost_survives_a_restart_also_where_it_was_not_written_down(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_double([reply("One.", usage=WRITING), reply("Two.", usage=READING)]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("go")
            await desk.ask("on")
            before, session_id = desk.session.spent, desk.session.id
        assert before is not None
        async with opened(double, folder, session_id=session_id) as desk:
            after = desk.session.spent
            assert after is not None
            assert after.model_copy(update={"turn": before.turn}) == before
            assert after.turn == Total()
        (path,) = (home / "sidelight" / "sessions").glob(f"*/{session_id}.jsonl")
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["type"] != "spend"]
        assert len(lines) - len(kept) == 2
        path.write_text("".join(kept), encoding="utf-8")
        async with opened(double, folder, session_id=session_id) as desk:
            guessed = desk.session.spent
            assert guessed is not None
            assert guessed.session == before.session
        assert len(double.requests) == 2, "looking at the cost asks no model"


@pytest.mark.req("MODEL-05")
async def test_a_model_of_unknown_price_has_no_cost_and_a_ceiling_says_that_it_cannot_hold(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_MODEL", "claude-next-9")
    settings(home, 0.5)
    with running_double([dollar("One."), dollar("Two.")], strict=False) as double:
        async with opened(double, folder) as desk:
            await desk.ask("go")
            assert (await desk.ask("on")).reason == "completed"
    assert [event.spent.cost_usd for event in told(desk)] == [None, None]
    assert told(desk)[-1].session.cost_usd is None
    assert desk.notices == [
        "The price of claude-next-9 is unknown, so what it costs does not count towards the spend "
        "ceiling of $0.5000."
    ]


@pytest.mark.req("LOOP-06")
async def test_at_the_ceiling_the_turn_waits_for_a_person_who_raises_it_step_by_step(
    folder: Path, home: Path
) -> None:
    settings(home, 1)
    look = read(folder / "a.txt")
    script = [dollar(look), dollar(look), dollar(look), reply("Done.")]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            desk.person.choices = ["more", "more", "more"]
            ended = await desk.ask("go")
    assert (ended.reason, ended.error, ended.steps) == ("completed", None, 4)
    asked = [(q.text(q.title), [q.text(o.label) for o in q.options]) for q in desk.person.questions]
    assert asked == [
        (
            f"This conversation has cost ${n}.00, its ceiling is ${n}.00. Go on?",
            [f"Go on up to ${n + 1}.00", "Stop"],
        )
        for n in (1, 2, 3)
    ]
    kinds = [e.type for e in desk.events if isinstance(e, QuestionAsked | QuestionAnswered)]
    assert kinds == ["question_asked", "question_answered"] * 3


async def test_one_dear_answer_beyond_several_steps_is_one_question(
    folder: Path, home: Path
) -> None:
    settings(home, 0.4)
    with running_double([dollar(read(folder / "a.txt")), reply("Done.")]) as double:
        async with opened(double, folder) as desk:
            desk.person.choices = ["more"]
            assert (await desk.ask("go")).reason == "completed"
    (question,) = desk.person.questions
    assert question.fields == {"spent": "$1.00", "ceiling": "$0.4000", "higher": "$1.20"}


@pytest.mark.req("LOOP-06")
@pytest.mark.parametrize("choices", [["stop"], []], ids=["stop", "nobody answers"])
async def test_who_does_not_raise_it_ends_the_turn_and_the_conversation_goes_on_with_a_higher_one(
    folder: Path, home: Path, choices: list[str]
) -> None:
    settings(home, 1)
    with running_double([dollar(read(folder / "a.txt")), reply("Done.")]) as double:
        async with opened(double, folder) as desk:
            desk.person.choices = choices
            ended = await desk.ask("go")
            assert (ended.reason, ended.error, ended.steps) == (
                "budget",
                "Stopped before the next request: this conversation has cost $1.00, its ceiling is "
                "$1.00. To go on, raise sidelight.limits.maxBudgetUsd in the settings.",
                1,
            )
            assert len(double.requests) == 1
            settings(home, 3)
            assert (await desk.ask("go on")).reason == "completed"
        assert double.prefix_problems() == []
        assert double.requests[1].last_text.endswith("go on")


@pytest.mark.req("LOOP-06")
async def test_a_cancel_closes_the_question_and_nothing_is_lost(folder: Path, home: Path) -> None:
    settings(home, 1)
    ended: list[Any] = []

    async def go(desk: Desk) -> None:
        ended.append(await desk.ask("go"))

    with running_double([dollar(read(folder / "a.txt")), reply("Done.")]) as double:
        async with opened(double, folder) as desk:
            desk.person.away = True
            with anyio.fail_after(SECONDS):
                async with anyio.create_task_group() as group:
                    group.start_soon(go, desk)
                    while not desk.person.open_dialogs:
                        await anyio.lowlevel.checkpoint()
                    desk.session.cancel()
            assert [e.reason for e in ended] == ["cancelled"]
            assert desk.person.open_dialogs == 0
            desk.person.away, desk.person.choices = False, ["more"]
            assert (await desk.ask("now")).reason == "completed"
        assert double.prefix_problems() == []
    answered = [event.option for event in desk.events if isinstance(event, QuestionAnswered)]
    assert answered == [None, "more"]


async def test_a_resumed_conversation_is_asked_before_its_first_request(
    folder: Path, home: Path
) -> None:
    settings(home, 1)
    with running_double([dollar("One."), reply("Two.")]) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("go")).reason == "completed"
            session_id = desk.session.id
        async with opened(double, folder, session_id=session_id) as desk:
            assert (await desk.ask("on")).reason == "budget"
        assert len(double.requests) == 1


@pytest.mark.parametrize(("users", "folders"), [(1, 100), (100, 1)])
async def test_a_folder_can_lower_the_ceiling_and_never_raise_it(
    folder: Path, home: Path, users: float, folders: float
) -> None:
    settings(home, users)
    project_settings(folder, {"sidelight": {"limits": {"maxBudgetUsd": folders}}})
    with running_double([dollar(read(folder / "a.txt")), reply("Done.")]) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("go")).reason == "budget"


async def test_several_askers_at_the_ceiling_are_one_question(folder: Path, home: Path) -> None:
    settings(home, 1)
    got: list[str | None] = []

    async def ask(desk: Desk) -> None:
        got.append(await desk.session.spending.may_spend())

    with running_double([dollar("One.")]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("go")
            desk.person.choices = ["more"]
            with anyio.fail_after(SECONDS):
                async with anyio.create_task_group() as group:
                    for _ in range(3):
                        group.start_soon(ask, desk)
    assert got == [None] * 3
    assert len(desk.person.questions) == 1


@pytest.mark.req("LOOP-06")
async def test_what_a_helper_spends_counts_towards_the_ceiling(folder: Path, home: Path) -> None:
    settings(home, 1)
    with running_double([reply("Never.")]) as double:
        async with opened(double, folder) as desk:
            usage = Usage(output_tokens=50_000)
            found = AssistantMessage(id="sub-1", content=(), usage=usage, model=OPUS)
            await desk.session.spending.note(found, "explore")
            assert (await desk.ask("go")).reason == "budget"
            (event,) = told(desk)
            session_id = desk.session.id
        assert (event.spent.source, event.spent.model) == ("explore", OPUS)
        assert {name: figures(total) for name, total in event.sources.items()} == {
            "explore": (1, 0, 1.0, usage)
        }
        async with opened(double, folder, session_id=session_id) as desk:
            assert desk.session.spending.ledger.sources == event.sources
        assert double.requests == []


async def test_a_ceiling_that_is_no_amount_is_said_and_ignored(folder: Path, home: Path) -> None:
    settings(home, -1)
    with running_double([reply("Done.")]) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("go")).reason == "completed"
    notices = [event.text for event in desk.events if isinstance(event, Notice)]
    assert any("sidelight.limits.maxBudgetUsd is wrong" in text for text in notices)


@pytest.mark.req("MODEL-05")
async def test_an_answer_that_broke_off_is_paid_for_also_where_nothing_of_it_stays(
    folder: Path,
) -> None:
    words = "w" * 400
    script = [
        reply(words, usage=READING, cut=cut(after_event=3)),  # withdrawn, and asked for again
        # A whole call came, so this one is kept.
        reply(read(folder / "a.txt"), words, usage=READING, chunk=1000, cut=cut(after_event=6)),
        reply("Done.", usage=READING),
    ]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            ended = await desk.ask("look")
            events = told(desk)
        assert ended.reason == "completed"
        async with opened(double, folder, session_id=desk.session.id) as again:
            assert again.session.spent is not None
            assert again.session.spent.session == events[-1].session
    inputs = [event.spent.usage.cache_read_input_tokens for event in events]
    assert inputs == [READ.cache_read_input_tokens] * 3
    withdrawn, kept, whole = (event.spent for event in events)
    assert all(spent.cost_usd for spent in (withdrawn, kept, whole))
    assert 1 <= withdrawn.usage.output_tokens <= 100
    ids = [m.id for m in desk.session.history if isinstance(m, AssistantMessage)]
    assert [kept.request_id, whole.request_id] == ids
    assert ended.usage == withdrawn.usage + kept.usage + whole.usage


@pytest.mark.req("MODEL-05")
async def test_an_answer_that_was_void_for_want_of_room_is_paid_for(folder: Path) -> None:
    script = [reply("cut", usage=READING, stop_reason="max_tokens"), reply("Whole.", usage=READING)]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            ended = await desk.ask("tell me")
            events = told(desk)
    assert [event.spent.usage for event in events] == [READ, READ]
    assert ended.usage == READ + READ


@pytest.mark.req("MODEL-05")
async def test_an_answer_that_was_cancelled_before_its_first_word_is_paid_for(
    folder: Path,
) -> None:
    with running_double([reply(thinking("Hm."), gate("before"), usage=READING)]) as double:
        async with opened(double, folder) as desk:
            async with anyio.create_task_group() as group:
                group.start_soon(desk.ask, "tell me")
                with anyio.fail_after(SECONDS):
                    await double.until_gate("before")
                    while not any(isinstance(event, ThinkingDelta) for event in desk.events):
                        await anyio.lowlevel.checkpoint()
                desk.session.cancel()
            (event,) = told(desk)
    assert event.spent.usage.cache_read_input_tokens == READ.cache_read_input_tokens
