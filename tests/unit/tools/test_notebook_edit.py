"""NotebookEdit: one cell changes, every other byte of the file stays."""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.content import Json
from sidelight.core.errors import ToolError
from sidelight.core.tool import AnyTool, ToolOutput
from sidelight.files.disk import apply_text_edits
from sidelight.tools.notebook.change import deleted, inserted, replaced
from sidelight.tools.notebook.parse import Notebook, parse
from sidelight.tools.notebook_edit import NotebookEditTool
from tests.builders_media import cell, notebook
from tests.unit.tools.conftest import Desk, EditorDesk, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-04")]
TOOL: AnyTool = NotebookEditTool()
OLD_OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["old\n"]}
BOOK = notebook(
    cell("one", "# Título\n", "markdown", metadata={"x": {"z": 1, "a": [1.50, "é"]}}),
    cell("two", "a = 1\nb = 2", execution_count=7, outputs=[OLD_OUTPUT]),
    {"cell_type": "strange", "id": "odd", "metadata": {"k": None}, "payload": {"q": "\u2028"}},
    cell("last", "c"),
)


async def change(desk: Desk, name: str, source: str, **more: str) -> ToolOutput:
    given = {"notebook_path": desk.path(name), "new_source": source, **more}
    return await desk.call(TOOL, given)


async def changed(desk: Desk, source: str, book: str = BOOK, **more: str) -> str:
    """The notebook after one change."""
    path = desk.put("n.ipynb", book.encode())
    await desk.read("n.ipynb")
    await change(desk, "n.ipynb", source, **more)
    return path.read_bytes().decode()


def is_valid(text: str) -> bool:
    nbformat.validate(nbformat.reads(text, as_version=4))  # pyright: ignore
    return True


async def test_a_cell_gets_another_text_and_loses_the_outputs_of_the_old_one(desk: Desk) -> None:
    """B151: id, kind and language stay, and the source is not empty."""
    after = await changed(desk, "a = 3\nb = é\n", cell_id="two")
    expected = notebook(
        cell("one", "# Título\n", "markdown", metadata={"x": {"z": 1, "a": [1.50, "é"]}}),
        cell("two", "a = 3\nb = é\n"),
        {"cell_type": "strange", "id": "odd", "metadata": {"k": None}, "payload": {"q": "\u2028"}},
        cell("last", "c"),
    )
    assert after == expected


async def test_the_result_has_the_published_shape(desk: Desk) -> None:
    path = desk.put("n.ipynb", BOOK.encode())
    await desk.read("n.ipynb")
    output = await change(desk, "n.ipynb", "new", cell_id="two")
    assert text_of(output) == (
        f"Replaced the text of the code cell two in {path}. Its old outputs were removed with its "
        "old text."
    )
    assert output.paths_changed == (str(path),)
    assert output.data == {
        "new_source": "new",
        "old_source": "a = 1\nb = 2",
        "cell_id": "two",
        "cell_type": "code",
        "language": "R",
        "edit_mode": "replace",
        "notebook_path": str(path),
        "original_file": BOOK,
        "updated_file": path.read_text("utf-8"),
    }


async def test_a_cell_is_inserted_behind_another_and_at_the_front(desk: Desk) -> None:
    behind = await changed(desk, "x\ny", cell_id="last", edit_mode="insert", cell_type="code")
    front = await changed(desk, "# x", edit_mode="insert", cell_type="markdown")
    new = [json.loads(behind)["cells"][4], json.loads(front)["cells"][0]]
    assert all(re.fullmatch(r"[0-9a-f]{8}", each["id"]) for each in new)
    before = json.loads(BOOK)["cells"]
    assert behind == notebook(*before, cell(new[0]["id"], "x\ny"))
    assert front == notebook(cell(new[1]["id"], "# x", "markdown"), *before)


async def test_a_cell_is_deleted_wherever_it_stands(desk: Desk) -> None:
    cells = json.loads(BOOK)["cells"]
    for index, each in enumerate(cells):
        after = await changed(desk, "", cell_id=each["id"], edit_mode="delete")
        assert after == notebook(*cells[:index], *cells[index + 1 :])
    only = notebook(cell("one", "x"))
    assert (
        json.loads(await changed(desk, "", only, cell_id="one", edit_mode="delete"))["cells"] == []
    )
    empty = notebook()
    assert is_valid(await changed(desk, "x", empty, edit_mode="insert", cell_type="code"))


async def test_another_kind_of_cell_has_the_members_of_that_kind(desk: Desk) -> None:
    book = notebook(
        cell("m", "text", "markdown", attachments={"a.png": {"image/png": "AA"}}),
        cell("c", "code", execution_count=1, outputs=[OLD_OUTPUT], metadata={"keep": 1}),
    )
    code = await changed(desk, "text", book, cell_id="m", cell_type="code")
    assert is_valid(code)
    assert json.loads(code)["cells"][0] == cell("m", "text")
    text = await changed(desk, "words", book, cell_id="c", cell_type="markdown")
    assert is_valid(text)
    assert json.loads(text)["cells"][1] == cell("c", "words", "markdown", metadata={"keep": 1})


async def test_older_notebooks_have_no_ids_and_get_none(desk: Desk) -> None:
    book = BOOK.replace('"nbformat_minor": 5', '"nbformat_minor": 4')
    book = re.sub(r'   "id": "\w+",\n', "", book)
    after = await changed(desk, "new", book, cell_id="cell-1")
    assert [each.get("id") for each in json.loads(after)["cells"]] == [None] * 4
    assert "".join(json.loads(after)["cells"][1]["source"]) == "new"
    more = await changed(desk, "x", book, cell_id="cell-3", edit_mode="insert", cell_type="code")
    assert json.loads(more)["cells"][4] == {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": ["x"],
    }


@pytest.mark.parametrize(
    "style",
    [
        {"indent": None},
        {"indent": None, "separators": (",", ":")},
        {"indent": 4},
        {"indent": "\t", "ensure_ascii": True},
        {"sort_keys": False},
    ],
)
async def test_the_style_of_the_file_is_kept(desk: Desk, style: dict[str, Any]) -> None:
    def book(*cells: Json) -> str:
        return notebook(*cells, **style)

    one, two = cell("one", "é\nx"), cell("two", "b")
    after = await changed(desk, "ü\nz", book(one, two), cell_id="one")
    assert after == book(cell("one", "ü\nz"), two)
    removed = await changed(desk, "", book(one, two), cell_id="two", edit_mode="delete")
    assert removed == book(one)
    put = await changed(
        desk, "n\n", book(one, two), cell_id="one", edit_mode="insert", cell_type="markdown"
    )
    new = json.loads(put)["cells"][1]
    if style.get("sort_keys", True):
        assert put == book(one, new, two)


async def test_line_ends_mark_and_string_sources_are_kept(desk: Desk) -> None:
    book = BOOK.replace("\n", "\r\n")
    path = desk.put("n.ipynb", b"\xef\xbb\xbf" + book.encode())
    await desk.read("n.ipynb")
    await change(desk, "n.ipynb", "p\nq", cell_id="last")
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf{")
    assert data.count(b"\n") == data.count(b"\r\n")
    plain = cell("s", "") | {"source": "one\ntwo"}
    after = await changed(desk, "three\nfour", notebook(plain), cell_id="s")
    assert json.loads(after)["cells"][0]["source"] == "three\nfour"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"cell_id": "none"}, "has no cell with the id none. Its cells are one, two, odd, last."),
        ({}, "cell_id is missing: which cell is to replace?"),
        ({"edit_mode": "delete"}, "cell_id is missing: which cell is to delete?"),
        ({"edit_mode": "insert"}, "cell_type is missing: insert needs code or markdown."),
        ({"cell_id": "last", "new_source": "c"}, "The cell last already reads so"),
        ({"cell_id": "last", "new_source": "\ud83d"}, "half of a surrogate pair"),
    ],
)
async def test_a_call_that_means_nothing_is_refused(
    desk: Desk, given: dict[str, str], complaint: str
) -> None:
    path = desk.put("n.ipynb", BOOK.encode())
    await desk.read("n.ipynb")
    with pytest.raises(ToolError) as caught:
        await change(desk, "n.ipynb", **{"source": given.pop("new_source", "x"), **given})
    assert complaint in caught.value.message
    assert path.read_bytes() == BOOK.encode()


async def test_a_notebook_is_read_before_and_as_it_is_now(desk: Desk) -> None:
    path = desk.put("n.ipynb", BOOK.encode())
    with pytest.raises(ToolError, match="has not been read in this conversation"):
        await change(desk, "n.ipynb", "x", cell_id="one")
    await desk.read("n.ipynb", offset=1, limit=2)
    with pytest.raises(ToolError, match=r"The cell last of .* has not been read. .* offset=4"):
        await change(desk, "n.ipynb", "x", cell_id="last")
    await change(desk, "n.ipynb", "x", cell_id="two")
    path.write_text(BOOK, encoding="utf-8")
    with pytest.raises(ToolError, match="has changed since you read it") as caught:
        await change(desk, "n.ipynb", "x", cell_id="one")
    assert caught.value.kind == "stale"


async def test_a_preview_says_why_it_cannot_show_the_cell(desk: Desk) -> None:
    """B152: before anybody is asked, and nothing is asked about what cannot be read."""
    desk.put("n.ipynb", b'{"cells": [')
    await desk.read("n.ipynb")
    with pytest.raises(ToolError, match="cannot be edited as a notebook: it is no valid JSON"):
        await desk.preview(
            TOOL,
            {
                "notebook_path": desk.path("n.ipynb"),
                "new_source": "",
                "cell_id": "x",
                "edit_mode": "delete",
            },
        )
    desk.put("a.txt", b"x")
    with pytest.raises(ToolError, match=r"is no \.ipynb file; use Edit"):
        await change(desk, "a.txt", "x", cell_id="one")


async def test_the_preview_is_the_change_that_is_made(desk: Desk) -> None:
    """B152: what is there before and after is in it."""
    path = desk.put("n.ipynb", BOOK.encode())
    await desk.read("n.ipynb")
    given = {
        "notebook_path": str(path),
        "new_source": "x",
        "edit_mode": "insert",
        "cell_type": "code",
    }
    (edit,) = await desk.preview(TOOL, given)
    await desk.call(TOOL, given)
    assert path.read_text("utf-8") == apply_text_edits(BOOK, edit.edits)


async def test_an_open_notebook_is_changed_in_the_editor(
    editor_desk: EditorDesk, tmp_path: Path
) -> None:
    path = str(tmp_path / "n.ipynb")
    editor_desk.editor.files[path] = BOOK
    editor_desk.editor.open(path, BOOK.replace("Título", "Typed"))
    await editor_desk.read("n.ipynb")
    await change(editor_desk, "n.ipynb", "new", cell_id="last")
    assert "Typed" in editor_desk.editor.buffers[path]
    assert json.loads(editor_desk.editor.buffers[path])["cells"][3]["source"] == ["new"]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def books(draw: st.DrawFn) -> str:
    cells: list[Json] = []
    for index in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["code", "markdown", "raw", "unknown"]))
        more = draw(st.dictionaries(texts.filter(lambda key: key not in FIXED), values, max_size=2))
        cells.append(more | cell(f"c{index}", draw(texts), kind))
    style = draw(
        st.sampled_from([{"indent": 1}, {"indent": None}, {"indent": 2, "ensure_ascii": True}])
    )
    text = notebook(*cells, **style, sort_keys=False)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


FIXED = {"id", "cell_type", "metadata", "source", "outputs", "execution_count"}


@given(books(), texts, st.data())
def test_outside_of_the_cell_no_character_changes(
    text: str, source: str, data: st.DataObject
) -> None:
    book = parse(text)
    target = data.draw(st.sampled_from(book.cells))
    others = [text[each.start : each.end] for each in book.cells if each is not target]
    after = apply_text_edits(text, replaced(book, target, source, target.kind))
    assert after[: target.start] == text[: target.start]
    assert after[len(after) - (len(text) - target.end) :] == text[target.end :]
    assert parse(after).cells[target.index].source == source
    for changed, count in (
        (apply_text_edits(text, deleted(book, target)), len(others)),
        (apply_text_edits(text, inserted(book, target, source, "code", "k")[0]), len(others) + 2),
    ):
        new: Notebook = parse(changed)
        assert len(new.cells) == count
        assert changed[: book.start] == text[: book.start]
        assert changed[new.end :] == text[book.end :]
        kept = [changed[each.start : each.end] for each in new.cells]
        assert [each for each in kept if each in others] == others
