"""Rough sizes in tokens, for budgets; the provider's own count always wins."""

CHARACTERS_PER_TOKEN = 4


def estimate(text: str) -> int:
    """Tokens of a text, rounded up, at four characters a token."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
