"""Exit code 1 is an answer of some commands and an error of the others."""

import pytest

from sidelight.tools.bash.ending import Ending, ending_of


@pytest.mark.parametrize(
    ("command", "meaning"),
    [
        ("grep x f", "no lines matched"),
        ("cd sub && grep -n x f", "no lines matched"),
        ("cat f | grep x", "no lines matched"),
        ("npm test | rg fail", "no lines matched"),
        ("/usr/bin/grep x f", "no lines matched"),
        ("make\ngrep x f\n", "no lines matched"),
        ("npm test; grep x f", "no lines matched"),
        ("grep x f; ", "no lines matched"),
        ("git grep x", "no lines matched"),
        ("diff a b", "the files differ"),
        ("git diff --exit-code", "there are differences"),
        ("test -f x", "the condition is false"),
        ("[ -f x ]", "the condition is false"),
        ("[ -f x ] && echo yes", "the condition is false"),
        ("find / -name x", "some folders could not be read"),
        ("grep 'a | b; npm test' f", "no lines matched"),
    ],
)
def test_commands_that_ask_a_question_may_answer_no(command: str, meaning: str):
    assert ending_of(command, 1, None) == Ending(False, meaning)


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "npm test && grep x f",
        "grep x f | npm test",
        "grep x f; npm test",
        "grep x f\nnpm test",
        "git status",
        "git",
        "echo 'open",
        "mygrep x",
        "",
    ],
)
def test_others_failed(command: str):
    assert ending_of(command, 1, None) == Ending(True)


def test_only_code_1_is_an_answer():
    assert ending_of("grep x f", 2, None) == Ending(True)
    assert ending_of("grep x f", 0, None) == Ending(False)
    assert ending_of("grep x f", None, 9) == Ending(True, "ended by SIGKILL")
    assert ending_of("x", 139, None) == Ending(True, "ended by SIGSEGV")
    assert ending_of("x", 255, None) == Ending(True)
