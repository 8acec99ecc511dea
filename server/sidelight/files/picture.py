"""Pictures as a model can be shown them: decoded once to be sure, scaled, in a format it takes."""

from dataclasses import dataclass
from io import BytesIO
from typing import Any

MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_PIXELS = 64_000_000
"""Decoded, a pixel takes four bytes."""
MAX_SIDE = 2000
"""Pixels; requests with many pictures are refused with longer sides, and models see no more."""
SMALL_BYTES = 500_000
"""Above this a picture goes as JPEG: it stays in the conversation and is sent again each step."""
QUALITIES = (85, 70, 50, 30)
MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}
"""What the API takes, by the decoder's name."""
READABLE = (*MEDIA_TYPES, "BMP", "TIFF", "ICO", "AVIF")
MAGIC = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"II*\0",
    b"MM\0*",
    b"\0\0\1\0",
)
SENT_AS_IT_IS = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})
ORIENTATION = 0x0112
ENDS = {"image/png": b"IEND", "image/jpeg": b"\xff\xd9", "image/gif": b";"}
"""Without its end a picture may still be decoded here, but not everywhere."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that may be sent: its bytes, its sides in pixels, and those of the original."""

    media_type: str
    data: bytes
    width: int
    height: int
    original_width: int
    original_height: int


class PictureError(Exception):
    """The data cannot be shown as a picture; the message says why, as the end of a sentence."""


def is_picture(head: bytes) -> bool:
    """Whether a file that begins so may be a picture that can be shown; 12 bytes suffice."""
    named = head[4:12] in {b"ftypavif", b"ftypavis"}
    return named or head.startswith(MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


def prepare(data: bytes) -> Picture:
    """The picture that the bytes are, by content and not by name; blocking, up to a second.

    What fits goes as it is; the rest is scaled, turned upright and encoded anew. Everything is
    decoded: an API refuses a broken picture, and with it every later request. Raises PictureError.
    """
    if not data:
        raise PictureError("it is empty")
    if len(data) > MAX_FILE_BYTES:
        raise PictureError(f"it has more than {MAX_FILE_BYTES:,} bytes")
    # Decoders meet anything here, and fail in as many ways.
    try:
        return _prepared(data)
    except PictureError:
        raise
    except Exception as error:
        raise PictureError(f"it cannot be decoded ({error or type(error).__name__})") from error


def _prepared(data: bytes) -> Picture:
    from PIL import Image, ImageOps, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = (
        None  # its guard warns; ours, below, refuses before anything is decoded
    )
    try:
        opened = Image.open(BytesIO(data), formats=READABLE)
    except UnidentifiedImageError:
        raise PictureError("its header is broken or of no known format") from None
    with opened as image:
        width, height = image.size
        if 0 in image.size:
            raise PictureError("it has no pixels")
        if width * height > MAX_PIXELS:
            raise PictureError(f"{width} x {height} pixels are too many; make a smaller copy")
        media_type = MEDIA_TYPES.get(image.format or "")
        turned = image.getexif().get(ORIENTATION, 1) != 1
        fits = max(image.size) <= MAX_SIDE and len(data) <= SMALL_BYTES
        whole = ENDS.get(media_type or "", b"") in data[-64:]
        plain = image.mode in SENT_AS_IT_IS and not turned
        as_it_is = fits and whole and plain and media_type
        if not as_it_is:
            image.draft(None, (MAX_SIDE, MAX_SIDE))  # a JPEG need not be decoded at full size
        image.load()
        if as_it_is and media_type:
            return Picture(media_type, data, width, height, width, height)
        shown = ImageOps.exif_transpose(_in_full_colour(image))
        shown.thumbnail((MAX_SIDE, MAX_SIDE))
        encoded, media_type = _encoded(shown, lossy=image.format == "JPEG")
        return Picture(media_type, encoded, *shown.size, width, height)


def _in_full_colour(image: Any) -> Any:
    """The picture in a mode that scales well and that every encoder takes."""
    if image.mode in {"L", "LA", "RGB", "RGBA"}:
        return image
    if image.mode.startswith("I"):  # 16 bits of grey
        return image.convert("I").point(_high_byte).convert("L")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _high_byte(value: Any) -> Any:
    return value / 256


def _encoded(image: Any, *, lossy: bool) -> tuple[bytes, str]:
    if not lossy:
        data = _saved(image, "PNG")
        if len(data) <= SMALL_BYTES:
            return data, "image/png"
    opaque = _on_white(image)
    data = b""
    for quality in QUALITIES:
        data = _saved(opaque, "JPEG", quality=quality)
        if len(data) <= SMALL_BYTES:
            break
    return data, "image/jpeg"


def _on_white(image: Any) -> Any:
    """The picture without transparency, which JPEG does not have."""
    if not image.mode.endswith("A"):
        return image
    layered = image.convert("RGBA")
    white = layered.copy()
    white.paste((255, 255, 255, 255), (0, 0, *layered.size))
    white.alpha_composite(layered)
    return white.convert("RGB")


def _saved(image: Any, form: str, **options: int) -> bytes:
    stream = BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()
