"""The rules for images and documents: source, format, bytes and pixels."""

from __future__ import annotations

import base64
import binascii
import struct

from tests.fakes.messages_api.request import Json, Problem, mapping
from tests.fakes.messages_api.shapes import wrong_tag

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
MAX_IMAGE = 5 * 1024 * 1024
MAX_SIDE = 8000


def image_problem(path: str, block: Json) -> Problem | None:
    """What is wrong with an image block at `path`, if anything."""
    source = mapping(block.get("source"))
    kind = source.get("type")
    if kind == "url":
        return (
            None if source.get("url") else Problem(f"{path}.image.source.url.url: Field required")
        )
    if kind == "file":
        return None
    if kind != "base64":
        return Problem(wrong_tag(f"{path}.image.source", str(kind), ["base64", "file", "url"]))
    return _base64_problem(path, source)


def _base64_problem(path: str, source: Json) -> Problem | None:
    where = f"{path}.image.source.base64"
    declared = source.get("media_type")
    if declared not in MEDIA_TYPES:
        return Problem(f"{where}.media_type: Input should be one of {', '.join(MEDIA_TYPES)}")
    data = decoded(source.get("data"))
    if not data:
        return Problem(f"{where}.data: Input should be valid base64")
    if len(data) > MAX_IMAGE:
        return Problem(
            f"{where}: image exceeds 5 MB maximum: {len(data)} bytes > {MAX_IMAGE} bytes"
        )
    if media_type(data) != declared:
        return Problem(f"{where}.data: Image does not match the provided media type {declared}")
    if max(dimensions(data) or (0, 0)) > MAX_SIDE:
        details = {
            "error_code": "image_dimensions_too_large",
            "paths": [path],
            "max_side_length_pixels": MAX_SIDE,
        }
        return Problem(
            f"{where}.data: At least one of the image dimensions exceed max allowed size: "
            f"{MAX_SIDE} pixels",
            details=details,
        )
    return None


def document_problem(path: str, block: Json) -> Problem | None:
    """What is wrong with a document block at `path`, if anything."""
    source = mapping(block.get("source"))
    where = f"{path}.document.source.base64"
    if source.get("type") != "base64":
        return None
    if source.get("media_type") != "application/pdf":
        return Problem(f"{where}.media_type: Input should be 'application/pdf'")
    data = decoded(source.get("data"))
    if not data or not data.startswith(b"%PDF-"):
        return Problem(f"{where}.data: The PDF specified was not valid.")
    return None


def decoded(data: object) -> bytes | None:
    """The bytes behind strict base64, or None."""
    if not isinstance(data, str) or not data:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def media_type(data: bytes) -> str | None:
    """The format that the first bytes show, or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def dimensions(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF or JPEG, or None where they cannot be read."""
    kind = media_type(data)
    if kind == "image/png" and len(data) >= 24:
        return struct.unpack(">II", data[16:24])
    if kind == "image/gif" and len(data) >= 10:
        return struct.unpack("<HH", data[6:10])
    if kind == "image/jpeg":
        return _jpeg_dimensions(data)
    return None


def _jpeg_dimensions(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return None
