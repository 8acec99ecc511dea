"""`sidelight` whose output cannot take what is printed, and the words of its commands."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply
from tests.headless import SECONDS, command, environment, sidelight

ANSWER = "Grüße, 世界 \x1b]0;title\x07"


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_an_answer_that_the_locale_cannot_hold_is_printed_all_the_same(
    tmp_path: Path, form: str
) -> None:
    with running_double([reply(ANSWER)]) as double:
        env = environment(double) | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
        done = subprocess.run(
            command("-p", "go", "--output-format", form),
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode("latin-1")
    assert ("Grüße, ??" if form == "text" else r"Gr\u00fc\u00dfe, \u4e16\u754c") in said


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("arguments", [("-p", "go"), ("--version",), ("--help",)])
def test_a_full_disk_behind_the_output_is_a_sentence(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    with running_double([reply("Done.")]) as double, Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env=environment(double),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 1
    assert "cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_is_not_given_control_characters_of_the_model(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with running_double([reply(ANSWER)]) as double:
        done = subprocess.run(
            command("-p", "go"),
            cwd=tmp_path,
            env=environment(double),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    os.close(theirs)
    said = os.read(ours, 10_000).decode()
    os.close(ours)
    assert (done.returncode, said) == (0, "Grüße, 世界 ⟨U+001B⟩]0;title⟨U+0007⟩\r\n")


@pytest.mark.parametrize("name", ["trust", "lsp"])
def test_each_command_explains_itself(tmp_path: Path, name: str) -> None:
    done = sidelight(tmp_path, None, name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: sidelight {name}")


def test_a_state_folder_inside_of_whatever_is_worked_on_is_refused(tmp_path: Path) -> None:
    env = environment(None) | {"SIDELIGHT_HOME": "state"}
    for arguments in (("-p", "go"), ("trust",)):
        done = subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 2
        assert "SIDELIGHT_HOME is 'state'; it must be an absolute path" in done.stderr
    assert list(tmp_path.iterdir()) == []
