"""Every fault, at the first, a middle and the last step, while text or a tool's input is streamed.

Over the real SDK and real HTTP to the strict double, which refuses a history that is not valid.
"""

import resource
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from sidelight.agent.executor import INTERRUPTED
from sidelight.core.content import Text
from sidelight.core.events import Event, Notice, TurnEnded
from sidelight.core.messages import AssistantMessage, UserMessage
from sidelight.core.tool import Progress, ToolContext, ToolOutput
from sidelight.transcripts.replay import replay
from sidelight.transcripts.store import folder_for
from tests.builders import results
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import Answer, reply
from tests.fakes.tools import StepInput, StepTool
from tests.faults import FAULTS, Fault, Streaming, prints
from tests.real_session import Desk, opened, read

pytestmark = pytest.mark.anyio
RETRY = {"firstMs": 1, "longestMs": 2}
STEPS = {"first": 0, "middle": 1, "last": 2}


class SoreTool(StepTool):
    """Answers a cancel with an error of its own."""

    async def run(
        self, input: StepInput, context: ToolContext
    ) -> AsyncGenerator[Progress | ToolOutput]:
        try:
            async for item in super().run(input, context):
                yield item
        except BaseException as error:
            raise RuntimeError("not now") from error


def right_steps(folder: Path, streaming: Streaming) -> list[Answer]:
    """A turn that reads two files and answers."""
    before = ("I read.",) if streaming == "text" else ()
    reads = [reply(*before, read(folder / name)) for name in ("one.txt", "two.txt")]
    return [*reads, reply("Done.")]


def script(fault: Fault, at: int, folder: Path, streaming: Streaming) -> list[Answer]:
    """The turn with the fault at one of its steps, and a turn that shows that the session lives."""
    steps = right_steps(folder, streaming)
    rest = [] if fault.replaces else steps[at:]
    played = fault.plays(streaming, folder)
    return [*steps[:at], *played, *rest, reply("And here I am.")]


@contextmanager
def full_disk() -> Generator[None]:
    """Files may not grow: writes fail as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def orphans(home: Path) -> list[str]:
    """Living processes that came out of this test: they know its home, whoever owns them now."""
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/environ") if _of(path, home)]


def _of(environ: Path, home: Path) -> bool:
    try:
        return f"HOME={home}".encode() in environ.read_bytes().split(b"\0")
    except OSError:
        return False  # it has ended, or is another user's


def watch(desk: Desk, fault: Fault) -> None:
    """The tools at fault are there, and the person stops the turn when it is time."""
    desk.session.parts.tools.update({"Faulty": StepTool("Faulty"), "Sore": SoreTool("Sore")})

    def stop(event: Event) -> bool:
        if fault.cancel is not None and fault.cancel(event):
            desk.session.cancel()
        return False

    desk.hold = stop


async def first_turn(desk: Desk, fault: Fault) -> TurnEnded:
    if not fault.full_disk:
        return await desk.ask("the first words")
    with full_disk():
        return await desk.ask("the first words")


def met(fault: Fault, streaming: Streaming) -> Fault:
    """The fault as it is met: a stall is reported when people have read half an answer."""
    if fault.name != "a stall" or streaming == "tool":
        return fault
    return replace(fault, reason="failed", said="What had arrived is kept", replaces=True)


@pytest.mark.parametrize("streaming", get_args(Streaming))
@pytest.mark.parametrize("where", STEPS)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
async def test_after_every_fault_the_session_is_whole_and_goes_on(
    fault: Fault, where: str, streaming: Streaming, tmp_path: Path, home: Path
) -> None:
    for name in ("one.txt", "two.txt", "half.txt"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8")
    fault = met(fault, streaming)
    own: dict[str, Any] = {"retry": RETRY, **fault.own}
    with running_double(script(fault, STEPS[where], tmp_path, streaming)) as double:
        chosen = {"sidelight": own}
        async with opened(double, tmp_path, mode="bypassPermissions", settings=chosen) as desk:
            watch(desk, fault)
            ended = await first_turn(desk, fault)
            assert ended.reason == fault.reason
            assert fault.said in (ended.error or "")
            assert desk.events[-1] == ended
            assert not desk.session.running and desk.session.queued == ()
            assert (await desk.ask("and now?")).reason == "completed"
        assert double.unplayed == 0
    assert_whole(desk, home)
    assert orphans(home) == []


def assert_whole(desk: Desk, home: Path) -> None:
    """No prompt is lost, every call has one result, and the disk has what the session has."""
    history = desk.session.history
    typed = [m for m in history if isinstance(m, UserMessage) and m.origin == "typed"]
    assert [m.content for m in typed] == [(Text(text="the first words"),), (Text(text="and now?"),)]
    called = [c.id for m in history if isinstance(m, AssistantMessage) for c in m.tool_uses]
    assert sorted(name for name, _, _ in results(history)) == sorted(called)
    assert len([event for event in desk.events if isinstance(event, TurnEnded)]) == 2
    place = folder_for(home / "sidelight", desk.session.cwd)
    kept = replay(place / f"{desk.session.id}.jsonl")
    assert (kept.messages, kept.waiting) == (history, {})
    assert sum(len(message.model_dump_json()) for message in history) < 500_000


async def test_a_full_disk_is_said_and_what_it_refused_is_written_when_it_has_room(
    tmp_path: Path, home: Path
) -> None:
    with running_double([reply("One."), reply("Two.")]) as double:
        async with opened(double, tmp_path) as desk:
            with full_disk():
                assert (await desk.ask("the first words")).reason == "completed"
            assert (await desk.ask("and now?")).reason == "completed"
    assert_whole(desk, home)
    said = [event.text for event in desk.events if isinstance(event, Notice)]
    assert len(said) == 1 and said[0].startswith("This conversation is not being saved")


@pytest.mark.req("LOOP-04")
async def test_a_cancel_does_not_wait_for_a_child_that_ignores_it_and_leaves_none(
    tmp_path: Path, home: Path
) -> None:
    (stubborn,) = [fault for fault in FAULTS if fault.name == "a child that ignores SIGTERM"]
    seen: list[str] = []
    with running_double(stubborn.plays("tool", tmp_path)) as double:
        async with opened(double, tmp_path, mode="bypassPermissions") as desk:

            def stop(event: Event) -> bool:
                if prints("ready")(event):
                    seen.extend(orphans(home))
                    desk.session.cancel()
                return False

            desk.hold = stop
            with anyio.fail_after(10):
                assert (await desk.ask("run")).reason == "cancelled"
    assert seen != []
    assert orphans(home) == []
    (result,) = results(desk.session.history)
    assert result[1:] == (INTERRUPTED, True)
