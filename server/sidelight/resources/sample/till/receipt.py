"""Prints what was bought."""

from till.basket import Basket


def receipt(basket: Basket, percent: int = 0) -> str:
    """One line an item, then the sum."""
    lines = [f"{item.quantity} x {item.name}" for item in basket.items]
    lines.append(f"Total {basket.discounted(percent)}")
    return "\n".join(lines)
