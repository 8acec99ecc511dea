"""Pictures: what fits goes as it is, the rest is scaled, and nothing broken gets through."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sidelight.files.picture import (
    MAX_SIDE,
    SMALL_BYTES,
    Picture,
    PictureError,
    is_picture,
    prepare,
)
from tests.builders_media import picture
from tests.fakes.messages_api.images import dimensions, media_type


def opened(shown: Picture) -> Image.Image:
    image = Image.open(BytesIO(shown.data))
    image.load()
    return image


@pytest.mark.parametrize(
    ("form", "kind"), [("PNG", "png"), ("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp")]
)
def test_a_picture_that_fits_goes_byte_for_byte(form: str, kind: str) -> None:
    data = picture(7, 5, form)
    assert is_picture(data[:12])
    assert prepare(data) == Picture(f"image/{kind}", data, 7, 5, 7, 5)


@pytest.mark.parametrize("form", ["BMP", "TIFF", "ICO", "AVIF"])
def test_a_format_that_no_model_takes_becomes_one_that_it_does(form: str) -> None:
    data = picture(32, 16, form)
    assert is_picture(data[:12])
    shown = prepare(data)
    assert (shown.media_type, media_type(shown.data)) == ("image/png", "image/png")
    assert opened(shown).size == (shown.width, shown.height)


def test_a_large_picture_is_scaled_to_the_longest_side_that_is_taken() -> None:
    shown = prepare(picture(9000, 450))
    assert (shown.width, shown.height) == (MAX_SIDE, 100)
    assert (shown.original_width, shown.original_height) == (9000, 450)
    assert dimensions(shown.data) == (MAX_SIDE, 100)
    assert shown.media_type == "image/png"


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L"])
def test_what_stays_heavy_becomes_a_jpeg(mode: str) -> None:
    data = picture(1200, 1000, mode=mode, noisy=True)
    assert len(data) > SMALL_BYTES
    shown = prepare(data)
    assert shown.media_type == media_type(shown.data) == "image/jpeg"
    assert len(shown.data) <= SMALL_BYTES
    assert (shown.width, shown.height) == (1200, 1000)


def test_what_shines_through_becomes_white() -> None:
    image = Image.effect_noise((1200, 1000), 90).convert("RGBA")
    image.putalpha(0)
    stream = BytesIO()
    image.save(stream, "PNG", compress_level=0)
    shown = opened(prepare(stream.getvalue()))
    assert shown.getpixel((600, 500)) == (255, 255, 255)


def test_a_photograph_is_turned_as_its_camera_was_held() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    shown = prepare(picture(40, 20, "JPEG", exif=exif))
    assert (shown.width, shown.height) == (20, 40)


@pytest.mark.parametrize(("form", "cut"), [("PNG", 12), ("GIF", 1)])
def test_a_picture_without_its_end_is_mended(form: str, cut: int) -> None:
    shown = prepare(picture(30, 20, form)[:-cut])
    assert opened(shown).size == (30, 20)
    assert b"IEND" in shown.data[-32:]


@pytest.mark.parametrize("mode", ["CMYK", "I;16"])
def test_colours_that_browsers_do_not_know_are_converted(mode: str) -> None:
    form = "JPEG" if mode == "CMYK" else "PNG"
    shown = opened(prepare(picture(20, 20, form, mode=mode)))
    assert shown.mode in {"RGB", "L"}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "it is empty"),
        (picture(30, 20)[:-40], "it cannot be decoded"),
        (picture(30, 20, "JPEG")[:-200], "it cannot be decoded"),
        (b"\xff\xd8\xff\xe0\0", "its header is broken"),
        (b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0", "cannot be decoded|header is broken"),
        (picture(9000, 8000, mode="1"), "9000 x 8000 pixels are too many"),
        (b"text", "its header is broken or of no known format"),
    ],
)
def test_what_an_api_would_refuse_is_refused_here(data: bytes, complaint: str) -> None:
    """B110: it would stand in the history and spoil each later request."""
    with pytest.raises(PictureError, match=complaint):
        prepare(data)


WHOLE = [picture(9, 7, form) for form in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")]


@given(st.sampled_from(WHOLE), st.data())
def test_damage_anywhere_gives_a_picture_or_a_sentence(whole: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(whole) - 1))
    broken = (
        whole[:at] + data.draw(st.binary(max_size=6)) + whole[at + data.draw(st.integers(0, 6)) :]
    )
    try:
        shown = prepare(broken)
    except PictureError as error:
        assert str(error)
    else:
        assert media_type(shown.data) == shown.media_type
        assert max(shown.width, shown.height) <= MAX_SIDE
