"""Programs are run for real: bounded in time and memory, and nothing of them stays behind."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidelight.process import group
from sidelight.process.capture import Capture
from sidelight.process.run import Finished, run, start

pytestmark = pytest.mark.anyio
NOBODY = 0x7FFFFFFF
ENV = {"PATH": os.environ["PATH"]}


async def sh(line: str, timeout: float | None = None, limit: int = 1 << 20) -> Finished:
    with anyio.fail_after(20):
        return await run(line, cwd="/", env=ENV, timeout=timeout, limit=limit)


async def all_gone(pids: list[int]) -> bool:
    """Whether none of these processes lives, after at most two seconds."""
    with anyio.move_on_after(2):
        while group.is_alive(NOBODY, frozenset(pids)):  # noqa: ASYNC110 - nobody announces it
            await anyio.sleep(0.01)
        return True
    return False


def pids_in(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


async def test_output_and_exit_code_are_exact():
    done = await sh("printf hi; printf err >&2; exit 3")
    assert (done.exit_code, done.signal, done.stdout, done.stderr) == (3, None, b"hi", b"err")
    assert (done.timed_out, done.truncated, done.leftovers) == (False, False, False)


async def test_a_signal_is_told_and_is_no_exit_code():
    done = await sh("kill -9 $$")
    assert (done.exit_code, done.signal) == (None, signal.SIGKILL)


async def test_a_program_gets_its_words_without_a_shell():
    done = await run(["printf", "%s|", "a b", "$HOME", "*"], cwd="/", env=ENV)
    assert done.stdout == b"a b|$HOME|*|"


async def test_without_input_a_program_reads_end_of_file():
    assert (await sh("cat; echo over", timeout=5)).stdout == b"over\n"


async def test_input_arrives_whole_though_the_program_also_writes():
    data = os.urandom(3_000_000)
    done = await run(["cat"], cwd="/", env=ENV, stdin=data, limit=4_000_000)
    assert done.stdout == data


async def test_a_program_that_reads_nothing_of_a_large_input_ends_normally():
    done = await run(["true"], cwd="/", env=ENV, stdin=b"x" * 5_000_000)
    assert done.exit_code == 0


async def test_a_missing_program_is_an_error_of_the_system():
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        await run(["no-such-program"], cwd="/", env=ENV)


async def test_an_unfinished_line_is_an_error_and_does_not_wait():
    """B158: `ls |` waits for more input forever."""
    done = await sh("ls -l |", timeout=2)
    assert done.exit_code == 2
    assert not done.timed_out
    assert b"yntax error" in done.stderr


async def test_a_hanging_command_is_ended_at_its_timeout_with_its_output_kept():
    done = await sh("echo started; sleep 300", timeout=0.3)
    assert (done.timed_out, done.stdout, done.signal) == (True, b"started\n", signal.SIGTERM)


async def test_a_child_that_ignores_sigterm_dies_all_the_same(tmp_path: Path):
    line = f"trap '' TERM; (trap '' TERM; touch {tmp_path}/$$; sleep 300) & sleep 300"
    done = await sh(line, timeout=0.3)
    assert (done.timed_out, done.signal) == (True, signal.SIGKILL)
    assert await all_gone(pids_in(tmp_path))


SPAWN = """
import os, sys, time
folder, width, depth = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
style = sys.argv[4]
def grow(left):
    if style == "own session" and left == 1:
        os.setsid()
    if style == "own group" and left < depth:
        os.setpgid(0, 0)
    open(f"{folder}/{os.getpid()}", "w").close()
    if left:
        for _ in range(width):
            if os.fork() == 0:
                grow(left - 1)
    time.sleep(300)
grow(depth)
"""


@pytest.mark.parametrize("style", ["plain", "own session", "own group"])
async def test_a_tree_of_sleepers_dies_to_the_last_at_the_timeout(tmp_path: Path, style: str):
    words = [sys.executable, "-c", SPAWN, str(tmp_path), "3", "3", style]
    with anyio.fail_after(20):
        child = await start(words, cwd="/", env=ENV)
        while len(pids_in(tmp_path)) < 40:  # noqa: ASYNC110 - other processes write there
            await anyio.sleep(0.01)
        assert await child.end()
    assert await all_gone(pids_in(tmp_path))


async def test_cancelling_kills_the_whole_group(tmp_path: Path):
    """B136: the tree of a shell command outlives the one who started it."""
    line = f"sleep 300 & touch {tmp_path}/$!; touch {tmp_path}/$$; sleep 300"
    with anyio.fail_after(10), anyio.CancelScope() as scope:

        def cancel(_: bytes) -> None:
            scope.cancel()

        await run(line + " & echo ready; wait", cwd="/", env=ENV, on_output=cancel)
    assert scope.cancelled_caught
    assert len(pids_in(tmp_path)) == 2
    assert await all_gone(pids_in(tmp_path))


async def test_a_child_that_keeps_the_pipe_does_not_hold_up_the_result(tmp_path: Path):
    done = await sh(f"sleep 300 & touch {tmp_path}/$!; echo done", timeout=10)
    assert (done.stdout, done.exit_code, done.timed_out) == (b"done\n", 0, False)
    assert done.leftovers
    assert await all_gone(pids_in(tmp_path))


async def test_a_quiet_child_left_behind_is_ended_too(tmp_path: Path):
    done = await sh(f"sleep 300 >/dev/null 2>&1 & touch {tmp_path}/$!", timeout=10)
    assert (done.exit_code, done.leftovers) == (0, True)
    assert await all_gone(pids_in(tmp_path))


async def test_a_daemon_that_left_the_session_and_holds_the_pipe_does_not_hang_us(tmp_path: Path):
    done = await sh(f"setsid sh -c 'touch {tmp_path}/$$; sleep 8' & sleep 0.2; exit 4", timeout=10)
    assert (done.exit_code, done.timed_out) == (4, False)
    for pid in pids_in(tmp_path):
        os.kill(pid, signal.SIGKILL)


async def test_a_chatty_child_left_behind_does_not_hang_us():
    done = await sh("yes & exit 0", timeout=10, limit=1000)
    assert (done.exit_code, done.timed_out, done.leftovers) == (0, False, True)


async def test_last_words_of_a_child_that_is_still_writing_are_kept():
    done = await sh("(sleep 0.1; echo late) & echo early", timeout=10)
    assert (done.stdout, done.leftovers) == (b"early\nlate\n", False)


async def test_a_program_that_closes_its_output_is_waited_for():
    done = await sh("exec >&- 2>&-; sleep 0.2; exit 7", timeout=10)
    assert (done.exit_code, done.timed_out) == (7, False)


async def test_two_hundred_megabytes_of_output_stay_bounded_and_keep_head_and_tail():
    peak = 0

    def watch(_: bytes) -> None:
        nonlocal peak
        peak = max(peak, _resident())

    before = _resident()
    with anyio.fail_after(60):
        done = await run(
            "echo first; head -c 200000000 /dev/zero; echo last",
            cwd="/",
            env=ENV,
            on_output=watch,
            limit=10_000,
        )
    assert done.stdout.startswith(b"first\n")
    assert done.stdout.endswith(b"last\n")
    assert b"[... 199990011 bytes left out ...]" in done.stdout
    assert done.truncated
    assert peak - before < 20_000_000


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def test_a_slow_reader_holds_the_writer_back_and_loses_nothing():
    child = await start("head -c 3000000 /dev/zero", cwd="/", env=ENV, merge=True)
    read = 0
    try:
        with anyio.fail_after(20):
            await anyio.sleep(0.5)
            while (piece := await child.next_output()) is not None:
                read += len(piece.data)
    finally:
        await child.end()
    assert read == 3_000_000


async def test_merged_streams_keep_the_order_in_which_they_were_written():
    child = await start("echo a; echo b >&2; echo c", cwd="/", env=ENV, merge=True)
    text = b""
    try:
        while (piece := await child.next_output()) is not None:
            text += piece.data
    finally:
        assert not await child.end()
    assert text == b"a\nb\nc\n"


async def test_no_zombie_stays_behind():
    done = [await sh("exit 0"), await sh("sleep 5", timeout=0.05)]
    assert len(done) == 2
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # noqa: ASYNC222 - it does not wait


async def test_an_error_of_the_listener_ends_the_command(tmp_path: Path):
    def fail(_: bytes) -> None:
        raise ValueError("too much")

    with anyio.fail_after(10), pytest.raises(ValueError, match="too much"):
        await run(f"touch {tmp_path}/$$; echo x; sleep 300", cwd="/", env=ENV, on_output=fail)
    assert await all_gone(pids_in(tmp_path))


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(min_value=1, max_value=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_capture_keeps_head_and_tail_of_whatever_comes(pieces: list[bytes], limit: int):
    capture = Capture(limit)
    for piece in pieces:
        capture.add(piece)
    whole = b"".join(pieces)
    if len(whole) <= limit:
        assert (capture.content(), capture.dropped) == (whole, 0)
    else:
        head, tail = whole[: limit // 2], whole[len(whole) - (limit - limit // 2) :]
        left_out = b"\n[... %d bytes left out ...]\n" % (len(whole) - limit)
        assert capture.content() == head + left_out + tail
