"""The user's command for a key: run when needed, kept for its time, and its failures said."""

from pathlib import Path

import anyio
import pytest

from sidelight.model import helper
from sidelight.model.helper import TTL_S, TTL_VARIABLE, KeyHelper, ttl_of

pytestmark = pytest.mark.anyio
ENV = {"PATH": "/usr/bin:/bin", TTL_VARIABLE: "60000"}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def key(keys: KeyHelper, command: str, cwd: Path, *, anew: bool = False) -> str:
    with anyio.fail_after(10):
        return await keys.key(command, env=ENV, cwd=str(cwd), anew=anew)


async def test_a_key_is_kept_for_its_time_and_then_made_anew(tmp_path: Path) -> None:
    clock = Clock()
    keys = KeyHelper(clock)
    command = "echo x >> runs; echo key-$(wc -l < runs)"
    seen: list[str] = []
    for now in (0.0, 59.0, 60.0):
        clock.now = now
        seen.append(f"{keys.is_due} {await key(keys, command, tmp_path)}")
    assert seen == ["False key-1", "False key-1", "True key-2"]
    assert await key(keys, command, tmp_path, anew=True) == "key-3"
    assert await key(keys, "echo another", tmp_path) == "another"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("echo no vault >&2; exit 3", "apiKeyHelper failed with exit code 3: no vault"),
        ("exit 1", "apiKeyHelper failed with exit code 1: it said nothing"),
        ("kill -9 $$", "apiKeyHelper failed with signal 9: it said nothing"),
        ("true", "apiKeyHelper printed no key on standard output."),
        ("nowhere-to-be-found", "exit code 127"),
    ],
)
async def test_what_goes_wrong_is_said(command: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="apiKeyHelper") as caught:
        await key(KeyHelper(), command, tmp_path)
    assert words in str(caught.value)


async def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="apiKeyHelper cannot be run"):
        await key(KeyHelper(), "echo key", tmp_path / "gone")


async def test_a_command_that_never_ends_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(helper, "PATIENCE_S", 0.2)
    with pytest.raises(ValueError, match=r"did not end within 0\.2 s"):
        await key(KeyHelper(), "sleep 60", tmp_path)


def test_the_time_is_five_minutes_unless_the_variable_says_otherwise() -> None:
    assert (ttl_of({}), ttl_of({TTL_VARIABLE: "1500"})) == (TTL_S, 1.5)
    with pytest.raises(ValueError, match=f"{TTL_VARIABLE} is 'soon'"):
        ttl_of({TTL_VARIABLE: "soon"})
