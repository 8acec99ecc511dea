"""What the shell tools are set up with, by settings and by published environment variables."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from sidelight.settings.schema import Settings

LIFE_MS = 1_800_000
LONGEST_LIFE_MS = 7_200_000
"""How long a background task may run unless the call says otherwise, and at most."""


async def no_login() -> str:
    """Stands for surroundings that are complete already."""
    return ""


@dataclass(frozen=True, slots=True)
class ShellOptions:
    """`environment` is what commands inherit, settings included; our credentials are taken out
    of it. `login` completes it before the first command and gives a sentence when it cannot.

    `keep_cwd` lets `cd` carry over, `background` whether commands may run on in the background.
    """

    environment: Callable[[], Mapping[str, str]]
    login: Callable[[], Awaitable[str]] = no_login
    timeout_ms: int = 120_000
    max_timeout_ms: int = 600_000
    shown: int = 30_000
    keep_cwd: bool = True
    background: bool = True

    @staticmethod
    def of(
        settings: Settings,
        environment: Callable[[], Mapping[str, str]],
        login: Callable[[], Awaitable[str]] = no_login,
    ) -> "ShellOptions":
        """Options by settings and by the published environment variables."""
        env, limits = environment(), settings.sidelight.limits
        default = _number(env.get("BASH_DEFAULT_TIMEOUT_MS")) or limits.bash_timeout_ms
        ceiling = _number(env.get("BASH_MAX_TIMEOUT_MS")) or limits.bash_max_timeout_ms
        shown = settings.bash_output_max_chars or limits.bash_output_chars
        return ShellOptions(
            environment,
            login if settings.sidelight.login_environment else no_login,
            timeout_ms=default,
            max_timeout_ms=max(default, ceiling),
            shown=min(max(shown, 4_000), 128_000),
            keep_cwd=env.get("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR") != "1",
            background=env.get("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") != "1",
        )

    def seconds(self, asked_ms: int | None) -> float:
        """The time limit of a call; one that is too long is cut, not refused."""
        wanted = asked_ms if asked_ms and asked_ms > 0 else self.timeout_ms
        return min(wanted, self.max_timeout_ms) / 1000

    def life_s(self, asked_ms: int | None) -> float:
        """The time limit of a background task, cut likewise."""
        wanted = asked_ms if asked_ms and asked_ms > 0 else LIFE_MS
        return min(wanted, LONGEST_LIFE_MS) / 1000


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None
