"""The login shell is asked once, within a bound; what it adds counts and its failure is said."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from sidelight.process.login import LoginEnvironment, joined, joined_path

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="login shells of POSIX"),
    pytest.mark.req("TOOL-07"),
]


def environ(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "SHELL": "/bin/bash", **more}


def start_file(home: Path, text: str) -> None:
    (home / ".bash_profile").write_text(text, encoding="utf-8")


async def captured(env: Mapping[str, str], seconds: float = 10) -> tuple[str, Mapping[str, str]]:
    login = LoginEnvironment(env, seconds=seconds)
    with anyio.fail_after(20):
        problem = await login.capture()
    return problem, login.variables


async def test_what_start_files_set_is_there_whatever_they_print(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    text = f"echo welcome\necho warning >&2\nexport PATH={tools}:$PATH\nexport MANAGER='a\nb=c é'\n"
    start_file(tmp_path, text)
    problem, found = await captured(environ(tmp_path, PATH="/usr/bin:/bin"))
    assert problem == ""
    assert found["MANAGER"] == "a\nb=c é"
    assert found["PATH"].split(":")[0] == str(tools)
    assert {"SHLVL", "_", "OLDPWD", "SIDELIGHT_RESOLVING_ENVIRONMENT"} & set(found) == set()


async def test_interactive_start_files_count_too(tmp_path: Path) -> None:
    start_file(tmp_path, ". ~/.bashrc\n")
    (tmp_path / ".bashrc").write_text("case $- in *i*) export SEEN=yes;; esac\n", encoding="utf-8")
    _, found = await captured(environ(tmp_path))
    assert found["SEEN"] == "yes"


async def test_what_the_process_was_started_with_stays(tmp_path: Path) -> None:
    start_file(tmp_path, "export STAGE=login\nexport ONLY=login\n")
    _, found = await captured(environ(tmp_path, STAGE="ours"))
    assert (found["STAGE"], found["ONLY"]) == ("ours", "login")


async def test_our_credentials_are_not_shown_to_the_start_files(tmp_path: Path) -> None:
    start_file(tmp_path, 'export COPY="[$ANTHROPIC_API_KEY]"\n')
    _, found = await captured(environ(tmp_path, ANTHROPIC_API_KEY="sk-ant-0123456789"))
    assert found["COPY"] == "[]"


async def test_the_shell_is_asked_once_and_not_in_the_project(tmp_path: Path) -> None:
    start_file(tmp_path, 'pwd >> "$HOME/asked"\n')
    login = LoginEnvironment(environ(tmp_path))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as asking:
            for _ in range(3):
                asking.start_soon(login.capture)
    assert (tmp_path / "asked").read_text(encoding="utf-8") == f"{tmp_path}\n"


@pytest.mark.parametrize(
    ("text", "seconds", "why"),
    [
        ("echo lost >&2\nexit 3\n", 10, "/bin/bash ended early with code 3 (lost)"),
        ("sleep 300\n", 0.3, "/bin/bash was not ready after 0.3 s"),
        ("exec cat\n", 10, "/bin/bash ended early with code 0"),
        (
            "kill -9 $$\n",
            10,
            "/bin/bash ended early with signal 9",
        ),
    ],
)
async def test_a_failure_is_said_once_and_ours_is_used(
    tmp_path: Path, text: str, seconds: float, why: str
) -> None:
    start_file(tmp_path, text)
    ours = environ(tmp_path)
    login = LoginEnvironment(ours, seconds=seconds)
    with anyio.fail_after(20):
        problem = await login.capture()
        again = await login.capture()
    assert problem == (
        f"The environment of the login shell could not be read: {why}. "
        "Commands run without what its start files set."
    )
    assert (again, login.variables) == ("", ours)


async def test_a_shell_that_is_not_there_is_said(tmp_path: Path) -> None:
    problem, found = await captured(environ(tmp_path, SHELL="/none/fish"))
    assert "/none/fish cannot be started" in problem
    assert found["SHELL"] == "/none/fish"


async def test_a_cancelled_capture_is_made_up_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")
    start_file(tmp_path, "if [ -e ~/once ]; then export B=1; else echo > ~/ready; sleep 300; fi\n")
    login = LoginEnvironment(environ(tmp_path))
    with anyio.fail_after(20):
        async with anyio.create_task_group() as asking:
            asking.start_soon(login.capture)
            await anyio.Path(tmp_path / "ready").read_text()
            asking.cancel_scope.cancel()
        (tmp_path / "once").touch()
        assert await login.capture() == ""
    assert login.variables["B"] == "1"


@pytest.mark.parametrize(
    ("ours", "login", "result"),
    [
        ("/usr/bin:/bin", "/opt/x:/usr/bin:/bin", "/opt/x:/usr/bin:/bin"),
        ("/venv/bin:/usr/bin", "/opt/x:/usr/bin", "/venv/bin:/opt/x:/usr/bin"),
        ("/venv/bin:/opt/x:/usr/bin", "/usr/bin:/opt/x", "/venv/bin:/opt/x:/usr/bin"),
        ("/a:/usr/bin:/z", "/opt/x:/usr/bin", "/a:/opt/x:/usr/bin:/z"),
        ("", "/usr/bin", "/usr/bin"),
        ("/a", "/b", "/a:/b"),
    ],
)
def test_search_paths_are_joined_with_our_own_in_front(ours: str, login: str, result: str) -> None:
    assert joined_path(ours, login) == result
    assert joined({"PATH": ours}, {"PATH": login}) == {"PATH": result}
