"""Pages of a PDF: how many there are, some of them as a PDF of their own, and their text."""

import logging
import re
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from sidelight.core.errors import ToolError

MAX_FILE_BYTES = 100 * 1024 * 1024
MAX_SENT_BYTES = 10 * 1024 * 1024
"""A request may have 32 MB in base64, and a document stays in the conversation."""
MAX_PAGES = 20
MAX_PAGES_UNASKED = 10
MAX_TEXT = 100_000
"""Characters of text that are kept beside the pages."""
RANGE = re.compile(r"\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?\s*)?")


@dataclass(frozen=True, slots=True)
class Pages:
    """Some pages as a PDF; `first` and `last` are counted from 1, `total` is the whole file's."""

    data: bytes
    text: str
    first: int
    last: int
    total: int


class PdfError(Exception):
    """The file cannot be shown; the message says why, as the end of a sentence."""


def page_range(pages: str) -> tuple[int, int | None]:
    """First and last page of `3`, `1-5` or `7-` (no last page). Raises ToolError."""
    match = RANGE.fullmatch(pages)
    if match is None:
        raise ToolError(
            f"pages is {pages!r}; write one page as 3, some as 1-5, all from one on as 7-.",
            "invalid_input",
        )
    first = int(match[1])
    last = (int(match[3]) if match[3] else None) if match[2] else first
    if first < 1 or (last is not None and last < first):
        raise ToolError(
            f"pages is {pages!r}; they are counted from 1, the first one first.", "invalid_input"
        )
    return first, last


def pages_of(data: bytes, wanted: tuple[int, int | None] | None) -> Pages:
    """The wanted pages, all without a wish; blocking, some seconds for long texts.

    Raises PdfError, or ToolError when pages have to be chosen.
    """
    # What a reader of thirty years of PDF writers meets, it meets in many exceptions.
    try:
        return _pages(data, wanted)
    except (PdfError, ToolError):
        raise
    except Exception as error:
        raise PdfError(f"it cannot be read ({error or type(error).__name__})") from error


def _pages(data: bytes, wanted: tuple[int, int | None] | None) -> Pages:
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every fault that it mends
    reader = pypdf.PdfReader(BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise PdfError("it is protected by a password; ask for a copy without one")
    total = len(reader.pages)
    if not total:
        raise PdfError("it has no pages")
    first, last = _chosen(wanted, total)
    whole = (first, last) == (1, total) and not reader.is_encrypted
    chosen: list[Any] = list(reader.pages[first - 1 : last])
    if whole:
        sent = data
    else:
        writer = pypdf.PdfWriter()
        for page in chosen:
            writer.add_page(page)
        stream = BytesIO()
        writer.write(stream)
        sent = stream.getvalue()
    if len(sent) > MAX_SENT_BYTES:
        advice = "choose fewer pages" if last > first else "turn the page into a smaller picture"
        raise PdfError(
            f"pages {first}-{last} have {len(sent):,} bytes; {MAX_SENT_BYTES:,} can be shown at "
            f"once: {advice}"
        )
    return Pages(sent, _text(chosen, first), first, last, total)


def _chosen(wanted: tuple[int, int | None] | None, total: int) -> tuple[int, int]:
    if wanted is None:
        if total > MAX_PAGES_UNASKED:
            raise ToolError(
                f'The PDF has {total} pages. Choose up to {MAX_PAGES} of them, as in pages="1-5".',
                "invalid_input",
            )
        return 1, total
    first = wanted[0]
    last = min(wanted[1] or first + MAX_PAGES - 1, total)
    if first > total:
        raise ToolError(f"The PDF has {total} pages; there is no page {first}.", "invalid_input")
    if last - first >= MAX_PAGES:
        raise ToolError(
            f"pages {first}-{last} are {last - first + 1}; one Read shows up to {MAX_PAGES}, as "
            f'pages="{first}-{first + MAX_PAGES - 1}".',
            "invalid_input",
        )
    return first, last


def _text(pages: list[Any], first: int) -> str:
    parts: list[str] = []
    room = MAX_TEXT
    for number, page in enumerate(pages, first):
        text = str(page.extract_text()).strip()
        if not text:
            continue
        parts.append(f"[page {number}]\n{text[:room]}")
        room -= len(text)
        if room <= 0:
            parts.append("(the rest of the text is left out)")
            break
    return "\n\n".join(parts)
