"""Finding a text in a file: exactly, or with line ends taken as equal. Nothing else matches."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sidelight.tools.text.lines import View, normalise

NUMBER = re.compile(r" *(\d+)(?:\t| ?\| ?|$)")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a view's text; `start` and `end` are offsets of `View.text`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Found:
    """All places, overlapping ones too, of the text `old`; `new` is what is to stand there.

    `literal` says that `new` has its own line ends; `stripped`, that both were copied with line
    numbers, which were taken off.
    """

    places: tuple[Span, ...]
    old: str
    new: str
    literal: bool = False
    stripped: bool = False


def find(view: View, old: str, new: str) -> Found:
    """Where `old` stands; first as it is, then without copied line numbers if all lines have one.

    `old` is not empty. No places means that it was not found.
    """
    places = _exact_places(view, old) if "\r" in old else ()
    if places:
        return Found(places, old, new, literal=True)
    literal = "\r" in new and "\r" not in old
    plain = Found(tuple(_places(view.text, normalise(old))), old, new, literal)
    if plain.places:
        return plain
    bare_old, bare_new = without_numbers(normalise(old)), without_numbers(normalise(new))
    if not bare_old or bare_new is None or not _is_numbering(old):
        return plain
    bare = Found(tuple(_places(view.text, bare_old)), bare_old, bare_new, stripped=True)
    return bare if bare.places else plain


def apart(places: tuple[Span, ...]) -> tuple[Span, ...]:
    """The places from left to right that do not overlap an earlier one."""
    kept: list[Span] = []
    for place in places:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    return tuple(kept)


def without_numbers(text: str) -> str | None:
    """The text less the line number of every line; None unless every line has one."""
    if not text:
        return ""
    lines = text.split("\n")
    ends_open = lines[-1] == "" and len(lines) > 1
    body = lines[:-1] if ends_open else lines
    matches = [NUMBER.match(line) for line in body]
    if not all(matches):
        return None
    bare = [line[match.end() :] for line, match in zip(body, matches, strict=True) if match]
    return "\n".join((*bare, "") if ends_open else bare)


def _is_numbering(text: str) -> bool:
    """Whether the numbers count up by one, as a copied view does and data hardly does."""
    found = [NUMBER.match(line) for line in normalise(text).removesuffix("\n").split("\n")]
    numbers = [int(match[1]) for match in found if match]
    return bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _places(text: str, old: str) -> Iterator[Span]:
    at = text.find(old)
    while at >= 0:
        yield Span(at, at + len(old))
        at = text.find(old, at + 1)


def _exact_places(view: View, old: str) -> tuple[Span, ...]:
    wanted = normalise(old)
    return tuple(
        place
        for place in _places(view.text, wanted)
        if view.exact[view.back(place.start) : view.back(place.end)] == old
    )
