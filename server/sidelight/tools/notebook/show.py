"""A notebook's cells with their outputs as blocks for the model."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sidelight.core.content import Image, Json, ResultBlock, Text, as_list, as_object
from sidelight.core.tokens import CHARACTERS_PER_TOKEN
from sidelight.files.picture import PictureError, prepare
from sidelight.tools.notebook.parse import Cell, Notebook, joined

OUTPUT_HEAD = 6000
OUTPUT_TAIL = 2000
PICTURE_TOKENS = 2000
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
TEXTS = ("text/plain", "text/markdown", "text/latex", "application/json")
TERMINAL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@dataclass(frozen=True, slots=True)
class Shown:
    """Some cells, ready to be sent. `cut` says that the one cell was too long to be whole."""

    cells: tuple[Cell, ...]
    content: tuple[ResultBlock, ...]
    data: list[Json]
    cut: bool = False


def show(book: Notebook, first: int, count: int, max_tokens: int) -> Shown:
    """Up to `count` cells from the 1-based `first`, as far as there is room; blocking."""
    room = max_tokens * CHARACTERS_PER_TOKEN
    cells: list[Cell] = []
    content: list[ResultBlock] = []
    data: list[Json] = []
    for cell in book.cells[first - 1 : first - 1 + count]:
        blocks = list(_cell(book, cell))
        size = sum(map(_size, blocks))
        if size > room and cells:
            break
        if size > room:
            text = "".join(block.text for block in blocks if isinstance(block, Text))[:room]
            return Shown((cell,), (Text(text=text),), [_record(book, cell)], cut=True)
        room -= size
        cells.append(cell)
        content += blocks
        data.append(_record(book, cell))
    return Shown(tuple(cells), tuple(_merged(content)), data)


def output_text(output: Json) -> str:
    """The text of a cell's output, shortened in the middle; pictures and pages are only named."""
    kind = output.get("output_type")
    if kind == "stream":
        return _shortened(joined(output.get("text")))
    if kind == "error":
        trace = "\n".join(str(line) for line in as_list(output.get("traceback")))
        return _shortened(trace or f"{output.get('ename')}: {output.get('evalue')}")
    bundle = as_object(output.get("data"))
    for name in TEXTS:
        if name in bundle:
            value = bundle[name]
            return _shortened(str(value) if name == "application/json" else joined(value))
    others = ", ".join(name for name in bundle if name not in PICTURES)
    return f"({others}, not shown)" if others else ""


def _cell(book: Notebook, cell: Cell) -> Iterator[ResultBlock]:
    run = cell.value.get("execution_count")
    about = f' language="{book.language}"' if cell.kind == "code" else ""
    about += f' run="{run}"' if isinstance(run, int) else ""
    text = f'<cell id="{cell.id}" type="{cell.kind}"{about}>\n{cell.source}\n</cell>\n'
    for output in map(as_object, as_list(cell.value.get("outputs"))):
        picture = _picture(output)
        said = output_text(output) if not isinstance(picture, Image) else ""
        if isinstance(picture, str):
            said = f"{said}\n{picture}".strip()
        if said:
            text += f"<output>\n{said}\n</output>\n"
        if isinstance(picture, Image):
            yield Text(text=text)
            yield picture
            text = ""
    if text:
        yield Text(text=text)


def _picture(output: Json) -> Image | str | None:
    """The output's picture, or why there is one that cannot be shown."""
    bundle = as_object(output.get("data"))
    name = next((name for name in PICTURES if name in bundle), None)
    if name is None:
        return None
    try:
        picture = prepare(base64.b64decode(joined(bundle[name])))
    except (PictureError, binascii.Error, ValueError) as error:
        return f"(a picture, {name}, that cannot be shown: {error})"
    return Image(media_type=picture.media_type, data=base64.b64encode(picture.data).decode("ascii"))


def _shortened(text: str) -> str:
    text = TERMINAL.sub("", text).rstrip("\n")
    left_out = len(text) - OUTPUT_HEAD - OUTPUT_TAIL
    if left_out <= 0:
        return text
    gap = f"\n({left_out:,} characters of this output are left out here)\n"
    return text[:OUTPUT_HEAD] + gap + text[-OUTPUT_TAIL:]


def _size(block: ResultBlock) -> int:
    if isinstance(block, Text):
        return len(block.text)
    return PICTURE_TOKENS * CHARACTERS_PER_TOKEN


def _merged(blocks: list[ResultBlock]) -> Iterator[ResultBlock]:
    """Neighbouring texts as one block."""
    texts: list[str] = []
    for block in blocks:
        if isinstance(block, Text):
            texts.append(block.text)
            continue
        if texts:
            yield Text(text="\n".join(texts))
            texts = []
        yield block
    if texts:
        yield Text(text="\n".join(texts))


def _record(book: Notebook, cell: Cell) -> Json:
    record: Json = {"cell_id": cell.id, "cellType": cell.kind, "source": cell.source}
    if cell.kind == "code":
        record["language"] = book.language
        record["execution_count"] = cell.value.get("execution_count")
        record["outputs"] = [
            {"output_type": output.get("output_type"), "text": output_text(output)}
            for output in map(as_object, as_list(cell.value.get("outputs")))
        ]
    return record
