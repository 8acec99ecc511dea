"""A last line that waits for somebody is known as a question, and ordinary output is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.process.question import question_in, starved_in


@pytest.mark.parametrize(
    "line",
    [
        "Do you want to continue? [Y/n] ",
        "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
        "Overwrite a.txt? (y/N): ",
        "Proceed (Y/n)? ",
        "Is this OK? (yes) [y/n]",
        "Password: ",
        "[sudo] password for ann: ",
        "Enter passphrase for key '/home/ann/.ssh/id_ed25519': ",
        "Username for 'https://github.com': ",
        "ann@host's password:",
        "Press any key to continue . . . ",
        "Hit Enter to go on",
        "? Which framework would you like? \u203a - Use arrow-keys. Return to submit.",
        "? Project name: (app) ",
        "Enter the name of the app: ",
        "Would you like to install it?",
        "rm: remove regular file 'a'?",
    ],
)
def test_questions_are_known(line: str) -> None:
    assert question_in(line) == line.strip()


@pytest.mark.parametrize(
    "line",
    [
        "",
        "   ",
        "Compiling sidelight v0.1.0",
        "  12% [=>      ] 3/24",
        "Listening on http://localhost:3000",
        "What is tested: everything",
        "tests/test_login.py::test_password PASSED",
        "error: cannot continue",
        "Did you mean 'password'?",
        "a [y] b",
        "$ ",
        "Done in 3.2s.",
        "login.py:14: warning: unused",
    ],
)
def test_ordinary_output_is_no_question(line: str) -> None:
    assert question_in(line) == ""


@given(st.text(max_size=2000))
def test_any_text_is_looked_at_in_bounded_time(text: str) -> None:
    assert question_in(text) in {"", text.strip()}
    assert starved_in(text) in {"", *(line.strip() for line in text.splitlines())}


@pytest.mark.parametrize("unit", ["enter ", "password ", "continue ", "[y/", "? a", "choose: "])
def test_nasty_repetitions_are_looked_at_in_bounded_time(unit: str) -> None:
    for length in (399, 400, 100_000):
        assert question_in((unit * 50_000)[:length] + "x") == ""


def test_a_program_that_complains_of_having_no_terminal_is_known() -> None:
    text = "Traceback\n  File x\nEOFError: EOF when reading a line\n"
    assert starved_in(text) == "EOFError: EOF when reading a line"
    assert starved_in("sudo: a terminal is required to read the password\n").startswith("sudo:")
    assert starved_in("all is well\n") == ""
