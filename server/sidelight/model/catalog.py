"""The models that are known by name: limits, features and prices, as of the vendor's own pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sidelight.core.model import Effort

AS_OF = "2026-11"

ThinkingKind = Literal["adaptive", "budget", "none"]
Feature = Literal["context_editing", "deferred_tools", "documents", "eager_input", "strict_tools"]
ALL_FEATURES: frozenset[Feature] = frozenset(get_args(Feature))
OWN_API: frozenset[Feature] = frozenset({"context_editing", "eager_input"})
"""What only the provider's own API is sure to take."""

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

    `window` and `output_cap` are tokens. No `prices` means that the price is unknown. `features`
    name what may stand in a request besides; what is not named is never sent.
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
    features: frozenset[Feature] = frozenset()

    def at(self, prefix: str, own_api: bool) -> "ModelCard":
        """The card elsewhere: under the id there, with all features only at the own API."""
        features = self.features if own_api else self.features - OWN_API
        there = f"{prefix}{self.id}" if self.id.startswith("claude-") else self.id
        return replace(self, id=there, features=features)


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
        features=ALL_FEATURES,
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
        features=ALL_FEATURES - {"deferred_tools"},
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
FAMILY_VARIABLES = {
    "fable": "ANTHROPIC_DEFAULT_FABLE_MODEL",
    "opus": "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "sonnet": "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "haiku": "ANTHROPIC_DEFAULT_HAIKU_MODEL",
}
DEFAULT_MODEL = "sonnet"


def families(env: Mapping[str, str]) -> dict[str, str]:
    """The ids that the user gave to family names; clouds and gateways have ids of their own."""
    found = {
        family: value
        for family, name in FAMILY_VARIABLES.items()
        if (value := env.get(name, "").strip())
    }
    if "fable" in found:
        found["best"] = found["fable"]
    return found


def model_id(name: str) -> str:
    """The id that an alias stands for; any other name is taken as an id."""
    return ALIASES.get(name.strip().lower(), name.strip())


def card(name: str, learned: Mapping[str, ModelCard] | None = None) -> ModelCard:
    """The card of an alias or id; a dated id, or one with a cloud's additions, has what the plain
    one has. `learned` are cards that the provider itself told; they go before the shipped ones.

    An unknown model gets a card without features and without prices.
    """
    wanted = model_id(name)
    plain = plain_id(wanted)
    told = learned or {}
    known = told.get(wanted) or told.get(plain) or MODELS.get(wanted) or MODELS.get(plain)
    if known is not None:
        return known if known.id == wanted else replace(known, id=wanted)
    if plain.startswith("claude-"):
        return ModelCard(wanted, 200_000, output_cap=32_000, default_output=32_000, caching=True)
    return plain_card(wanted)


def plain_card(id: str, window: int | None = None) -> ModelCard:
    """A model that is asked for nothing but text and tools; `window` if its server told it."""
    size = window or 32_000
    output = min(8_192, max(256, size // 4))
    return ModelCard(id=id, window=size, output_cap=output, default_output=output)


def plain_id(id: str) -> str:
    """An id without what clouds and gateways put around it, and without its date.

    As in `us.anthropic.claude-haiku-4-5-20251001-v1:0`, `claude-haiku-4-5@20251001`,
    `anthropic/claude-haiku-4-5`.
    """
    name = id.rpartition("/")[2]
    name = name.rpartition("anthropic.")[2]
    return re.sub(r"([-@]\d{8})?(-v\d+(:\d+)?)?$", "", name)
