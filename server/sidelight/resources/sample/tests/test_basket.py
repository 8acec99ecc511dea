"""What a basket costs."""

import unittest
from decimal import Decimal

from till.basket import Basket
from till.receipt import receipt


class BasketTest(unittest.TestCase):
    def setUp(self) -> None:
        self.basket = Basket()
        self.basket.add("apple", "0.35", quantity=3)
        self.basket.add("bread", "2.80")

    def test_the_total_counts_every_piece(self) -> None:
        self.assertEqual(self.basket.total(), Decimal("3.85"))

    def test_a_discount_is_rounded_to_the_nearest_cent(self) -> None:
        self.assertEqual(self.basket.discounted(25), Decimal("2.89"))

    def test_the_receipt_names_the_sum(self) -> None:
        self.assertEqual(receipt(self.basket), "3 x apple\n1 x bread\nTotal 3.85")
