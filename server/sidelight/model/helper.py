"""The user's own command that prints a key (`apiKeyHelper`): run when needed, kept for a while."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sidelight.process.run import run

TTL_VARIABLE = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"
TTL_S = 300.0
PATIENCE_S = 60.0
"""Seconds that the command may take; some ask a person for a password."""
LONGEST_KEY = 16_384
LONGEST_QUOTE = 300


@dataclass(frozen=True, slots=True)
class _Kept:
    command: str
    key: str
    until: float


class KeyHelper:
    """Runs the command and keeps its key in memory. `clock` gives seconds that only grow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: _Kept | None = None

    @property
    def is_due(self) -> bool:
        """Whether a key was given out and its time is over."""
        return self._kept is not None and self._clock() >= self._kept.until

    async def key(
        self, command: str, *, env: Mapping[str, str], cwd: str, anew: bool = False
    ) -> str:
        """The key; `anew` runs the command although a kept key would do.

        Raises ValueError saying what the command did instead. Cancelling ends the command.
        """
        kept = self._kept
        if kept and kept.command == command and self._clock() < kept.until and not anew:
            return kept.key
        key = await _printed(command, env, cwd)
        self._kept = _Kept(command, key, self._clock() + ttl_of(env))
        return key


def ttl_of(env: Mapping[str, str]) -> float:
    """Seconds that a key is kept. Raises ValueError naming the variable."""
    text = env.get(TTL_VARIABLE, "").strip()
    if not text:
        return TTL_S
    if not text.isdecimal():
        raise ValueError(f"{TTL_VARIABLE} is {text!r}; it must be a number of milliseconds.")
    return int(text) / 1000


async def _printed(command: str, env: Mapping[str, str], cwd: str) -> str:
    try:
        ended = await run(command, cwd=cwd, env=env, timeout=PATIENCE_S, limit=LONGEST_KEY)
    except OSError as error:
        raise ValueError(f"apiKeyHelper cannot be run: {error}.") from error
    if ended.timed_out:
        raise ValueError(f"apiKeyHelper did not end within {PATIENCE_S:g} s.")
    if ended.exit_code != 0:
        how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
        said = ended.stderr.decode(errors="replace").strip()[-LONGEST_QUOTE:]
        raise ValueError(f"apiKeyHelper failed with {how}: {said or 'it said nothing'}")
    key = ended.stdout.decode(errors="replace").strip()
    if not key:
        raise ValueError("apiKeyHelper printed no key on standard output.")
    return key
