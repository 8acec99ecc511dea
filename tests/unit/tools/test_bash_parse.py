"""Words are compared with what bash itself makes of them; odd texts are refused, never guessed."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.tools.bash.effects import accesses
from sidelight.tools.bash.parse import Unreadable, parse
from tests.cases.evaluate import Standing

HERE = Standing("/nowhere/at/all")
PIECES = st.sampled_from(
    ["a", "b", "Z", "0", "-", ".", ",", "=", ":", "\\\\", "\\a", "\\ ", '\\"', "\\'", "''", '""',
     "' '",
     '"x y"', "'a\\b'", '"a\\b"', '"\\\\"', "$'\\x41'", "$'\\n'", "$'\\''", "{a,b}", "{1..3}",
     "{a,'b c'}", "{", "}", "{,x}", '"{a,b}"', "#", "~", "!", "'$HOME'", '"\\$HOME"', "%", "^",
     "é", "日", "\\\n", "{01..3}", "{c..a}", "{x}", "{a,{b,c}}", '"\\`"', "'`'", "@"]
)  # fmt: skip


def words_of(command: str) -> tuple[str, ...] | None:
    """The words of the one command in a text, or None where the engine is not sure."""
    found = [access for access in accesses(command, HERE) if not access.guard]
    if len(found) != 1 or found[0].unsure or "\0" in "".join(found[0].words):
        return None
    return found[0].words


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(PIECES, min_size=1, max_size=6).map("".join), min_size=1, max_size=3))
def test_words_are_what_bash_makes_of_them(words: list[str]) -> None:
    text = " ".join(words)
    ours = words_of(f"say {text}")
    if ours is None:
        return
    script = f"say() {{ for w; do printf '%s\\0' \"$w\"; done; }}\nHOME='~'\nsay {text}"
    ran = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, timeout=10, check=False, cwd="/"
    )
    assert ran.returncode == 0, (text, ran.stderr)
    theirs = ran.stdout.decode().split("\0")[:-1]
    assert [*ours[1:]] == theirs


@pytest.mark.parametrize(
    "text",
    ['echo "abc', "git status &&", "ls\r\nls", "ls\u00a0-l", "ls \u200b", "ls \u202e", "ls\x1b[2K",
     "ls \u3164", "x" * 10_001, "(" * 200 + ")" * 200, "ls ;; ls", "echo 1<> x", "cu\\\nrl x",
     'echo "$\\\n(id)"'],
)  # fmt: skip
def test_a_text_that_cannot_be_read_is_one_unsure_access(text: str) -> None:
    assert isinstance(parse(text), Unreadable)
    (only,) = accesses(text, HERE)
    assert only.unsure
    assert only.words == ("\0",)


@pytest.mark.parametrize("text", ["", "   ", "# only a comment", "\n\n"])
def test_a_text_without_commands_only_reads(text: str) -> None:
    (only,) = accesses(text, HERE)
    assert only.read_only


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_an_answer(text: str) -> None:
    assert accesses(text, HERE)


SHELL = st.sampled_from(
    ["ls", "cat", "x", "$(", ")", "`", "'", '"', "{", "}", "(", "((", "))", ";", "&&", "||", "|",
     "&",
     ">", ">>", "<", "<<EOF", "\nEOF\n", "<<<", "$x", "${x", "}", "${x:-", "$((", "[[", "]]", "[",
     "]", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", ";;", "while", "a=", "=",
     "\\", "\n", "#", "*", "?", "~", "cd", "..", "/etc", "sudo", "xargs", "eval", "bash -c", "-c",
     "find . -exec", "\\;", "sed -i", "git", "-C", "timeout 5", "f()", "!", "export", "read"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(SHELL, max_size=14).map(" ".join))
def test_any_heap_of_shell_words_gives_an_answer(text: str) -> None:
    assert accesses(text, HERE)
