"""A notebook as text with places: what is not changed keeps its bytes.

The format: https://nbformat.readthedocs.io, version 4. Its own library writes the whole file anew,
with keys in another order; so cells are found in the text, and only they are replaced.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sidelight.core.content import Json, as_list, as_object, is_object

SUFFIX = ".ipynb"
BLANK = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder()


class NotebookError(Exception):
    """The text is no notebook that we know; the message says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Member:
    """A key and its value in an object's text: `start` of the key, the value's place."""

    key: str
    start: int
    value_start: int
    value_end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its place in the text and in the order, its members, its value."""

    index: int
    start: int
    end: int
    members: tuple[Member, ...]
    value: Json

    @property
    def id(self) -> str:
        """What the model calls it: its id, or its place in older notebooks, which have none."""
        given = self.value.get("id")
        return given if isinstance(given, str) and given else f"cell-{self.index}"

    @property
    def kind(self) -> str:
        """`code`, `markdown`, `raw`, or what else stands there."""
        return str(self.value.get("cell_type", ""))

    @property
    def source(self) -> str:
        """The text of the cell."""
        return joined(self.value.get("source"))

    def member(self, key: str) -> Member | None:
        """The place of a key; of several equal ones the last, as JSON readers take it."""
        return next((each for each in reversed(self.members) if each.key == key), None)


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's text; `start` and `end` enclose the list of cells with its brackets."""

    text: str
    start: int
    end: int
    cells: tuple[Cell, ...]
    value: Json

    @property
    def language(self) -> str:
        """The language of its code cells."""
        about = as_object(self.value.get("metadata"))
        kernel, info = as_object(about.get("kernelspec")), as_object(about.get("language_info"))
        return str(kernel.get("language") or info.get("name") or "python")

    @property
    def has_ids(self) -> bool:
        """Whether cells of this version have ids (4.5 and later)."""
        minor = self.value.get("nbformat_minor")
        return isinstance(minor, int) and minor >= 5

    def lines(self, cell: Cell) -> tuple[int, int]:
        """First and last line of the file that a cell stands on, from 1."""
        first = self.text.count("\n", 0, cell.start) + 1
        return first, first + self.text.count("\n", cell.start, cell.end)


def parse(text: str) -> Notebook:
    """The notebook. Raises NotebookError."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"it is no valid JSON ({error})") from error
    if not is_object(value) or not isinstance(value.get("cells"), list):
        raise NotebookError("it has no list of cells, as notebooks of version 4 have")
    if not all(map(is_object, as_list(value["cells"]))):
        raise NotebookError("one of its cells is no object")
    place = [member for member in _members(text, _skip(text, 0)) if member.key == "cells"][-1]
    cells = tuple(
        Cell(index, start, end, tuple(_members(text, start)), as_object(each))
        for index, ((start, end), each) in enumerate(
            zip(_elements(text, place.value_start), as_list(value["cells"]), strict=True)
        )
    )
    return Notebook(text, place.value_start, place.value_end, cells, value)


def joined(value: object) -> str:
    """Text that a notebook keeps as a string or as a list of lines."""
    return value if isinstance(value, str) else "".join(str(line) for line in as_list(value))


def _skip(text: str, at: int) -> int:
    match = BLANK.match(text, at)
    return match.end() if match else at


def _members(text: str, at: int) -> Iterator[Member]:
    """The members of the object that begins at `at`; the text is valid JSON."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = _decoder.raw_decode(text, at)
        value_start = _skip(text, _skip(text, end) + 1)
        _, value_end = _decoder.raw_decode(text, value_start)
        yield Member(str(key), at, value_start, value_end)
        at = _next(text, value_end)


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    at = _skip(text, at + 1)
    while text[at] != "]":
        _, end = _decoder.raw_decode(text, at)
        yield at, end
        at = _next(text, end)


def _next(text: str, at: int) -> int:
    """Behind the comma, or at the closing bracket."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at
