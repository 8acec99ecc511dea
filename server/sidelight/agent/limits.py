"""The circuit breakers of a turn: steps, a token target, and the same call again and again."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.content import ToolUse

_TARGET = re.compile(r"\+(\d+(?:\.\d+)?)([km])\b", re.IGNORECASE)
_TIMES = {"k": 1_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class RepeatLimits:
    """How often the same call may run in a row before something is said, and before it is asked."""

    remind: int = 3
    ask: int = 5
    ask_failing: int = 3


class Repeats:
    """Counts equal calls in a row within one turn; calls are noted in the order of their ends."""

    def __init__(self, limits: RepeatLimits = RepeatLimits()) -> None:  # noqa: B008 (frozen)
        self._limits = limits
        self._last = ""
        self._good = 0
        self._bad = 0
        self._refused = 0
        self._reminders: list[str] = []

    def question(self, call: ToolUse) -> str | None:
        """Why a person should say whether the call may run once more; None if it just may."""
        if identity(call) != self._last:
            return None
        if self._bad >= self._limits.ask_failing:
            return f"The same call of {call.name} did not work {self._bad} times in a row."
        if self._good >= self._limits.ask:
            return f"The same call of {call.name} ran {self._good} times in a row."
        return None

    def allowed(self) -> None:
        """A person lets it go on; counting begins anew."""
        self._good = self._bad = self._refused = 0

    def refused(self) -> bool:
        """It may not go on; True when the model had been told so before and tried all the same."""
        self._refused += 1
        return self._refused > 1

    def note(self, call: ToolUse, *, failed: bool) -> None:
        """A call ended, or was refused."""
        if identity(call) != self._last:
            self._last = identity(call)
            self.allowed()
        if self._refused:
            return  # it was not run: the counts stand as they are until a person lets it go on
        if failed:
            self._bad, self._good = self._bad + 1, 0
            return
        self._bad, self._good = 0, self._good + 1
        if self._good == self._limits.remind:
            self._reminders.append(
                f"You have made the same call of {call.name} {self._good} times in a row, each "
                "time with success. Do not repeat it: use what it gave, or do something else."
            )

    def take_reminders(self) -> Sequence[str]:
        """What the model must hear once; empties the list."""
        told, self._reminders = self._reminders, []
        return told


def identity(call: ToolUse) -> str:
    """Equal for calls of one tool with the same input."""
    return f"{call.name} {json.dumps(call.input, sort_keys=True)}"


def token_target(prompt: str) -> int | None:
    """The target that a prompt begins or ends with, as in `+500k`; in output tokens."""
    words = prompt.split()
    for word in (words[:1], words[-1:]):
        found = _TARGET.fullmatch(word[0].rstrip(".,!")) if word else None
        if found:
            return int(float(found[1]) * _TIMES[found[2].lower()]) or None
    return None


def target_told(target: int) -> str:
    """What the model hears of a token target."""
    return (
        f"The user set a target of {target:,} output tokens for this turn. The turn ends when it "
        "is reached, so do the most important things first and leave nothing half done."
    )


def target_reached(target: int, spent: int, steps: int) -> str:
    """The report at the end of such a turn."""
    return (
        f"The token target of {target:,} is reached: {spent:,} output tokens in {steps} steps. "
        "Everything so far is kept; another prompt goes on from here."
    )


def steps_reached(steps: int) -> str:
    """What the person hears when a turn used up its steps."""
    return (
        f"Stopped after {steps} steps, the limit of a turn. "
        "Everything so far is kept; another prompt goes on from here."
    )
