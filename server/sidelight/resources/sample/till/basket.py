"""A basket of goods and what it costs."""

from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal

CENT = Decimal("0.01")


@dataclass
class Item:
    name: str
    price: Decimal
    quantity: int = 1


@dataclass
class Basket:
    items: list[Item] = field(default_factory=list)

    def add(self, name: str, price: str, quantity: int = 1) -> None:
        """Put goods into the basket; the price is for one piece."""
        self.items.append(Item(name, Decimal(price), quantity))

    def total(self) -> Decimal:
        """The sum of all goods."""
        return sum((item.price for item in self.items), Decimal())

    def discounted(self, percent: int) -> Decimal:
        """The sum less a discount, rounded to the nearest cent."""
        left = self.total() * (100 - percent) / 100
        return left.quantize(CENT, rounding=ROUND_DOWN)
