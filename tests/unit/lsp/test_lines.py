"""The line index against a model that is too simple to be wrong."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.lsp.lines import Encoding, Lines, Place, split_lines, to_column, to_index

ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]
ALPHABET = "ab\n\r\t\f\v\x1c\x85\u2028\u2029é中😀\ud800"
texts = st.text(alphabet=ALPHABET, max_size=30)
places = st.builds(Place, st.integers(0, 8), st.integers(0, 12))


def units(character: str, encoding: Encoding) -> int:
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 2 if ord(character) > 0xFFFF else 1
    return len(character.encode("utf-8", "surrogatepass"))


def naive_offset(text: str, place: Place, encoding: Encoding) -> int:
    """Walks the text character by character."""
    ends = list(re.finditer(r"\r\n|\n|\r", text))
    if place.line > len(ends):
        return len(text)
    start = ends[place.line - 1].end() if place.line else 0
    stop = ends[place.line].start() if place.line < len(ends) else len(text)
    column, offset = 0, start
    while offset < stop and column + units(text[offset], encoding) <= place.column:
        column += units(text[offset], encoding)
        offset += 1
    return offset


@given(texts)
def test_lines_end_where_the_protocol_says_and_nowhere_else(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert len(lines) == len(re.findall(r"\r\n|\n|\r", text)) + 1
    assert all(re.fullmatch(r"[^\r\n]*(\r\n|\n|\r)", line) for line in lines[:-1])
    assert not lines[-1].endswith(("\r", "\n"))


@given(texts, places, st.sampled_from(ENCODINGS))
def test_a_place_means_the_same_offset_as_in_the_model(
    text: str, place: Place, encoding: Encoding
) -> None:
    assert Lines(text).offset(place, encoding) == naive_offset(text, place, encoding)


@given(texts, st.data(), st.sampled_from(ENCODINGS))
def test_an_offset_comes_back_from_its_place(
    text: str, data: st.DataObject, encoding: Encoding
) -> None:
    offset = data.draw(st.integers(0, len(text)))
    lines = Lines(text)
    back = lines.offset(lines.place(offset, encoding), encoding)
    inside_line_end = text[offset - 1 : offset + 1] == "\r\n"
    assert back == (offset - 1 if inside_line_end else offset)


@given(texts, st.lists(st.tuples(places, places, texts), max_size=6), st.sampled_from(ENCODINGS))
def test_random_edits_give_the_text_of_the_model(
    text: str, edits: list[tuple[Place, Place, str]], encoding: Encoding
) -> None:
    lines = Lines(text)
    for start, end, new_text in edits:
        lines.replace(start, end, new_text, encoding)
        a, b = sorted(naive_offset(text, place, encoding) for place in (start, end))
        text = text[:a] + new_text + text[b:]
        assert lines.text == text
        assert len(lines) == len(split_lines(text))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_column_behind_the_end_of_the_last_line_is_its_end(encoding: Encoding) -> None:
    lines = Lines("abc")
    lines.replace(Place(0, 99), Place(0, 99), "X", encoding)
    assert lines.text == "abcX"


def test_columns_after_an_emoji_are_those_of_the_encoding() -> None:
    line = 'x="😋😋"; y=1'
    assert {encoding: to_column(line, 8, encoding) for encoding in ENCODINGS} == {
        "utf-8": 14,
        "utf-16": 10,
        "utf-32": 8,
    }
    assert [to_index(line, 10, "utf-16"), to_index(line, 4, "utf-16")] == [8, 3]


def test_many_edits_of_a_large_file_cost_what_they_touch() -> None:
    """Counts copied characters, not time: each edit may build anew only the lines it touches."""
    text = "".join(f"line {number} of a file\n" for number in range(45_000))
    lines = Lines(text)
    before = [id(line) for line in lines._lines]  # pyright: ignore[reportPrivateUsage]
    for number in range(5_000):
        lines.replace(Place(number * 9, 4), Place(number * 9, 5), "_", "utf-16")
    after = [id(line) for line in lines._lines]  # pyright: ignore[reportPrivateUsage]
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 5_000
    assert lines.text.count("line_") == 5_000
    assert len(lines.text) == len(text)
