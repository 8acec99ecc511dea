"""A server that goes away, however, leaves no process of its commands behind."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sidelight.process import group
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import Block, Reply, reply, tool_use
from tests.headless import SECONDS, sidelight, started, wait_for_word

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="waits for foreign processes by pidfd"),
    pytest.mark.req("TOOL-07"),
]
FAMILY = "sleep 1000 & (trap '' TERM HUP; sleep 1000) & echo $$ $! > go; wait; sleep 1000"
OPTIONS = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--trust")


def leave(command: str) -> Block:
    given = {"command": command, "description": "a test", "run_in_background": True}
    return tool_use("Bash", given)


def script(where: str) -> list[Reply]:
    """The model waits once the command runs beside the turn, or in it."""
    if where == "background":
        return [reply(leave(FAMILY)), reply("never heard", hold="answer")]
    return [reply(tool_use("Bash", {"command": FAMILY, "description": "a test"}))]


@contextmanager
def family(folder: Path, where: str) -> Generator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A run with a command's processes; afterwards it must be gone within bounds, and they too."""
    os.mkfifo(folder / "go")
    with running_double(script(where)) as double:
        process = started(folder, double, "-p", "start it", *OPTIONS)
        try:
            leader, child = (int(word) for word in wait_for_word(folder / "go", SECONDS).split())
            if where == "background":
                double.wait_for_requests(2, timeout=SECONDS)
            pids = sorted(group.members(leader) | {leader, child})
            assert len(pids) >= 3
            ends = [os.pidfd_open(pid) for pid in pids]
            yield process, ends
            process.communicate(timeout=SECONDS)
            for end in ends:
                wait_for_end(end)
        finally:
            process.kill()
            process.communicate(timeout=SECONDS)


def wait_for_end(pidfd: int) -> None:
    """Readable once the process has ended."""
    readable, _, _ = select.select([pidfd], [], [], SECONDS)
    os.close(pidfd)
    assert readable, "a process of the command lives on"


@pytest.mark.parametrize("where", ["background", "foreground"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_signal_ends_the_run_and_all_its_commands(
    tmp_path: Path, where: str, number: signal.Signals
) -> None:
    """B136: SIGTERM during a shell tool orphans that command's tree."""
    with family(tmp_path, where) as (process, _):
        process.send_signal(number)
    assert process.returncode == 128 + number


def test_a_server_that_is_killed_outright_leaves_no_orphan(tmp_path: Path) -> None:
    """The guard beside it ends what still runs, also what ignores TERM and HUP."""
    with family(tmp_path, "background") as (process, _):
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def test_a_run_gives_background_commands_a_moment_and_ends_them(tmp_path: Path) -> None:
    quick = "echo begun; while [ ! -e answered ]; do sleep 0.05; done; echo done > kept"
    scripts = [reply(leave(quick)), reply(leave("sleep 1000")), reply("Both run.")]
    with running_double(scripts) as double:
        (tmp_path / "answered").touch()
        done = sidelight(tmp_path, double, "-p", "go", "--output-format", "json", *OPTIONS)
    assert json.loads(done.stdout)["result"] == "Both run."
    assert done.returncode == 0
    assert (tmp_path / "kept").read_text() == "done\n"
    assert "ended with the run: sleep 1000" in done.stderr
