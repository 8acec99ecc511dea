"""What Read shows besides text: pictures, pages of a PDF, cells of a notebook."""

import base64
import stat
from pathlib import Path

import anyio.to_thread

from sidelight.core.content import Document, Image, Json, Text
from sidelight.core.errors import ToolError
from sidelight.core.host import FileSnapshot
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import ToolOutput
from sidelight.files import pdf, picture
from sidelight.files.disk import read_up_to
from sidelight.files.pdf import PdfError, page_range, pages_of
from sidelight.files.picture import PictureError, prepare
from sidelight.tools.notebook.parse import Notebook
from sidelight.tools.notebook.show import Shown, show
from sidelight.tools.target import Target

HEAD = 16


def is_pdf_file(path: str) -> bool:
    """Whether it is a regular file that begins as a PDF does; blocking, raises nothing."""
    try:
        # Opening a pipe would wait for its other end.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return False
        return read_up_to(Path(path), HEAD).startswith(b"%PDF-")
    except (OSError, ValueError):
        return False


async def picture_view(target: Target, what: str) -> ToolOutput:
    """The picture in a binary file; raises ToolError for any other, with `what` it is."""
    try:
        data = await anyio.to_thread.run_sync(_picture_bytes, Path(target.path))
    except OSError as error:
        raise ToolError(f"{target.path} cannot be read: {error}") from error
    if data is None:
        raise ToolError(
            f"{what}. Read shows text, pictures, PDF and notebooks; for other formats run a "
            "program that turns them into text.",
            "invalid_input",
        )
    try:
        shown = await anyio.to_thread.run_sync(prepare, data)
    except PictureError as error:
        raise ToolError(f"{what}, and {error}: it cannot be shown.", "invalid_input") from error
    encoded = base64.b64encode(shown.data).decode("ascii")
    size = f"{shown.original_width} x {shown.original_height}"
    if (shown.width, shown.height) != (shown.original_width, shown.original_height):
        size += f", shown as {shown.width} x {shown.height}"
    file: Json = {
        "base64": encoded,
        "type": shown.media_type,
        "originalSize": len(data),
        "dimensions": {
            "originalWidth": shown.original_width,
            "originalHeight": shown.original_height,
            "displayWidth": shown.width,
            "displayHeight": shown.height,
        },
    }
    return ToolOutput(
        content=(
            Text(text=f"{target.path} ({shown.media_type}, {size})"),
            Image(media_type=shown.media_type, data=encoded),
        ),
        data={"type": "image", "file": file},
    )


async def pdf_view(target: Target, pages: str | None) -> ToolOutput:
    """Pages of a PDF; raises ToolError."""
    wanted = page_range(pages) if pages else None
    try:
        data = await anyio.to_thread.run_sync(_pdf_bytes, Path(target.path))
        chosen = await anyio.to_thread.run_sync(pages_of, data, wanted)
    except PdfError as error:
        raise ToolError(
            f"{target.path} is a PDF document, but {error}.", "invalid_input"
        ) from error
    except OSError as error:
        raise ToolError(f"{target.path} cannot be read: {error}") from error
    encoded = base64.b64encode(chosen.data).decode("ascii")
    what = f"pages {chosen.first}-{chosen.last} of {chosen.total}"
    if (chosen.first, chosen.last) == (1, chosen.total):
        what = f"{chosen.total} page{'' if chosen.total == 1 else 's'}"
    more = chosen.last + 1
    note = (
        f'\n\n(PARTIAL view. Read on with pages="{more}-".)' if chosen.last < chosen.total else ""
    )
    return ToolOutput(
        content=(
            Text(text=f"{target.path} (PDF, {what}){note}"),
            Document(media_type="application/pdf", data=encoded, text=chosen.text),
        ),
        data={
            "type": "pdf",
            "file": {"filePath": target.path, "base64": encoded, "originalSize": len(data)},
        },
    )


async def notebook_view(
    target: Target,
    snapshot: FileSnapshot,
    book: Notebook,
    ledger: FileLedger,
    *,
    first: int,
    count: int,
    max_tokens: int,
) -> ToolOutput:
    """Cells of a notebook with their outputs; what was shown is noted in the ledger."""
    total = len(book.cells)
    shown = await anyio.to_thread.run_sync(show, book, first, count, max_tokens)
    _note(target, snapshot, book, ledger, shown)
    notes = ["This is unsaved text of the editor."] if snapshot.unsaved else []
    last = first + len(shown.cells) - 1
    if not shown.cells:
        notes.append(
            f"The notebook has {total} cells; there is none from {first} on."
            if total
            else "The notebook has no cells."
        )
    elif shown.cut:
        notes.append(f"PARTIAL view: cell {first} of {total} is too long and was cut.")
    elif (first, last) != (1, total):
        more = f" Read on with offset={last + 1}." if last < total else ""
        notes.append(f"PARTIAL view: cells {first}-{last} of {total}.{more}")
    said = Text(text="\n\n".join(f"({note})" for note in notes))
    content = (*shown.content, said) if notes else shown.content
    file: Json = {"filePath": target.path, "cells": shown.data}
    return ToolOutput(content=content, data={"type": "notebook", "file": file})


def _note(
    target: Target, snapshot: FileSnapshot, book: Notebook, ledger: FileLedger, shown: Shown
) -> None:
    if shown.cut:
        return
    if len(shown.cells) == len(book.cells):
        ledger.note_read(target.real, snapshot.text, whole=True)
    elif shown.cells:
        lines = book.lines(shown.cells[0])[0], book.lines(shown.cells[-1])[1]
        ledger.note_read(target.real, snapshot.text, whole=False, lines=lines)


def _picture_bytes(path: Path) -> bytes | None:
    """The file's bytes if it begins like a picture, one more than allowed at most."""
    if not picture.is_picture(read_up_to(path, HEAD)):
        return None
    return read_up_to(path, picture.MAX_FILE_BYTES + 1)


def _pdf_bytes(path: Path) -> bytes:
    size = path.stat().st_size
    if size > pdf.MAX_FILE_BYTES:
        raise PdfError(f"it has {size:,} bytes; up to {pdf.MAX_FILE_BYTES:,} can be read")
    return path.read_bytes()
