"""A session as the program builds it: prompts, files, reviews, transcripts, the prefix."""

from pathlib import Path

import anyio
import pytest

from sidelight.core.content import Text
from sidelight.core.events import MessageAdded, QueueChanged, ToolCallEnded
from sidelight.core.messages import Attachment, UserMessage
from sidelight.transcripts.replay import Replay, replay
from sidelight.transcripts.store import folder_for
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import gate, http_error, reply, text, thinking
from tests.real_session import SECONDS, Desk, bash, edit, opened, read

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = (tmp_path / "project").resolve()
    made.mkdir()
    (made / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\nseven\n", encoding="utf-8")
    return made


def stored(desk: Desk, home: Path) -> Replay:
    place = folder_for(home / "sidelight", desk.session.cwd)
    return replay(place / f"{desk.session.id}.jsonl")


def said(desk: Desk) -> list[tuple[str, str]]:
    """Prompts and answers of the history, in words."""
    return [
        (
            message.origin if isinstance(message, UserMessage) else "answer",
            "".join(block.text for block in message.content if isinstance(block, Text)),
        )
        for message in desk.session.history
        if not isinstance(message, Attachment) and any(b.type == "text" for b in message.content)
    ]


async def test_a_prompt_reads_and_edits_a_file_and_the_change_waits_for_review(
    folder: Path, home: Path
) -> None:
    file = folder / "a.txt"
    script = [reply(read(file)), reply("So.", edit(file, "two", "TWO")), reply("Done.")]
    with running_double(script) as double:
        async with opened(double, folder, mode="acceptEdits") as desk:
            ended = await desk.ask("change it")
            assert (ended.reason, ended.error, ended.steps) == ("completed", None, 3)
            assert file.read_text(encoding="utf-8").splitlines()[:2] == ["one", "TWO"]
            (pending,) = desk.session.review.pending()
            assert (pending.path, len(pending.hunks)) == (str(file), 1)
            kept = stored(desk, home)
            assert kept.messages == desk.session.history
            assert [call.outcome for call in kept.calls.values()] == ["done", "done"]
            assert kept.usage == ended.usage
    told = [event.message for event in desk.events if isinstance(event, MessageAdded)]
    assert told == desk.session.history


@pytest.mark.req("LOOP-05")
async def test_a_prompt_typed_while_a_turn_runs_joins_it_at_the_next_step(
    folder: Path, home: Path
) -> None:
    script = [reply(text("Looking", gate("more"), "."), read(folder / "a.txt")), reply("Both.")]
    with running_double(script) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:
            group.start_soon(desk.ask, "first")
            await double.until_gate("more")
            group.start_soon(desk.ask, "and second")
            with anyio.fail_after(SECONDS):
                while not any(isinstance(e, QueueChanged) and e.prompts for e in desk.events):
                    await anyio.lowlevel.checkpoint()
            assert list(stored(desk, home).waiting.values())[0].content == (
                Text(text="and second"),
            )
            double.open("more")
        assert "and second" in double.requests[1].last_text
    assert said(desk) == [
        ("typed", "first"),
        ("answer", "Looking."),
        ("steering", "and second"),
        ("answer", "Both."),
    ]
    queues = [event.prompts for event in desk.events if isinstance(event, QueueChanged)]
    assert [[one.content for one in queue] for queue in queues] == [
        [],
        [(Text(text="and second"),)],
        [],
    ]


@pytest.mark.req("LOOP-03")
async def test_a_call_has_ended_before_the_next_block_leaves_the_server(folder: Path) -> None:
    file = folder / "a.txt"
    script = [reply("So.", read(file), gate("next"), edit(file, "two", "TWO")), reply("Done.")]
    with running_double(script) as double:
        async with (
            opened(double, folder, mode="acceptEdits") as desk,
            anyio.create_task_group() as group,
        ):
            group.start_soon(desk.ask, "change it")
            await double.until_gate("next")
            with anyio.fail_after(SECONDS):
                while not any(isinstance(event, ToolCallEnded) for event in desk.events):
                    await anyio.lowlevel.checkpoint()
            assert double.outcome(double.requests[0]) is None
            double.open("next")
        assert len(double.requests[1].tool_results) == 2
    assert file.read_text(encoding="utf-8").splitlines()[1] == "TWO"


@pytest.mark.req("LOOP-05")
async def test_a_prompt_that_waited_when_the_turn_was_cancelled_runs_next(folder: Path) -> None:
    with running_double([reply(text("half", gate("never"))), reply("Second.")]) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:
            group.start_soon(desk.ask, "first")
            await double.until_gate("never")
            group.start_soon(desk.ask, "second")
            with anyio.fail_after(SECONDS):
                while not desk.session.queued:
                    await anyio.lowlevel.checkpoint()
            desk.session.cancel()
        assert await double.until_outcome(0) == "client left"
    assert said(desk) == [
        ("typed", "first"),
        ("answer", "half"),
        ("typed", "second"),
        ("answer", "Second."),
    ]


async def test_a_cancel_right_after_the_prompt_ends_the_turn_that_is_about_to_begin(
    folder: Path, home: Path
) -> None:
    with running_double([reply("Second.")]) as double:
        async with opened(double, folder) as desk:
            async with anyio.create_task_group() as group:
                group.start_soon(desk.ask, "first")
                with anyio.fail_after(SECONDS):
                    while not desk.session.queued:
                        await anyio.lowlevel.checkpoint()
                assert not desk.session.running
                desk.session.cancel()
            assert double.requests == []
            assert said(desk) == [("typed", "first")]
            assert (await desk.ask("second")).reason == "completed"
            assert stored(desk, home).messages == desk.session.history
            assert stored(desk, home).waiting == {}
    assert said(desk) == [("typed", "first"), ("typed", "second"), ("answer", "Second.")]


@pytest.mark.req("LOOP-04")
async def test_a_cancel_in_every_state_closes_the_stream_and_the_next_prompt_is_accepted(
    folder: Path,
) -> None:
    file = folder / "a.txt"
    replies = [
        reply("never", hold="never"),
        reply(text("half", gate("never"))),
        reply(thinking("hm", gate("never")), "so"),
        reply(read(file), bash("sleep 600"), text("on", gate("never"))),
    ]
    for first in replies:
        with running_double([first, reply("Next.")]) as double:
            async with opened(double, folder, mode="bypassPermissions") as desk:
                async with anyio.create_task_group() as group:
                    group.start_soon(desk.ask, "first")
                    await double.until_requests(1)
                    if first.hold is None:
                        await double.until_gate("never")
                    group.cancel_scope.deadline = anyio.current_time() + 1
                    desk.session.cancel()
                assert not group.cancel_scope.cancelled_caught
                assert await double.until_outcome(0) == "client left"
                assert (await desk.ask("next")).reason == "completed"


async def test_a_session_that_closes_runs_no_prompt_that_still_waits(
    folder: Path, home: Path
) -> None:
    with running_double([reply(text("half", gate("never"))), reply("Later.")]) as double:
        async with opened(double, folder) as desk, anyio.create_task_group() as group:
            group.start_soon(desk.ask, "first")
            await double.until_gate("never")
            group.start_soon(desk.ask, "second")
            with anyio.fail_after(SECONDS):
                while not desk.session.queued:
                    await anyio.lowlevel.checkpoint()
                await desk.session.close()
        assert len(double.requests) == 1
        assert (await desk.ask("third")).error == (
            "This conversation is closed; open it again to go on."
        )
        async with opened(double, folder, session_id=desk.session.id) as again:
            await again.ask("third")
    assert [words for _, words in said(again)] == ["first", "half", "second", "third", "Later."]


@pytest.mark.req("LOOP-11")
async def test_every_request_extends_the_one_before_through_modes_reviews_and_a_resume(
    folder: Path,
) -> None:
    file = folder / "a.txt"
    script = [
        reply(thinking("I look"), "Look.", read(file)),
        reply(edit(file, "two", "TWO"), edit(file, "six", "SIX")),
        reply("Done."),
        reply("A plan."),
        reply(read(file)),
        reply("Resumed."),
        reply("More."),
    ]
    with running_double(script) as double:
        async with opened(double, folder, mode="acceptEdits") as desk:
            await desk.ask("change it")
            (pending,) = desk.session.review.pending()
            done = await desk.session.reviewing.undo(str(file), pending.hunks[0].id)
            assert done == (1, None)
            assert await desk.session.reviewing.keep(str(file), None) == 1
            await desk.session.set_mode("plan")
            await desk.ask("plan it")
            before = list(desk.session.history)
        async with opened(double, folder, session_id=desk.session.id) as again:
            assert again.session.history == before
            assert again.session.mode == "default"
            await again.ask("go on")
            await again.ask("and on")
        assert double.prefix_problems() == []
        bodies = [request.last_text for request in double.requests]
    assert "The user undid a change of yours" in bodies[3]
    kinds = [m.kind for m in again.session.history if isinstance(m, Attachment)]
    assert kinds == ["opening", "review", "mode-plan", "mode-default"]
    assert file.read_text(encoding="utf-8") == "one\ntwo\nthree\nfour\nfive\nSIX\nseven\n"


async def test_reviews_outlive_the_process_and_are_undone_after_a_resume(folder: Path) -> None:
    file = folder / "a.txt"
    script = [reply(read(file)), reply(edit(file, "two", "TWO")), reply("Done."), reply("I see.")]
    with running_double(script) as double:
        async with opened(double, folder, mode="acceptEdits") as desk:
            await desk.ask("change it")
            files = dict(desk.session.review.files())
        async with opened(double, folder, session_id=desk.session.id) as again:
            assert dict(again.session.review.files()) == files
            assert await again.session.reviewing.undo(None, None) == (1, None)
            assert again.session.review.pending() == ()
            await again.ask("well?")
        assert "The user undid a change of yours" in double.requests[-1].last_text
    assert file.read_text(encoding="utf-8").splitlines()[1] == "two"


async def test_an_undo_of_a_file_that_changed_meanwhile_says_so_and_changes_nothing(
    folder: Path,
) -> None:
    file = folder / "a.txt"
    script = [reply(read(file)), reply(edit(file, "two", "TWO")), reply("Done.")]
    with running_double(script) as double:
        async with opened(double, folder, mode="acceptEdits") as desk:
            await desk.ask("change it")
            file.write_text("quite another text\n", encoding="utf-8")
            count, problem = await desk.session.reviewing.undo(None, None)
    assert count == 0
    assert problem
    assert file.read_text(encoding="utf-8") == "quite another text\n"


async def test_a_file_that_the_user_changed_is_told_once_with_its_lines(folder: Path) -> None:
    file = folder / "a.txt"
    script = [reply(read(file)), reply("Read."), reply("I see."), reply("Nothing new.")]
    with running_double(script) as double:
        async with opened(double, folder) as desk:
            await desk.ask("read it")
            changed = file.read_text(encoding="utf-8").replace("two", "2")
            file.write_text(changed, encoding="utf-8")
            await desk.session.text_changed(str(file), changed)
            await desk.ask("and?")
            await desk.session.text_changed(str(file), changed)
            await desk.ask("and now?")
        told = [m for m in desk.session.history if isinstance(m, Attachment)]
        assert [m.kind for m in told] == ["opening", "file_changed"]
        assert "-two\n+2" in told[1].text
        assert double.prefix_problems() == []


async def test_half_a_character_in_a_prompt_is_mended_and_stored(folder: Path, home: Path) -> None:
    with running_double([reply("Yes.")]) as double:
        async with opened(double, folder) as desk:
            assert (await desk.ask("a \ud83d b")).reason == "completed"
            assert stored(desk, home).messages == desk.session.history
    assert said(desk)[0] == ("typed", "a \ufffd b")


async def test_a_failed_answer_leaves_the_prompt_for_the_next_turn(folder: Path) -> None:
    with running_double([http_error(401), reply("I see both.")]) as double:
        async with opened(double, folder) as desk:
            ended = await desk.ask("first")
            assert (ended.reason, double.api_key in str(ended.error)) == ("failed", False)
            assert (await desk.ask("second")).reason == "completed"
    assert [words for _, words in said(desk)] == ["first", "second", "I see both."]
