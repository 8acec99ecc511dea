"""What a response cost, in dollars."""

from math import fsum

from sidelight.core.messages import Usage
from sidelight.model.catalog import ModelCard, PriceTier

PRICE_UNKNOWN = "price unknown"


def cost(usage: Usage, card: ModelCard) -> float | None:
    """Dollars for one response (tiers go by the size of one prompt); None: price unknown."""
    tier = _tier(card.prices, usage.context_tokens)
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


def shown(dollars: float | None) -> str:
    """A cost for people: cents to four places, or that it is not known."""
    return PRICE_UNKNOWN if dollars is None else f"${dollars:.4f}"


def _tier(prices: tuple[PriceTier, ...], prompt_tokens: int) -> PriceTier | None:
    for tier in prices:
        if tier.up_to is None or prompt_tokens <= tier.up_to:
            return tier
    return None
