"""Pictures, PDF files and notebooks for tests, made by the libraries that make them elsewhere."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pypdf
from PIL import Image
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject


def picture(
    width: int,
    height: int,
    form: str = "PNG",
    *,
    mode: str = "RGB",
    noisy: bool = False,
    **how: Any,
) -> bytes:
    """A picture of one colour, or one that cannot be made small."""
    colour = {"RGB": (10, 200, 30), "RGBA": (10, 200, 30, 0), "CMYK": (1, 2, 3, 4)}.get(mode, 1)
    image = Image.new(mode, (width, height), colour)
    if noisy:
        image = Image.effect_noise((width, height), 90).convert(mode)
    stream = BytesIO()
    image.save(stream, form, **how)
    return stream.getvalue()


def pdf(pages: Sequence[str], password: str = "") -> bytes:
    """A PDF with a line of text on each page."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(200, 100)
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})  # pyright: ignore[reportPrivateUsage]
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 50 Td ({text}) Tj ET".encode("ascii"))
        page[NameObject("/Contents")] = writer._add_object(stream)  # pyright: ignore[reportPrivateUsage]
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def cell(name: str, source: str, kind: str = "code", **more: Any) -> dict[str, Any]:
    """A cell as nbformat writes it."""
    made: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    made["source"] = source.splitlines(keepends=True)
    return made | more


def notebook(*cells: dict[str, Any], **how: Any) -> str:
    """A notebook's text; `how` goes to the JSON writer."""
    value = {
        "cells": list(cells),
        "metadata": {"kernelspec": {"display_name": "R", "language": "R", "name": "ir"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    style: dict[str, Any] = {"indent": 1, "ensure_ascii": False, "sort_keys": True}
    return json.dumps(value, **(style | how)) + "\n"
