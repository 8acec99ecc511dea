"""Hooks of a session's start and end, of prompts and of a turn's end, with real programs; what a
session repairs and remembers, over HTTP."""

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from sidelight.core.content import Image, Text
from sidelight.core.events import MessageAdded, Notice, StepStarted, TurnEnded
from sidelight.core.messages import Attachment, UserMessage
from sidelight.transcripts.index import list_sessions
from sidelight.transcripts.replay import Replay, replay
from sidelight.transcripts.store import folder_for
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import (
    gate,
    http_error,
    overloaded,
    reply,
    text,
    thinking,
)
from tests.real_session import QUICK, SECONDS, Desk, hooks, opened, project_settings, read

pytestmark = pytest.mark.anyio

GUARD = 'grep -q hunter2 && echo "no secrets here" >&2 && exit 2; exit 0'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "project").resolve()
    made.mkdir()
    (made / "a.txt").write_text("one\n", encoding="utf-8")
    return made


def stored(desk: Desk, home: Path) -> Replay:
    place = folder_for(home / "sidelight", desk.session.cwd)
    return replay(place / f"{desk.session.id}.jsonl")


def prompts(desk: Desk) -> list[str]:
    return [
        block.text
        for message in desk.session.history
        if isinstance(message, UserMessage) and message.origin in {"typed", "steering"}
        for block in message.content
        if isinstance(block, Text)
    ]


def reminders(desk: Desk, kind: str) -> list[str]:
    return [m.text for m in desk.session.history if isinstance(m, Attachment) and m.kind == kind]


async def until(desk: Desk, condition: Callable[[Desk], object]) -> None:
    with anyio.fail_after(SECONDS):
        while not condition(desk):
            await anyio.lowlevel.checkpoint()


async def test_a_prompt_that_a_hook_refuses_reaches_no_model_and_no_later_process(
    folder: Path, home: Path
) -> None:
    project_settings(folder, hooks("UserPromptSubmit", GUARD))
    with running_double([reply("Yes.")]) as double:
        async with opened(double, folder) as desk:
            ended = await desk.ask("it is hunter2")
            assert (ended.reason, ended.error, ended.steps) == (
                "blocked",
                "A hook kept the prompt from the model: no secrets here",
                0,
            )
            assert double.requests == []
            assert stored(desk, home).waiting == {}
            assert (await desk.ask("hello")).reason == "completed"
        assert "hunter2" not in double.requests[0].raw.decode()
    assert prompts(desk) == ["hello"]
    (listed,) = list_sessions(folder_for(home / "sidelight", str(folder)))
    assert listed.title == "hello"


async def test_what_a_prompt_hook_prints_goes_along_with_the_prompt(folder: Path) -> None:
    log = folder.parent / "log"
    command = f"cat > {log}; echo ticket 7 is open"
    project_settings(folder, hooks("UserPromptSubmit", command))
    with running_double([reply("Yes.")]) as double:
        async with opened(double, folder) as desk:
            await desk.ask("hello")
        asked = double.requests[0].last_text
    assert "hello" in asked
    assert "A UserPromptSubmit hook says: ticket 7 is open" in asked
    given = json.loads(log.read_text(encoding="utf-8"))
    prompt = next(m for m in desk.session.history if isinstance(m, UserMessage))
    assert (given["prompt"], given["prompt_id"]) == ("hello", prompt.id)


async def test_a_prompt_refused_while_a_turn_runs_leaves_the_turn_alone(folder: Path) -> None:
    project_settings(folder, hooks("UserPromptSubmit", GUARD))
    script = [reply(text("Looking", gate("on")), read(folder / "a.txt")), reply("Done.")]
    ends: dict[str, str] = {}

    with running_double(script) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:

            async def ask(words: str) -> None:
                ends[words] = (await desk.ask(words)).reason

            group.start_soon(ask, "first")
            await double.until_gate("on")
            group.start_soon(ask, "and hunter2")
            await until(desk, lambda desk: desk.session.queued)
            double.open("on")
        assert len(double.requests) == 2
    assert ends == {"first": "completed", "and hunter2": "blocked"}
    assert prompts(desk) == ["first"]
    assert "A hook kept the prompt from the model: no secrets here" in desk.notices


async def test_a_prompt_whose_hook_was_cancelled_is_kept_from_the_model_until_it_is_judged(
    folder: Path, home: Path
) -> None:
    began = folder.parent / "began"
    command = f"test -e {began} || {{ touch {began}; sleep 600; }}; {GUARD}"
    project_settings(folder, hooks("UserPromptSubmit", command))
    with running_double([reply("Yes.")]) as double:
        async with opened(double, folder) as desk:
            async with anyio.create_task_group() as group:
                group.start_soon(desk.ask, "it is hunter2")
                await until(desk, lambda _: began.exists())
                desk.session.cancel()
            assert [p.content for p in stored(desk, home).waiting.values()] == [
                (Text(text="it is hunter2"),)
            ]
            assert (await desk.ask("hello")).reason == "completed"
        assert "hunter2" not in double.requests[0].raw.decode()
    assert prompts(desk) == ["hello"]


async def test_a_session_start_hook_speaks_once_a_process_and_knows_why_it_begins(
    folder: Path,
) -> None:
    log = folder.parent / "log"
    command = f"cat >> {log}; echo >> {log}; echo branch main"
    project_settings(folder, hooks("SessionStart", command))
    with running_double([reply("1"), reply("2"), reply("3")]) as double:
        async with opened(double, folder) as desk:
            assert not log.exists()
            await desk.ask("one")
            await desk.ask("two")
        async with opened(double, folder, session_id=desk.session.id) as again:
            await again.ask("three")
        assert double.prefix_problems() == []
    lines = log.read_text(encoding="utf-8").split("\n")
    assert [json.loads(line)["source"] for line in lines if line] == ["startup", "resume"]
    assert reminders(again, "hook") == ["A SessionStart hook says: branch main"] * 2


@pytest.mark.req("LOOP-10")
async def test_a_stop_hook_sends_the_model_back_to_work_until_it_is_content(folder: Path) -> None:
    done = folder.parent / "done"
    command = f'test -e {done} && exit 0; touch {done}; echo "run the tests" >&2; exit 2'
    project_settings(folder, hooks("Stop", command))
    with running_double([reply("Done."), reply("Now it is.")]) as double:
        async with opened(double, folder) as desk:
            ended = await desk.ask("do it")
        assert "run the tests" in double.requests[1].last_text
    assert (ended.reason, ended.steps) == ("completed", 2)


async def test_a_failure_and_the_end_of_a_session_are_told_to_their_hooks(folder: Path) -> None:
    log = folder.parent / "log"
    both = {
        event: hooks(event, f"cat >> {log}; echo >> {log}")["hooks"][event]
        for event in ("StopFailure", "SessionEnd", "Stop")
    }
    project_settings(folder, {"hooks": both})
    with running_double([http_error(402)]) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("do it")).reason == "failed"
    lines = log.read_text(encoding="utf-8").split("\n")
    told = [json.loads(line) for line in lines if line]
    assert [(each["hook_event_name"], each.get("error")) for each in told] == [
        ("StopFailure", "billing_error"),
        ("SessionEnd", None),
    ]
    assert told[1]["reason"] == "other"


@pytest.mark.req("LOOP-12")
async def test_a_paused_session_ends_its_call_and_waits_and_its_hooks_hear_of_both(
    folder: Path,
) -> None:
    log = folder.parent / "log"
    both = {
        event: hooks(event, f"echo {event} >> {log}")["hooks"][event]
        for event in ("SessionPause", "SessionResume")
    }
    project_settings(folder, {"hooks": both})
    script = [reply(text("Looking", gate("on")), read(folder / "a.txt")), reply("Done.")]
    with running_double(script) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:
            group.start_soon(desk.ask, "look")
            await double.until_gate("on")
            await desk.session.pause.hold()
            double.open("on")
            await until(desk, lambda desk: len(desk.session.history) == 4)
            assert len(double.requests) == 1
            await desk.session.pause.release()
        assert len(double.requests) == 2
    assert log.read_text(encoding="utf-8").split() == ["SessionPause", "SessionResume"]
    assert desk.notices == ["Paused: the next step waits.", "Going on."]


async def test_a_paused_session_can_be_cancelled(folder: Path) -> None:
    with running_double([reply("x")]) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:
            await desk.session.pause.hold()
            group.start_soon(desk.ask, "look")
            await until(desk, lambda desk: desk.session.running)
            desk.session.cancel()
        assert double.requests == []
    assert prompts(desk) == ["look"]


@pytest.mark.req("LOOP-09")
async def test_a_picture_that_the_server_refuses_is_left_out_now_and_after_a_resume(
    folder: Path, home: Path
) -> None:
    broken = Image(media_type="image/png", data="AAAA")
    with running_double(
        [reply("I see."), reply("Next."), reply("Again.")], allow_refusals=True
    ) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("look at this", broken)).reason == "completed"
            assert (await desk.ask("next")).reason == "completed"
        async with opened(double, folder, session_id=desk.session.id) as again:
            assert (await again.ask("again")).reason == "completed"
        assert len(double.refusals) == 1
        assert double.prefix_problems() == []
    prompt = next(m for m in again.session.history if isinstance(m, UserMessage))
    assert prompt.content == (Text(text="look at this"), broken)
    assert any("refuses a picture" in notice for notice in desk.notices)


async def test_thinking_that_is_bound_to_another_conversation_is_left_out_from_then_on(
    folder: Path,
) -> None:
    bound = http_error(400, "messages.1.content.0: The block is bound to a different conversation.")
    script = [reply(thinking("hm"), "One."), bound, reply("Two."), reply("Three."), reply("Four.")]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            await desk.ask("one")
            assert (await desk.ask("two")).reason == "completed"
            assert (await desk.ask("three")).reason == "completed"
        async with opened(double, folder, session_id=desk.session.id) as again:
            assert (await again.ask("four")).reason == "completed"
        kinds = [
            any(b["type"] == "thinking" for m in request.messages for b in m["content"])
            for request in double.requests
        ]
    assert kinds == [False, True, False, False, False]


@pytest.mark.req("MODEL-02")
async def test_the_fallback_model_of_the_settings_answers_after_three_overloads(
    folder: Path,
) -> None:
    settings = {**QUICK, "fallbackModel": ["sonnet", "haiku", "opus"], "model": "sonnet"}
    script = [*[overloaded()] * 3, reply(thinking("hm"), read(folder / "a.txt")), reply("Done.")]
    script.append(reply("And again."))
    with running_double(script) as double:
        async with opened(double, folder, settings=settings) as desk:
            assert (await desk.ask("look")).reason == "completed"
            assert (await desk.ask("once more")).reason == "completed"
        models = [request.model for request in double.requests]
    main, second = "claude-sonnet-5-5", "claude-haiku-5-5"
    assert models == [*[main] * 3, second, second, main]
    assert desk.notices == ["sonnet is overloaded; haiku answers for the rest of this turn."]


@pytest.mark.req("LOOP-13")
async def test_a_token_target_of_the_prompt_ends_the_turn_with_a_report(folder: Path) -> None:
    script = [reply(read(folder / "a.txt"), usage={"output_tokens": 3_000})]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            ended = await desk.ask("+2k look around")
        assert "target of 2,000 output tokens" in double.requests[0].last_text
        assert "output_config" not in double.requests[0].body
    assert (ended.reason, "3,000 output tokens in 1 steps" in str(ended.error)) == ("budget", True)


async def test_a_cancelled_turn_says_how_many_steps_it_took_and_what_it_used(folder: Path) -> None:
    script = [
        reply(read(folder / "a.txt"), usage={"output_tokens": 7}),
        reply(text("half", gate("never"))),
    ]
    with running_double(script) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:
            group.start_soon(desk.ask, "look")
            await double.until_gate("never")
            desk.session.cancel()
        await double.until_outcome(1)
    (ended,) = [event for event in desk.events if isinstance(event, TurnEnded)]
    assert (ended.reason, ended.steps, ended.usage.output_tokens) == ("cancelled", 2, 7)


async def test_the_events_of_a_real_turn_name_the_transitions_of_its_steps(folder: Path) -> None:
    cut = reply(text("half "), stop_reason="max_tokens")
    script = [reply(read(folder / "a.txt")), cut, cut, reply("whole")]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("look")).reason == "completed"
        asked = [request.body["max_tokens"] for request in double.requests]
    assert asked == [32_000, 32_000, 64_000, 64_000]
    steps = [event.transition for event in desk.events if isinstance(event, StepStarted)]
    assert steps == ["prompt", "tools", "larger_output", "cut_at_limit"]
    added = [event for event in desk.events if isinstance(event, MessageAdded)]
    assert len(added) == len(desk.session.history)
    assert not [event for event in desk.events if isinstance(event, Notice)]
