"""Pictures that a model can be shown: which kind, how large, whole or broken."""

import struct
from dataclasses import dataclass

MAX_BYTES = 3_750_000
"""Five million characters of base64, the API's limit for one picture."""
MAX_SIDE = 8000
"""Pixels; the API refuses a longer side."""


PNG, GIF, JPEG = b"\x89PNG\r\n\x1a\n", b"GIF8", b"\xff\xd8\xff"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture's media type and its size in pixels."""

    media_type: str
    width: int
    height: int


class BrokenPicture(Exception):
    """The data begins like a picture and is none; the message says what is wrong."""


def is_picture(head: bytes) -> bool:
    """Whether the first bytes (12 suffice) are those of a picture that can be shown."""
    return head.startswith((PNG, GIF, JPEG)) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


def inspect(data: bytes) -> Picture:
    """The picture that the bytes are, by content and not by name.

    Data beyond MAX_BYTES is taken as cut by the caller. Raises BrokenPicture for what is cut off
    or has no size: an API refuses it, and with it every later request.
    """
    try:
        picture = _inspect(data)
    except (struct.error, IndexError):
        raise BrokenPicture("its header is cut off") from None
    if 0 in {picture.width, picture.height}:
        raise BrokenPicture("it has no pixels")
    return picture


def _inspect(data: bytes) -> Picture:
    complete = len(data) <= MAX_BYTES
    if data.startswith(PNG):
        if complete and b"IEND" not in data[-32:]:
            raise BrokenPicture("its end is missing")
        return Picture("image/png", *struct.unpack(">II", data[16:24]))
    if data.startswith(GIF):
        return Picture("image/gif", *struct.unpack("<HH", data[6:10]))
    if data.startswith(JPEG):
        return Picture("image/jpeg", *_jpeg_size(data))
    if complete and struct.unpack("<I", data[4:8])[0] + 8 > len(data):
        raise BrokenPicture("its end is missing")
    return Picture("image/webp", *_webp_size(data))


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at < len(data):
        marker = data[at + 1]
        if data[at] != 0xFF:
            break
        if marker == 0xFF:  # fill bytes before a marker
            at += 1
            continue
        # Frame headers are C0 to CF, less the tables DHT, JPG and DAC.
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    raise BrokenPicture("it has no frame")


def _webp_size(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return (
            int.from_bytes(data[24:27], "little") + 1,
            int.from_bytes(data[27:30], "little") + 1,
        )
    if kind == b"VP8L":
        bits = struct.unpack("<I", data[21:25])[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", data[26:30])
    return width & 0x3FFF, height & 0x3FFF
