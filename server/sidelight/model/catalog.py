"""The models that are known by name: limits, features and prices, as of the vendor's own pages."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from sidelight.core.model import Effort

AS_OF = "2026-11"

ThinkingKind = Literal["adaptive", "budget", "none"]

ALL_EFFORTS: tuple[Effort, ...] = get_args(Effort)


@dataclass(frozen=True, slots=True)
class PriceTier:
    """Dollars per million tokens for prompts of at most `up_to` tokens (None: of any size).

    `since` is the first day it holds, as an ISO date; empty for as long as the model is known.
    """

    input: float
    output: float
    cache_read: float
    cache_write_5m: float
    cache_write_1h: float
    up_to: int | None = None
    since: str = ""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What may be asked of one model.

    `window` and `output_cap` are tokens. No `prices` means that the price is unknown.
    """

    id: str
    window: int
    output_cap: int
    default_output: int
    thinking: ThinkingKind = "none"
    efforts: tuple[Effort, ...] = ()
    effort_default: Effort | None = None
    caching: bool = False
    prices: tuple[PriceTier, ...] = ()


def _price(
    input: float, output: float, *, read: float | None = None, up_to: int | None = None
) -> PriceTier:
    return PriceTier(
        input=input,
        output=output,
        cache_read=input * 0.1 if read is None else read,
        cache_write_5m=input * 1.25,
        cache_write_1h=input * 2,
        up_to=up_to,
    )


def _current(id: str, effort: Effort, *prices: PriceTier) -> ModelCard:
    return ModelCard(
        id=id,
        window=1_000_000,
        output_cap=128_000,
        default_output=32_000,
        thinking="adaptive",
        efforts=ALL_EFFORTS,
        effort_default=effort,
        caching=True,
        prices=prices,
    )


_CARDS = (
    _current("claude-fable-5-2", "high", _price(8, 40)),
    _current("claude-fable-5-1", "high", _price(10, 50)),
    _current("claude-opus-5-5", "medium", _price(4, 20)),
    _current("claude-sonnet-5-5", "high", _price(2, 10, read=0.10)),
    _current(
        "claude-haiku-5-5",
        "medium",
        _price(0.10, 0.50, up_to=100_000),
        _price(0.50, 2.50),
    ),
    _current("claude-opus-5", "medium", _price(5, 25)),
    _current("claude-sonnet-5", "high", _price(2, 10)),
    ModelCard(
        id="claude-haiku-4-5",
        window=200_000,
        output_cap=64_000,
        default_output=32_000,
        thinking="budget",
        caching=True,
        prices=(_price(1, 5),),
    ),
)
MODELS = {card.id: card for card in _CARDS}

ALIASES = {
    "best": "claude-fable-5-2",
    "fable": "claude-fable-5-2",
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}
DEFAULT_MODEL = "sonnet"


def model_id(name: str) -> str:
    """The id that an alias stands for; any other name is taken as an id."""
    return ALIASES.get(name.strip().lower(), name.strip())


def card(name: str) -> ModelCard:
    """The card of an alias or id; a dated id has what its undated model has.

    An unknown model gets a card without features and without prices.
    """
    wanted = model_id(name)
    known = MODELS.get(wanted) or MODELS.get(_undated(wanted))
    if known is not None:
        return known if known.id == wanted else replace(known, id=wanted)
    if wanted.startswith("claude-"):
        return ModelCard(wanted, 200_000, output_cap=32_000, default_output=32_000, caching=True)
    return plain_card(wanted)


def plain_card(id: str, window: int | None = None) -> ModelCard:
    """A model that is asked for nothing but text and tools; `window` if its server told it."""
    size = window or 32_000
    output = min(8_192, max(256, size // 4))
    return ModelCard(id=id, window=size, output_cap=output, default_output=output)


def _undated(id: str) -> str:
    head, _, date = id.rpartition("-")
    return head if len(date) == 8 and date.isdigit() else id
