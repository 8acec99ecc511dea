"""Bash runs real commands: where they stand, what they print, how they end."""

import json
import os
from pathlib import Path

import anyio
import pytest
from pydantic import ValidationError

from sidelight.background.tasks import Background
from sidelight.core.errors import ToolError
from sidelight.core.tool import Shell, ToolOutput
from sidelight.process import group
from sidelight.settings.schema import Settings
from sidelight.tools.bash.tool import bash_tool
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.shell.result import LEFT_RUNNING
from sidelight.tools.shell.tool import ForegroundInput, ShellInput
from tests.unit.tools.shell_bench import Bench, text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_output_of_both_streams_comes_in_order(bench: Bench):
    output = await bench.run("echo a; echo b >&2; echo c")
    assert output == ToolOutput.of(
        "a\nb\nc",
        data={"stdout": "a\nb\nc\n", "stderr": "", "interrupted": False, "exitCode": 0},
    )


async def test_a_command_without_output_says_so(bench: Bench):
    assert await bench.text("true") == "(no output)"


async def test_a_failing_command_gives_its_code_first(bench: Bench):
    """B157: output and exit code do not depend on any shell integration."""
    output = await bench.run("printf hi; exit 3")
    assert (text_of(output), output.is_error) == ("Exit code 3\nhi", True)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("no-such-program-here", "Exit code 127 (command not found)"),
        ("/etc/passwd", "Exit code 126 (found, but it may not be run)"),
        ("sh -c 'kill -9 $$'", "Exit code 137 (ended by SIGKILL, often for want of memory)"),
        ("kill -15 $$", "The command was ended by SIGTERM."),
    ],
)
async def test_how_a_command_ended_is_explained(bench: Bench, command: str, line: str):
    output = await bench.run(command)
    assert (text_of(output).splitlines()[0], output.is_error) == (line, True)


async def test_an_unfinished_command_is_an_error_at_once(bench: Bench):
    """B158: `ls -l |` waits for more input forever."""
    for command in ("ls -l |", "echo 'open", "if true; then", "cat <<X\nopen"):
        output = await bench.run(command, timeout=5000)
        assert not output.data["interrupted"]
    assert "syntax error" in await bench.text("ls -l |")


async def test_nobody_answers_questions(bench: Bench):
    text = await bench.text('read -r answer; echo "got[$answer]"; cat; echo end', timeout=5000)
    assert text == "got[]\nend"


async def test_text_of_the_command_reaches_bash_unchanged(bench: Bench):
    command = (
        "printf '%s|' 'it'\"'\"'s' \"$0\" \"$#\" \\$x $'a\\tb' <<'X'\nX\necho \"é 中 \\\"q\\\"\""
    )
    assert await bench.text(command) == 'it\'s|bash|0|$x|a\tb|é 中 "q"'


async def test_a_command_that_is_too_long_is_not_run(bench: Bench):
    with pytest.raises(ToolError, match="Write long text to a file with Write"):
        await bench.run("echo " + "x" * 100_001)


# --- the working directory -----------------------------------------------------------------------


async def test_cd_carries_over_inside_the_workspace(bench: Bench):
    (bench.root / "sub dir").mkdir()
    sub = str(bench.root / "sub dir")
    assert (await bench.run("cd 'sub dir'")).cwd == sub
    assert await bench.text("pwd") == sub
    output = await bench.run("cd .. && exit 4")
    assert (output.cwd, bench.shell.cwd) == (str(bench.root), str(bench.root))
    assert (await bench.run("(cd 'sub dir')")).cwd is None


async def test_cd_to_the_outside_is_set_back_and_said(bench: Bench):
    output = await bench.run("cd /; pwd")
    assert text_of(output) == f"/\nShell cwd was reset to {bench.root}"
    assert (output.cwd, bench.shell.cwd) == (None, str(bench.root))


async def test_a_neighbour_with_the_same_beginning_is_outside(bench: Bench):
    (bench.folder / "app2").mkdir()
    assert "Shell cwd was reset" in await bench.text("cd ../app2")


async def test_a_link_that_leads_outside_is_outside(bench: Bench):
    (bench.root / "link").symlink_to("/tmp")
    assert "Shell cwd was reset" in await bench.text("cd link")


async def test_a_folder_that_the_user_added_is_inside(bench: Bench):
    other = bench.folder / "other"
    other.mkdir()
    bench.shell.roots = (*bench.shell.roots, str(other))
    assert (await bench.run(f"cd {other}")).cwd == str(other)


async def test_a_workspace_reached_through_a_link_keeps_its_name(bench: Bench):
    link = bench.folder / "link"
    link.symlink_to(bench.root)
    bench.shell = Shell(str(link), [str(link)])
    assert await bench.text("pwd") == str(link)
    assert (await bench.run("true")).cwd is None
    (bench.root / "sub").mkdir()
    assert (await bench.run("cd sub")).cwd == str(link / "sub")


async def test_a_folder_that_is_gone_is_left_and_said(bench: Bench):
    (bench.root / "sub").mkdir()
    await bench.run("cd sub")
    output = await bench.run("rmdir ../sub")
    assert bench.shell.cwd == str(bench.root / "sub")
    output = await bench.run("pwd")
    assert output.cwd == str(bench.root)
    gone = bench.root / "sub"
    assert text_of(output) == f"{bench.root}\n{gone} is gone. Shell cwd was reset to {bench.root}"


async def test_cd_may_be_kept_from_carrying_over(bench: Bench):
    (bench.root / "sub").mkdir()
    bench.limits = {"keep_cwd": False}
    assert await bench.text("cd sub") == f"Shell cwd was reset to {bench.root}"
    assert bench.shell.cwd == str(bench.root)


# --- the environment -----------------------------------------------------------------------------


async def test_variables_do_not_last_and_environment_files_do(bench: Bench):
    file = bench.scratch / "env"
    bench.shell.env_files.append(str(file))
    assert await bench.text("export A=1; echo [$B]") == "[]"
    file.write_text("export B=2 # no line end", encoding="utf-8")
    assert await bench.text("echo [$A$B]") == "[2]"


async def test_our_credentials_are_not_there_and_other_secrets_are_not_shown(bench: Bench):
    bench.environment = {
        **bench.environment,
        "ANTHROPIC_API_KEY": "sk-ant-0123456789",
        "DEPLOY_TOKEN": "tok-0123456789",
    }
    command = 'echo "[$ANTHROPIC_API_KEY] [$DEPLOY_TOKEN] ${#DEPLOY_TOKEN}"; echo sk-ant-0123456789'
    output = await bench.run(command)
    assert text_of(output) == "[] [[DEPLOY_TOKEN hidden]] 14\n[ANTHROPIC_API_KEY hidden]"
    assert "0123456789" not in json.dumps(output.data) + "".join(bench.progress)


# --- time ----------------------------------------------------------------------------------------


async def test_a_command_that_never_ends_is_stopped_with_its_children(bench: Bench):
    command = "sleep 300 & echo $!; echo $$; trap '' TERM; wait; sleep 300"
    output = await bench.run(command, timeout=400)
    first, second = text_of(output).split("\n", 1)
    assert first == (
        "The command was stopped at its time limit of 0.4 s; it may have done part of its work. "
        "Give a longer timeout, or run a smaller part. Output until then:"
    )
    pids = [int(line) for line in second.splitlines()[:2]]
    assert not group.is_alive(pids[1], frozenset(pids))
    assert (output.is_error, output.data["interrupted"]) == (True, True)


async def test_a_command_that_prints_without_end_is_stopped_in_time(bench: Bench):
    bench.limits = {"background": False}
    output = await bench.run("yes", timeout=300)
    assert output.data["interrupted"]


@pytest.mark.parametrize(
    ("env", "own", "asked", "seconds"),
    [
        ({}, {}, None, 120),
        ({}, {}, 5_000, 5),
        ({}, {}, 9_999_999, 600),
        ({}, {}, 0, 120),
        ({"BASH_DEFAULT_TIMEOUT_MS": "900000"}, {}, 9_999_999, 900),
        ({"BASH_MAX_TIMEOUT_MS": "1000"}, {}, 700_000, 120),
        ({"BASH_MAX_TIMEOUT_MS": "much"}, {"bashTimeoutMs": 1000}, None, 1),
    ],
)
def test_time_limits_are_clamped_never_refused(
    env: dict[str, str], own: dict[str, int], asked: int | None, seconds: float
):
    settings = Settings.model_validate({"sidelight": {"limits": own}})
    assert ShellOptions.of(settings, lambda: env).seconds(asked) == seconds


async def test_cancelling_ends_the_whole_family(bench: Bench):
    """B136 and B106: nothing runs on after a stop."""
    pids, written = anyio.Path(bench.root / "pids"), ""
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.run, f"sleep 300 & echo $$ $! > {pids}; sleep 300")
            while not written.endswith("\n"):
                await anyio.sleep(0.01)
                written = await pids.read_text("ascii") if await pids.exists() else ""
            tasks.cancel_scope.cancel()
    shell, child = map(int, written.split())
    assert not group.is_alive(shell, frozenset([shell, child]))


async def test_what_is_left_running_is_ended_and_said(bench: Bench):
    output = await bench.run("sleep 300 >/dev/null 2>&1 & echo $!")
    pid, note = text_of(output).split("\n")
    assert note == LEFT_RUNNING
    assert not group.is_alive(int(pid), frozenset([int(pid)]))
    assert not output.is_error


# --- much output ---------------------------------------------------------------------------------


async def test_output_is_shown_while_the_command_runs(bench: Bench):
    gate = bench.root / "gate"
    os.mkfifo(gate)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.run, f"echo first; cat {gate}; echo second")
            await bench.shown.wait()
            await anyio.Path(gate).write_text("go\n", encoding="utf-8")


async def test_long_output_shows_head_and_tail_and_keeps_all_in_a_file(bench: Bench):
    output = await bench.run("seq 1 20000")
    text = text_of(output)
    file = bench.scratch / "bash-toolu_1.txt"
    whole = "".join(f"{n}\n" for n in range(1, 20_001))
    assert file.read_text(encoding="utf-8") == whole
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("\n19999\n20000")
    assert f"the whole output is in {file}, search there instead of running it again" in text
    assert len(text) < 30_300
    assert output.data["persistedOutputPath"] == str(file)
    assert output.data["persistedOutputSize"] == len(whole)
    head, _, tail = text.partition("\n[... ")
    assert head.splitlines() == [str(n) for n in range(1, len(head.splitlines()) + 1)]
    assert tail.split(" ...]\n")[1].splitlines()[-1] == "20000"


async def test_long_output_of_a_failure_is_cut_shorter(bench: Bench):
    text = await bench.text("seq 1 4000; exit 1")
    assert text.startswith("Exit code 1\n1\n2\n")
    assert text.endswith("\n4000")
    assert len(text) < 10_400
    assert (bench.scratch / "bash-toolu_1.txt").read_text(encoding="utf-8").count("\n") == 4000


async def test_output_just_within_the_limit_is_whole(bench: Bench):
    output = await bench.run("head -c 29999 /dev/zero | tr '\\0' x; echo")
    assert len(text_of(output)) == 29_999
    assert list(bench.scratch.iterdir()) == []


async def test_progress_of_a_chatty_command_is_little(bench: Bench):
    await bench.run("seq 1 300000")
    assert sum(map(len, bench.progress)) < 100_000
    assert bench.progress[0].startswith("1\n") or "[... " in bench.progress[0]


async def test_a_disk_that_takes_nothing_is_said_and_the_result_stays(bench: Bench):
    (bench.scratch / "bash-toolu_1.txt").mkdir()
    text = await bench.text("seq 1 20000")
    assert text.startswith("1\n")
    assert "characters left out; they could not be kept: [Errno 21] Is a directory" in text


async def test_text_is_given_as_a_terminal_leaves_it(bench: Bench):
    command = r"printf '\033[31mred\033[0m 10%%\r20%%\r\n\000\377\033]0;title\007end\n'"
    assert await bench.text(command) == "20%\n\ufffd\ufffdend"


# --- the input -----------------------------------------------------------------------------------


def test_what_is_not_there_is_refused_with_what_to_do_instead():
    with pytest.raises(ValidationError, match="Run it in the foreground with a timeout"):
        ForegroundInput.model_validate({"command": "x", "run_in_background": True})
    for kind in (ForegroundInput, ShellInput):
        with pytest.raises(ValidationError, match="there is no sandbox to leave"):
            kind.model_validate({"command": "x", "dangerouslyDisableSandbox": True})
        given = {"command": "x", "run_in_background": False, "dangerouslyDisableSandbox": False}
        assert kind.model_validate(given) == kind(command="x")
    fields = {"command", "timeout", "description"}
    assert set(ForegroundInput.model_json_schema()["properties"]) == fields
    assert set(ShellInput.model_json_schema()["properties"]) == {*fields, "run_in_background"}


def test_a_summary_is_one_line():
    tool = bash_tool(ShellOptions(dict), Background())
    assert tool.summary(ShellInput(command="cd a &&\n  make   test")) == "cd a && make test"


def test_a_call_touches_what_its_commands_read_and_write():
    tool = bash_tool(ShellOptions(dict), Background())
    shell = Shell("/app", ["/app"])
    touched = tool.touches(ShellInput(command="cat a.txt | tee out.txt && make"), shell)
    assert {(access.kind, access.target) for access in touched} == {
        ("execute", "cat a.txt"),
        ("read", "/app/a.txt"),
        ("execute", "tee out.txt"),
        ("write", "/app/out.txt"),
        ("execute", "make"),
    }
    (opaque,) = tool.touches(ShellInput(command="echo 'open"), shell)
    assert opaque.unsure
