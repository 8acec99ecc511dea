"""Children get the environment without our credentials; secret values are hidden in texts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.process.environment import (
    MaskedStream,
    Secrets,
    child_environment,
    sourcing,
)
from sidelight.process.run import run


def test_our_credentials_do_not_reach_children_wherever_they_come_from():
    base = {
        "PATH": "/bin",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://x",
        "SIDELIGHT_LOCAL_KEY": "k",
        "GITHUB_TOKEN": "users-own",
    }
    added = {"ANTHROPIC_AUTH_TOKEN": "t", "PATH": "/usr/bin"}
    assert child_environment(base, added) == {
        "PATH": "/usr/bin",
        "ANTHROPIC_BASE_URL": "http://x",
        "GITHUB_TOKEN": "users-own",
    }


def test_further_names_are_left_out_by_pattern():
    assert child_environment({"OTEL_A": "1", "A_OTEL": "2"}, drop=["OTEL_*"]) == {"A_OTEL": "2"}


def test_values_of_variables_named_like_keys_are_hidden():
    secrets = Secrets.of(
        {
            "GITHUB_TOKEN": "ghp_0123456789",
            "DB_PASSWORD": "correct horse",
            "AWS_SECRET_ACCESS_KEY": "abcdefgh1234",
            "KEYBOARD": "german-layout",
            "SHORT_KEY": "abc",
        }
    )
    assert secrets.mask("t=ghp_0123456789 p=correct horse abcdefgh1234 german-layout abc") == (
        "t=[GITHUB_TOKEN hidden] p=[DB_PASSWORD hidden] [AWS_SECRET_ACCESS_KEY hidden] "
        "german-layout abc"
    )
    assert "ghp_" not in repr(secrets)


def test_a_secret_that_contains_another_is_hidden_whole():
    secrets = Secrets({"A_KEY": "12345678", "B_KEY": "xx12345678yy"})
    assert secrets.mask("xx12345678yy") == "[B_KEY hidden]"


@given(st.text("ab"), st.text("ab"), st.lists(st.integers(min_value=0, max_value=40)))
def test_a_stream_shows_what_the_whole_text_would_however_it_is_cut(
    before: str, after: str, cuts: list[int]
):
    secrets = Secrets({"THE_KEY": "abbabaab"})
    text = before + "abbabaab" + after
    borders = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    stream = MaskedStream(secrets)
    shown = "".join(
        stream.feed(text[start:end]) for start, end in zip(borders, borders[1:], strict=False)
    )
    assert shown + stream.rest() == secrets.mask(text)


@pytest.mark.anyio
async def test_environment_files_are_read_before_what_follows(tmp_path: Path):
    odd = tmp_path / "it's odd.sh"
    odd.write_text("export A=1\necho noise\n# a comment without a line end", encoding="utf-8")
    broken = tmp_path / "broken.sh"
    broken.write_text("export B=2\nfalse\n", encoding="utf-8")
    line = sourcing([str(odd), str(tmp_path / "missing"), str(broken)]) + 'echo "$A$B"'
    done = await run(line, cwd="/", env={"PATH": "/usr/bin:/bin"})
    assert done.stdout == b"12\n"
