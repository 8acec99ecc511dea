"""What a response cost, in dollars: by the day it came, the size of its prompt, and its tokens."""

from datetime import date
from math import fsum

from sidelight.core.messages import Usage
from sidelight.model.catalog import ModelCard, PriceTier

PRICE_UNKNOWN = "price unknown"
SMALLEST = 0.0001


def cost(usage: Usage, card: ModelCard, on: date) -> float | None:
    """Dollars for one response (tiers go by the size of one prompt); None: price unknown.

    That of fast mode is on no list that is known here.
    """
    if usage.fast:
        return None
    tier = _tier(in_force(card, on), usage.context_tokens)
    if tier is None:
        return None
    parts = (
        usage.input_tokens * tier.input,
        usage.output_tokens * tier.output,
        usage.cache_read_input_tokens * tier.cache_read,
        usage.cache_write_5m_tokens * tier.cache_write_5m,
        usage.cache_write_1h_tokens * tier.cache_write_1h,
    )
    return fsum(parts) / 1_000_000


def in_force(card: ModelCard, on: date) -> tuple[PriceTier, ...]:
    """The tiers that hold on a day: those of the newest list that had begun; none if none had."""
    begun = [tier.since for tier in card.prices if tier.since <= on.isoformat()]
    return tuple(tier for tier in card.prices if begun and tier.since == max(begun))


def shown(dollars: float | None) -> str:
    """A cost for people, or that it is not known; what is not free is never shown as nothing."""
    if dollars is None:
        return PRICE_UNKNOWN
    if 0 < dollars < SMALLEST:
        return f"under ${SMALLEST}"
    return f"${dollars:.4f}" if 0 < dollars < 1 else f"${dollars:.2f}"


def _tier(prices: tuple[PriceTier, ...], prompt_tokens: int) -> PriceTier | None:
    for tier in prices:
        if tier.up_to is None or prompt_tokens <= tier.up_to:
            return tier
    return None
