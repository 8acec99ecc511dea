"""Where a turn stands: a value that is replaced whole at each step, and what may come next."""

from dataclasses import dataclass
from typing import Literal

from sidelight.core.events import EndReason
from sidelight.core.messages import Repairs, Usage

Transition = Literal[
    "prompt",
    "tools",
    "pause_turn",
    "larger_output",
    "cut_at_limit",
    "stop_hook",
    "retry",
    "standard_speed",
    "fallback_model",
    "credentials_reloaded",
    "media_struck",
    "thinking_dropped",
]
"""Why there is another step."""


@dataclass(frozen=True, slots=True)
class State:
    """Where a turn stands.

    `retries` and `overloads` count failures in a row, `continuations` answers cut in a row;
    `continues` is the message that the next answer goes on with; `stop_blocks` counts objections
    of Stop hooks without a call in between. What is tried once a turn has its own flag.
    """

    model: str
    fallbacks: tuple[str, ...] = ()
    repairs: Repairs = Repairs()
    transition: Transition = "prompt"
    step: int = 0
    usage: Usage = Usage()
    retries: int = 0
    overloads: int = 0
    fast: bool = False
    larger_output: int | None = None
    continuations: int = 0
    continues: str = ""
    stop_blocks: int = 0
    reloaded: bool = False
    media_struck: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """Ask again after `delay_s`.

    `reminder` is told to the model, `notice` to the person; `cause` is shown while the wait lasts.
    """

    state: State
    delay_s: float = 0.0
    reminder: str | None = None
    notice: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The turn is over; `failure` is the word that StopFailure hooks are told."""

    reason: EndReason
    error: str | None = None
    failure: str = ""
    notice: str | None = None
