"""Commands that run on: started so, moved at their time limit or by a person, read and stopped."""

import os
import re
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from sidelight.background.tasks import Background
from sidelight.core.errors import ToolError
from sidelight.core.events import Event, TasksChanged
from sidelight.process import group
from sidelight.tools.bash.tool import Bash
from tests.unit.tools.shell_bench import Bench, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-07")]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    with anyio.fail_after(20):
        await made.background.close()


def pipe_in(bench: Bench, name: str = "gate") -> anyio.Path:
    """A named pipe: who reads it waits for a word."""
    os.mkfifo(bench.root / name)
    return anyio.Path(bench.root / name)


async def say(pipe: anyio.Path, word: str = "go\n") -> None:
    with anyio.fail_after(10):
        await pipe.write_text(word, encoding="utf-8")


async def hear(pipe: anyio.Path) -> str:
    with anyio.fail_after(10):
        return await pipe.read_text(encoding="utf-8")


async def test_a_background_command_returns_at_once_and_its_end_is_told_once(bench: Bench) -> None:
    gate = pipe_in(bench)
    output = await bench.leave("echo first; cat gate; echo second")
    file = bench.scratch / "bash-toolu_1.txt"
    assert text_of(output) == (
        "The command was started as the background task s1, for 1800 s at most. TaskOutput waits "
        "for it and shows what is new, TaskStop ends it; you will be told when it ends. All its "
        f"output goes to {file}"
    )
    assert output.data == {
        "stdout": "",
        "stderr": "",
        "interrupted": False,
        "backgroundTaskId": "s1",
        "rawOutputPath": str(file),
    }
    assert bench.news() == []
    await say(gate)
    assert await bench.look("s1") == "The task s1 has ended.\nfirst\ngo\nsecond"
    assert file.read_text(encoding="utf-8") == "first\ngo\nsecond\n"
    assert bench.news() == []
    assert sorted(path.name for path in bench.scratch.iterdir()) == [file.name]


async def test_an_end_that_nobody_looked_at_is_news_with_the_last_words(bench: Bench) -> None:
    await bench.leave("echo one; ls /none; exit 7")
    with anyio.fail_after(10):
        await bench.background.idle()
    (told,) = bench.news()
    file = bench.scratch / "bash-toolu_1.txt"
    assert told == (
        "The background task s1 (echo one; ls /none; exit 7) failed with exit code 7. "
        f"Its output is in {file}; the end of it:\n> one\n"
        "> ls: cannot access '/none': No such file or directory"
    )
    assert bench.news() == []


async def test_the_output_file_holds_everything_while_the_command_runs(bench: Bench) -> None:
    gate, ready = pipe_in(bench), pipe_in(bench, "ready")
    await bench.leave("printf 'no line end'; echo > ready; cat gate")
    await hear(ready)
    first = await bench.look("s1", block=False)
    assert first.startswith("The task s1 is running.\n")
    with anyio.fail_after(10):
        while "no line end" not in await bench.look("s1", block=False):
            if (bench.scratch / "bash-toolu_1.txt").read_text() == "no line end":
                break
            await anyio.sleep(0.01)
    assert (bench.scratch / "bash-toolu_1.txt").read_text() == "no line end"
    await say(gate, "x")


async def test_each_piece_is_shown_once_and_waiting_has_a_bound(bench: Bench) -> None:
    gate = pipe_in(bench)
    await bench.leave("echo one; cat gate; echo two")
    with anyio.fail_after(10):
        while "one" not in await bench.look("s1", timeout=50):
            pass
    assert await bench.look("s1", timeout=50) == "The task s1 is running.\n(nothing new)"
    await say(gate, "")
    assert await bench.look("s1") == "The task s1 has ended.\ntwo"
    assert await bench.look("s1") == "The task s1 has ended.\n(nothing new)"


async def test_a_task_is_stopped_with_all_its_children(bench: Bench) -> None:
    ready = pipe_in(bench, "ready")
    await bench.leave("sleep 300 & echo $$ $! > ready; trap '' TERM; wait; sleep 300")
    pids = [int(word) for word in (await hear(ready)).split()]
    output = await bench.stop(task_id="s1")
    message = f"The task s1 was stopped. Its output is in {bench.scratch / 'bash-toolu_1.txt'}."
    assert text_of(output) == message
    assert output.data == {
        "message": message,
        "task_id": "s1",
        "task_type": "shell",
        "command": "sleep 300 & echo $$ $! > ready; trap '' TERM; wait; sleep 300",
    }
    assert not group.is_alive(pids[0], frozenset(pids))
    assert bench.news() == []
    with pytest.raises(ToolError, match=r"s1 was stopped: by TaskStop; there is nothing to stop"):
        await bench.stop(shell_id="s1")
    with pytest.raises(ToolError, match=r"no background task 's9'. None is running"):
        await bench.look("s9")


async def test_tasks_end_when_the_session_ends(bench: Bench) -> None:
    ready = pipe_in(bench, "ready")
    await bench.leave("trap '' TERM; sleep 300 & echo $$ $! > ready; wait")
    pids = [int(word) for word in (await hear(ready)).split()]
    with anyio.fail_after(10):
        await bench.background.close()
    assert not group.is_alive(pids[0], frozenset(pids))
    assert bench.background.running == ()


async def test_what_a_task_leaves_running_ends_with_it(bench: Bench) -> None:
    ready = pipe_in(bench, "ready")
    await bench.leave("sleep 300 >/dev/null 2>&1 & echo $! > ready")
    pid = int(await hear(ready))
    assert (await bench.look("s1")).startswith("The task s1 has ended.")
    assert not group.is_alive(pid, frozenset([pid]))


async def test_a_task_has_a_life_limit(bench: Bench) -> None:
    await bench.leave("echo begun; sleep 300", timeout=300)
    assert await bench.look("s1") == ("The task s1 was stopped: its time limit of 0.3 s.\nbegun")


# --- moved at the time limit, or by a person ------------------------------------------------------


async def test_a_command_over_its_time_goes_on_in_the_background(bench: Bench) -> None:
    """TOOL-07; long builds that are killed at a timeout are a public complaint of such tools."""
    gate = pipe_in(bench)
    output = await bench.run("echo building; cat gate; echo built", timeout=300)
    text = text_of(output)
    assert text.startswith(
        "The command takes longer than its time limit of 0.3 s and goes on as the background task "
        "s1, for 1800 s at most. "
    )
    assert text.endswith("\nOutput so far:\nbuilding")
    assert not output.is_error
    assert output.data["backgroundTaskId"] == "s1"
    assert output.data["timedOutAfterMs"] == 300
    assert not output.data["interrupted"]
    await say(gate, "")
    assert await bench.look("s1") == "The task s1 has ended.\nbuilt"


@pytest.mark.parametrize(
    ("command", "goes_on"),
    [
        ("make all", True),
        ("cd sub && npm test | tee log", True),
        ("sleep 100", False),
        ("git fetch", False),
        ("make && /usr/bin/git push", False),
        ("timeout 100 git fetch", False),
        ("$TOOL build", False),
        ("make; echo 'open", False),
        ("./run git", True),
    ],
)
def test_what_waits_holds_locks_or_cannot_be_read_is_stopped(command: str, goes_on: bool) -> None:
    assert Bash().may_go_on(command) is goes_on


async def test_a_command_over_its_time_that_asks_is_stopped_and_told(bench: Bench) -> None:
    pipe_in(bench)
    output = await bench.run("printf 'Overwrite a.txt? [y/N] '; cat gate", timeout=300)
    text = text_of(output)
    assert text.startswith("The command was stopped at its time limit of 0.3 s;")
    assert text.endswith(
        "It seems to have asked something that nobody can answer, standard input is empty: "
        "Overwrite a.txt? [y/N]\n"
        "Use an option that answers (such as --yes), or pipe the answer in."
    )
    assert bench.background.running == ()


async def test_a_person_moves_a_running_command_to_the_background(bench: Bench) -> None:
    gate, ready = pipe_in(bench), pipe_in(bench, "ready")
    results: list[str] = []

    async def run() -> None:
        output = await bench.run("echo begun; echo > ready; cat gate; echo over")
        assert output.data["backgroundedByUser"] is True
        results.append(text_of(output))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group_of_tests:
            group_of_tests.start_soon(run)
            await hear(ready)
            await bench.shown.wait()  # then its output is being read
            assert bench.background.move("toolu_1")
    assert results[0].startswith("The user moved the command to the background; it goes on as ")
    assert not bench.background.move("toolu_1")
    await say(gate, "")
    assert (await bench.look("s1")).splitlines()[-1] == "over"


async def test_a_command_that_has_ended_cannot_be_moved(bench: Bench) -> None:
    await bench.run("true")
    assert not bench.background.move("toolu_1")


async def test_where_background_tasks_are_off_a_command_is_stopped(bench: Bench) -> None:
    bench.limits = {"background": False}
    output = await bench.run("echo a; while true; do read -t 9 < /dev/zero; done", timeout=300)
    assert (output.is_error, output.data["interrupted"]) == (True, True)
    with pytest.raises(ToolError, match="background tasks are switched off here"):
        await bench.leave("true")


async def test_cancelling_a_call_does_not_touch_the_tasks(bench: Bench) -> None:
    gate, ready = pipe_in(bench), pipe_in(bench, "ready")
    await bench.leave("cat gate; echo over")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as calls:
            calls.start_soon(bench.run, "echo > ready; sleep 300")
            await hear(ready)
            calls.cancel_scope.cancel()
    await say(gate, "")
    assert await bench.look("s1") == "The task s1 has ended.\nover"


# --- bounds --------------------------------------------------------------------------------------


async def test_there_is_a_bound_of_running_tasks_and_what_runs_is_named(
    bench: Bench,
) -> None:
    bench.background = Background(most_running=2)
    for _ in range(2):
        await bench.leave("sleep 300")
    with pytest.raises(ToolError, match=r"2 background tasks run already.*s1 \(sleep 300\), s2"):
        await bench.leave("true")
    await bench.stop(task_id="s1")
    assert (await bench.leave("true")).data["backgroundTaskId"] == "s3"


async def test_much_output_is_bounded_in_memory_and_whole_in_the_file(bench: Bench) -> None:
    await bench.leave("seq 1 200000")
    text = await bench.look("s1")
    file = bench.scratch / "bash-toolu_1.txt"
    whole = "".join(f"{n}\n" for n in range(1, 200_001))
    assert file.read_text(encoding="utf-8") == whole
    left_out = re.search(
        r"\[\.\.\. (\d+) characters left out; the whole output is in (\S+), ", text
    )
    assert left_out is not None
    assert (int(left_out[1]), left_out[2]) == (len(whole) - 30_000, str(file))
    assert text.endswith("\n199999\n200000")
    assert len(text) < 30_400


async def test_secrets_do_not_reach_the_file(bench: Bench) -> None:
    bench.environment = {**bench.environment, "DEPLOY_TOKEN": "tok-0123456789"}
    await bench.leave("echo $DEPLOY_TOKEN")
    assert await bench.look("s1") == "The task s1 has ended.\n[DEPLOY_TOKEN hidden]"
    assert "0123456789" not in (bench.scratch / "bash-toolu_1.txt").read_text(encoding="utf-8")


async def test_a_task_that_seems_to_wait_for_an_answer_is_told_once(
    bench: Bench,
) -> None:
    bench.background = Background(quiet_s=0.05)
    pipe_in(bench)
    await bench.leave("printf 'Password for me: '; cat gate")
    told: list[str] = []
    with anyio.fail_after(10):
        while not told:
            await anyio.sleep(0.01)
            told = bench.news()
    assert told == [
        "The background task s1 (printf 'Password for me: '; cat gate) seems to wait for an "
        "answer: Password for me:\nNobody can type there. Stop it, and start it with an option or "
        "an input that answers."
    ]
    assert bench.news() == []


async def test_whoever_listens_hears_what_runs(bench: Bench) -> None:
    heard: list[list[str]] = []

    async def sink(event: Event) -> None:
        assert isinstance(event, TasksChanged)
        heard.append([f"{task.id} {task.kind} {task.status}" for task in event.tasks])

    bench.background.sink = sink
    await bench.leave("sleep 300")
    await bench.monitor("sleep 300")
    await bench.stop(task_id="s1")
    with anyio.fail_after(10):
        await bench.background.close()
    assert heard[-1] == []
    assert ["s1 shell running", "m2 monitor running"] in heard
    assert ["m2 monitor running"] in heard


# --- monitors ------------------------------------------------------------------------------------


async def test_a_monitors_lines_are_told_and_waited_for(bench: Bench) -> None:
    gate = pipe_in(bench)
    command = "echo one; sh watch.sh >&2; cat gate; echo three"
    (bench.root / "watch.sh").write_text("echo aside\n", encoding="utf-8")
    output = await bench.monitor(command, timeout_ms=9_000)
    assert output.data == {"taskId": "m1", "timeoutMs": 9_000}
    assert "The monitor m1 watches for 9 s at most." in text_of(output)
    with anyio.fail_after(10):
        await bench.background.get("m1").changed()
    (told,) = bench.news()
    assert told == f"The monitor m1 ({command}) printed:\n> one"
    await say(gate, "two\n")
    assert "two" in await bench.look("m1")
    with anyio.fail_after(10):
        await bench.background.idle()
    rest = "\n".join([*bench.news(), await bench.look("m1")])
    file = bench.scratch / "bash-toolu_1.txt"
    assert sorted(file.read_text(encoding="utf-8").split()) == ["aside", "one", "three", "two"]
    assert f"The monitor m1 ({command}) has ended. All it said is in {file}." in rest
    assert "> aside" not in rest


async def test_a_monitor_that_floods_is_cut_and_counted(bench: Bench) -> None:
    await bench.monitor("seq 1 5000")
    with anyio.fail_after(10):
        await bench.background.idle()
    (told,) = bench.news()
    lines = told.splitlines()
    assert lines[1] == "> [... 4900 earlier lines left out ...]"
    assert (lines[2], lines[101]) == ("> 4901", "> 5000")


async def test_web_sockets_are_refused_with_what_to_do_instead(bench: Bench) -> None:
    with pytest.raises(ToolError, match="run a program that prints it"):
        await bench.monitor("true", ws={"url": "ws://localhost"})
