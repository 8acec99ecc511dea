"""Changes of a notebook's cells as edits of its text, in the file's own style of JSON."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from sidelight.core.content import Json
from sidelight.core.host import TextEdit
from sidelight.tools.notebook.parse import Cell, Notebook
from sidelight.tools.text.splice import main_line_end

ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")
OF_CODE = ("execution_count", "outputs")


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is written: `unit` is one step of indentation, None if all is on one line."""

    unit: str | None
    line_end: str
    comma: str
    colon: str
    ascii: bool
    lists: bool

    def dump(self, value: object, depth: int) -> str:
        """A value whose first line is indented already."""
        separators = ("," if self.unit is not None else self.comma, self.colon)
        text = json.dumps(value, ensure_ascii=self.ascii, indent=self.unit, separators=separators)
        return text if self.unit is None else text.replace("\n", self.at(depth))

    def at(self, depth: int) -> str:
        """A line end and the indentation of that depth; a blank or nothing on a single line."""
        if self.unit is None:
            return ""
        return self.line_end + self.unit * depth

    def between(self, depth: int) -> str:
        """What stands between two members or elements."""
        return self.comma if self.unit is None else "," + self.at(depth)

    def source(self, text: str) -> str | list[str]:
        """A cell's text as the file keeps such texts."""
        if not self.lists:
            return text
        lines = text.split("\n")
        return [*(line + "\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]


def replaced(book: Notebook, cell: Cell, source: str, kind: str) -> tuple[TextEdit, ...]:
    """The cell with another text; results of the old text go. Its other members stay as they are.

    Cells that become `code` get the members such cells have, others lose them.
    """
    style = _style(book)
    new = style.source(source) if _in_lines(cell, style) else source
    values: Json = {"source": new} if cell.source != source else {}
    if kind == "code":
        values |= {"execution_count": None, "outputs": []}
    if kind == cell.kind and all(cell.member(key) for key in values):
        places = sorted(
            (place.value_start, place.value_end, value)
            for key, value in values.items()
            if (place := cell.member(key)) and cell.value[key] != value
        )
        return tuple(
            TextEdit(start=start, end=end, new_text=style.dump(value, 3))
            for start, end, value in places
        )
    return (_rebuilt(book, cell, style, values | {"cell_type": kind}, kind),)


def inserted(
    book: Notebook, after: Cell | None, source: str, kind: str, key: str
) -> tuple[tuple[TextEdit, ...], str]:
    """A new cell behind another one, else at the front, and the id it has; `key` makes the id."""
    style = _style(book)
    name = _new_id(book, key) if book.has_ids else ""
    cell: Json = {"cell_type": kind, "metadata": {}, "source": style.source(source)}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    if name:
        cell["id"] = name
    text = style.dump(dict(sorted(cell.items())), 2)
    if not book.cells:
        place, text = (book.start, book.end), f"[{style.at(2)}{text}{style.at(1)}]"
    elif after is None:
        place, text = (book.cells[0].start,) * 2, text + style.between(2)
    else:
        place, text = (after.end,) * 2, style.between(2) + text
    index = 0 if after is None else after.index + 1
    return (TextEdit(start=place[0], end=place[1], new_text=text),), name or f"cell-{index}"


def deleted(book: Notebook, cell: Cell) -> tuple[TextEdit, ...]:
    """The notebook without the cell."""
    rest = book.cells[cell.index + 1 :]
    if rest:
        start, end = cell.start, rest[0].start
    elif cell.index:
        start, end = book.cells[cell.index - 1].end, cell.end
    else:
        start, end = book.start + 1, book.end - 1
    return (TextEdit(start=start, end=end, new_text=""),)


def _rebuilt(book: Notebook, cell: Cell, style: _Style, values: Json, kind: str) -> TextEdit:
    """The cell as another kind, from the very text of the members that stay."""
    gone = {"attachments"} if kind == "code" else set(OF_CODE)
    parts: list[str] = []
    for member in cell.members:
        if member.key in values:
            before = book.text[member.start : member.value_start]
            parts.append(before + style.dump(values[member.key], 3))
        elif member.key not in gone:
            parts.append(book.text[member.start : member.value_end])
    present = {member.key for member in cell.members}
    for key, value in values.items():
        if key not in present:
            parts.append(json.dumps(key) + style.colon + style.dump(value, 3))
    inner = style.between(3).join(parts)
    return TextEdit(
        start=cell.start, end=cell.end, new_text=f"{{{style.at(3)}{inner}{style.at(2)}}}"
    )


def _in_lines(cell: Cell, style: _Style) -> bool:
    return style.lists if "source" not in cell.value else isinstance(cell.value["source"], list)


def _new_id(book: Notebook, key: str) -> str:
    """An id that the same call gets again in its preview and in its run."""
    taken = {cell.id for cell in book.cells}
    count = 0
    while (name := sha256(f"{key}/{count}".encode()).hexdigest()[:8]) in taken:
        count += 1
    return name


def _style(book: Notebook) -> _Style:
    text = book.text
    head = re.match(r"\s*\{\s*\n([ \t]*)", text)
    first = book.cells[0] if book.cells else None
    sample = text[first.start : first.end] if first else text
    comma = ", " if re.search(r'[\]"}\dle], ', sample) else ","
    return _Style(
        unit=head[1] if head else None,
        line_end=main_line_end(text) or "\n",
        comma=comma,
        colon=": " if re.search(r'": ', sample) else ":",
        ascii=text.isascii() and ESCAPED.search(text) is not None,
        lists=not _any_string(book.cells),
    )


def _any_string(cells: Sequence[Cell]) -> bool:
    return any(isinstance(cell.value.get("source"), str) for cell in cells)
