"""Pages of PDF files."""

from io import BytesIO

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.errors import ToolError
from sidelight.files.pdf import Pages, PdfError, page_range, pages_of
from tests.builders_media import pdf


def test_a_short_document_goes_byte_for_byte_with_its_text_beside_it() -> None:
    data = pdf(["one", "", "three"])
    assert pages_of(data, None) == Pages(data, "[page 1]\none\n\n[page 3]\nthree", 1, 3, 3)


def test_some_pages_become_a_document_of_their_own() -> None:
    shown = pages_of(pdf([f"page {n}" for n in range(1, 31)]), (4, 6))
    assert (shown.first, shown.last, shown.total) == (4, 6, 30)
    texts = [page.extract_text() for page in pypdf.PdfReader(BytesIO(shown.data)).pages]
    assert texts == ["page 4", "page 5", "page 6"]
    assert shown.text == "[page 4]\npage 4\n\n[page 5]\npage 5\n\n[page 6]\npage 6"


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [((25, 40), (25, 30)), ((5, None), (5, 24)), ((29, None), (29, 30)), ((30, 30), (30, 30))],
)
def test_a_range_ends_with_the_document_or_after_20_pages(
    wanted: tuple[int, int | None], shown: tuple[int, int]
) -> None:
    pages = pages_of(pdf(["x"] * 30), wanted)
    assert (pages.first, pages.last) == shown


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        (None, 'The PDF has 30 pages. Choose up to 20 of them, as in pages="1-5".'),
        ((31, 31), "The PDF has 30 pages; there is no page 31."),
        ((2, 29), 'pages 2-29 are 28; one Read shows up to 20, as pages="2-21".'),
    ],
)
def test_a_choice_that_cannot_be_shown_is_answered_with_one_that_can(
    wanted: tuple[int, int | None] | None, complaint: str
) -> None:
    with pytest.raises(ToolError) as caught:
        pages_of(pdf(["x"] * 30), wanted)
    assert caught.value.message == complaint


@pytest.mark.parametrize(
    ("said", "meant"), [("3", (3, 3)), ("1-5", (1, 5)), (" 2 - 4 ", (2, 4)), ("7-", (7, None))]
)
def test_pages_are_written_as_people_write_them(said: str, meant: tuple[int, int | None]) -> None:
    assert page_range(said) == meant


@pytest.mark.parametrize("said", ["0", "5-2", "a", "1,3", "-3", "1-2-3", "99999999999999"])
def test_other_ways_are_answered_with_the_right_one(said: str) -> None:
    with pytest.raises(ToolError, match="pages is"):
        page_range(said)


def test_a_password_is_named_and_an_empty_one_is_none() -> None:
    with pytest.raises(PdfError, match="it is protected by a password"):
        pages_of(pdf(["secret"], password="x"), None)


def test_a_document_without_pages_or_without_sense_is_refused() -> None:
    with pytest.raises(PdfError, match="it has no pages"):
        pages_of(pdf([]), None)
    with pytest.raises(PdfError, match="it cannot be read"):
        pages_of(b"%PDF-1.7\nnothing follows", None)


WHOLE = pdf(["some words"])


@given(st.integers(0, len(WHOLE)), st.binary(max_size=8), st.integers(0, 8))
def test_damage_anywhere_gives_pages_or_a_sentence(at: int, put: bytes, cut: int) -> None:
    broken = WHOLE[:at] + put + WHOLE[at + cut :]
    try:
        assert pages_of(broken, None).total >= 1
    except (PdfError, ToolError) as error:
        assert str(error)
