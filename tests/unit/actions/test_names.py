"""Renames: the same thing everywhere in the file, nothing else, and said what is left."""

from pathlib import Path

import pytest

from sidelight.actions.checks import ActionError
from sidelight.actions.names import Names

FILE = '''import json
from math import floor as down


class Basket:
    """A basket; total is its sum."""

    def __init__(self, items):
        self.items = items
        self.total = 0

    def add(self, price, times=1):
        self.total += price * times
        return f"{self.total} and {price!r}"


def total(basket):
    total = basket.total
    return down(total)


def both(price):
    basket = Basket([])
    basket.add(price, times=2)
    return total(basket), json.dumps({"price": price})
'''


@pytest.fixture(autouse=True)
def cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))


def names(text: str = FILE) -> Names:
    return Names(text, "/nowhere/shop.py")


def at(words: str, text: str = FILE) -> tuple[int, int]:
    place = text.index(words)
    return place, place


def test_an_attribute_is_renamed_where_the_same_is_meant_and_the_rest_is_said() -> None:
    place = at("total += price")
    done = names().rename("total", "amount", *place)
    assert done.after == FILE.replace(".total", ".amount")
    assert done.left == (6, 17, 18, 19, 25)
    assert done.wide


def test_a_parameter_is_renamed_with_its_keyword_in_calls() -> None:
    done = names().rename("times", "count", *at("times=1"))
    assert done.after == FILE.replace("times", "count")
    assert done.left == ()


def test_a_local_variable_is_renamed_without_the_function_of_the_same_name() -> None:
    done = names().rename("total", "amount", *at("total = basket"))
    wanted = FILE.replace("    total = basket", "    amount = basket")
    assert done.after == wanted.replace("down(total)", "down(amount)")
    assert not done.wide


def test_names_in_format_strings_are_found() -> None:
    done = names().rename("price", "cost", *at("price, times=1"))
    wanted = FILE.replace("price, times=1", "cost, times=1").replace("+= price", "+= cost")
    assert done.after == wanted.replace("{price!r}", "{cost!r}")


def test_a_name_that_means_several_things_needs_the_cursor() -> None:
    with pytest.raises(ActionError, match="total means several things here; put the cursor"):
        names().rename("total", "amount", 0, 0)


@pytest.mark.parametrize("old", ["json", "floor", "dumps", "print", "nowhere"])
def test_what_this_file_does_not_define_is_not_renamed(old: str) -> None:
    with pytest.raises(ActionError, match=f"{old} is not defined in this file"):
        names().rename(old, "other", 0, 0)


def test_a_file_that_is_no_python_is_refused_with_the_line() -> None:
    with pytest.raises(ActionError, match=r"not valid Python \(line 2\)"):
        names("x = 1\ndef f(:\n")


def test_candidates_are_the_name_at_the_cursor_then_those_said_then_the_selections() -> None:
    assert names().candidates("anything", *at("price * times")) == ("price",)
    assert names().candidates("call total grand_total", 0, 0) == ("total",)
    start = FILE.index("def both")
    assert names().candidates("clearer", start, len(FILE)) == ("both", "price", "basket")
    found = names().candidates("clearer", 0, 0)
    assert {"Basket", "items", "total", "times", "down"} <= set(found)
    assert not {"json", "dumps", "floor"} & set(found)


def test_windows_line_ends_and_wide_characters_do_not_move_the_places() -> None:
    text = 'ä = "𝄞"\r\n\r\ndef f(ä2):\r\n    return "𝄞", ä2\r\n'
    done = names(text).rename("ä2", "b", *at("ä2)", text))
    assert done.after == text.replace("ä2", "b")


def test_nothing_of_the_folder_is_run_or_imported(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    (tmp_path / "helper.py").write_text(trap)
    (tmp_path / "setup.py").write_text(trap)
    text = "import helper\n\n\ndef f(x):\n    return helper.g(x)\n"
    done = Names(text, str(tmp_path / "main.py")).rename("x", "y", *at("x)", text))
    assert done.after == text.replace("(x)", "(y)")
    assert not (tmp_path / "ran").exists()
