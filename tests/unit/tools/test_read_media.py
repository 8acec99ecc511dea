"""Read of pictures, PDF files and notebooks."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image as Pil

from sidelight.core.content import Document, Image, Json, Text
from sidelight.core.errors import ToolError
from sidelight.core.tool import AnyTool
from sidelight.tools.read import ReadTool
from tests.builders_media import cell, notebook, pdf, picture
from tests.unit.tools.conftest import Desk, EditorDesk, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-04")]
READ: AnyTool = ReadTool()


async def test_a_picture_is_shown_whatever_its_name(desk: Desk) -> None:
    data = picture(3, 2)
    path = desk.put("picture.dat", data)
    output = await desk.call(READ, {"file_path": str(path)})
    encoded = base64.b64encode(data).decode()
    assert output.content == (
        Text(text=f"{path} (image/png, 3 x 2)"),
        Image(media_type="image/png", data=encoded),
    )
    size = {"originalWidth": 3, "originalHeight": 2, "displayWidth": 3, "displayHeight": 2}
    assert output.data == {
        "type": "image",
        "file": {
            "base64": encoded,
            "type": "image/png",
            "originalSize": len(data),
            "dimensions": size,
        },
    }


async def test_a_large_picture_is_scaled_and_said_to_be(desk: Desk) -> None:
    path = desk.put("p.png", picture(4000, 1000))
    output = await desk.call(READ, {"file_path": str(path)})
    assert text_of(output) == f"{path} (image/png, 4000 x 1000, shown as 2000 x 500)"
    (shown,) = [block for block in output.content if isinstance(block, Image)]
    assert Pil.open(io.BytesIO(base64.b64decode(shown.data))).size == (2000, 500)


async def test_a_broken_picture_is_refused_by_name(desk: Desk) -> None:
    """B110."""
    path = desk.put("p.png", picture(30, 20)[:-40])
    with pytest.raises(ToolError) as caught:
        await desk.read("p.png")
    assert caught.value.message.startswith(f"{path} is a PNG image, not text, and it cannot be")
    assert caught.value.message.endswith(": it cannot be shown.")


async def test_a_short_pdf_is_shown_whole(desk: Desk) -> None:
    data = pdf(["first", "second"])
    path = desk.put("doc", data)
    output = await desk.call(READ, {"file_path": str(path)})
    encoded = base64.b64encode(data).decode()
    text = "[page 1]\nfirst\n\n[page 2]\nsecond"
    assert output.content == (
        Text(text=f"{path} (PDF, 2 pages)"),
        Document(media_type="application/pdf", data=encoded, text=text),
    )
    assert output.data == {
        "type": "pdf",
        "file": {"filePath": str(path), "base64": encoded, "originalSize": len(data)},
    }


async def test_a_long_pdf_is_shown_by_pages(desk: Desk) -> None:
    path = desk.put("doc.pdf", pdf([f"page {n}" for n in range(1, 31)]))
    with pytest.raises(ToolError, match="The PDF has 30 pages. Choose up to 20"):
        await desk.read("doc.pdf")
    output = await desk.call(READ, {"file_path": str(path), "pages": "3-4"})
    assert text_of(output) == (
        f'{path} (PDF, pages 3-4 of 30)\n\n(PARTIAL view. Read on with pages="5-".)'
    )
    (shown,) = [block for block in output.content if isinstance(block, Document)]
    assert shown.text == "[page 3]\npage 3\n\n[page 4]\npage 4"
    last = await desk.call(READ, {"file_path": str(path), "pages": "21-"})
    assert text_of(last) == f"{path} (PDF, pages 21-30 of 30)"


async def test_a_broken_pdf_and_pages_of_a_text_are_refused(desk: Desk) -> None:
    desk.put("doc.pdf", b"%PDF-1.7\n\0\0")
    desk.put("text", b"hello\n")
    with pytest.raises(ToolError, match="is a PDF document, but it cannot be read"):
        await desk.read("doc.pdf")
    with pytest.raises(ToolError, match="pages is for PDF files only"):
        await desk.call(READ, {"file_path": desk.path("text"), "pages": "1"})


def outputs(*outputs: Json) -> Json:
    return {"execution_count": 4, "outputs": list(outputs)}


BOOK = notebook(
    cell("intro", "# Title\ntext", "markdown"),
    cell(
        "plot",
        "plot(x)",
        **outputs(
            {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {
                    "image/png": base64.encodebytes(picture(3, 2)).decode(),
                    "text/plain": "<Figure>",
                },
            },
        ),
    ),
    cell(
        "bad",
        "stop()",
        **outputs(
            {
                "output_type": "error",
                "ename": "E",
                "evalue": "v",
                "traceback": ["\x1b[31mE\x1b[0m", "  v"],
            },
            {
                "output_type": "execute_result",
                "execution_count": 4,
                "metadata": {},
                "data": {"text/html": ["<b>"]},
            },
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {"image/png": "AAAA", "text/plain": ["shown instead"]},
            },
        ),
    ),
)


async def test_a_notebook_is_shown_by_cells_with_their_outputs(desk: Desk) -> None:
    path = desk.put("n.ipynb", BOOK.encode())
    output = await desk.call(READ, {"file_path": str(path)})
    assert output.content == (
        Text(
            text='<cell id="intro" type="markdown">\n# Title\ntext\n</cell>\n\n'
            '<cell id="plot" type="code" language="R" run="4">\nplot(x)\n</cell>\n'
            "<output>\none\ntwo\n</output>\n"
        ),
        Image(media_type="image/png", data=base64.b64encode(picture(3, 2)).decode()),
        Text(
            text='<cell id="bad" type="code" language="R" run="4">\nstop()\n</cell>\n'
            "<output>\nE\n  v\n</output>\n<output>\n(text/html, not shown)\n</output>\n"
            "<output>\nshown instead\n(a picture, image/png, that cannot be shown: its header is "
            "broken or of no known format)\n</output>\n"
        ),
    )
    assert output.data["type"] == "notebook"
    assert output.data["file"]["cells"][1] == {
        "cell_id": "plot",
        "cellType": "code",
        "source": "plot(x)",
        "language": "R",
        "execution_count": 4,
        "outputs": [
            {"output_type": "stream", "text": "one\ntwo"},
            {"output_type": "display_data", "text": "<Figure>"},
        ],
    }
    seen = desk.ledger.seen(str(path))
    assert seen is not None
    assert seen.whole


async def test_a_part_of_a_notebook_is_counted_in_cells(desk: Desk) -> None:
    desk.put(
        "n.ipynb", notebook(*(cell(f"c{n}", f"x{n}", "markdown") for n in range(1, 6))).encode()
    )
    assert await desk.read("n.ipynb", offset=2, limit=2) == (
        '<cell id="c2" type="markdown">\nx2\n</cell>\n\n<cell id="c3" type="markdown">\nx3\n'
        "</cell>\n(PARTIAL view: cells 2-3 of 5. Read on with offset=4.)"
    )
    assert (
        await desk.read("n.ipynb", offset=9)
        == "(The notebook has 5 cells; there is none from 9 on.)"
    )
    assert (await desk.read("n.ipynb", offset=4)).endswith("(PARTIAL view: cells 4-5 of 5.)")
    seen = desk.ledger.seen(desk.path("n.ipynb"))
    assert seen is not None
    assert not seen.whole


async def test_the_token_limit_cuts_between_cells_and_long_outputs_in_the_middle(
    desk: Desk,
) -> None:
    desk.read_tool = ReadTool(max_tokens=100)
    desk.put(
        "n.ipynb", notebook(*(cell(f"c{n}", "x" * 150, "markdown") for n in range(3))).encode()
    )
    assert (await desk.read("n.ipynb")).endswith(
        "(PARTIAL view: cells 1-2 of 3. Read on with offset=3.)"
    )
    desk.put("m.ipynb", notebook(cell("c", "y" * 500, "markdown")).encode())
    assert (await desk.read("m.ipynb")).endswith(
        "(PARTIAL view: cell 1 of 1 is too long and was cut.)"
    )
    assert desk.ledger.seen(desk.path("m.ipynb")) is None
    desk.read_tool = ReadTool()
    long = {"output_type": "stream", "name": "stdout", "text": "a" * 9000 + "z" * 2000}
    desk.put("o.ipynb", notebook(cell("c", "run", **outputs(long))).encode())
    text = await desk.read("o.ipynb")
    assert "a\n(3,000 characters of this output are left out here)\nz" in text


async def test_what_is_no_notebook_is_shown_as_text_and_an_empty_one_said(desk: Desk) -> None:
    desk.put("old.ipynb", b'{"worksheets": []}\n')
    assert await desk.read("old.ipynb") == (
        '     1\t{"worksheets": []}\n\n(This is no notebook that can be shown by cells: it has no '
        "list of cells, as notebooks of version 4 have. It is shown as text.)"
    )
    desk.put("n.ipynb", notebook().encode())
    assert await desk.read("n.ipynb") == "(The notebook has no cells.)"
    desk.put("empty.ipynb", b"")
    assert await desk.read("empty.ipynb") == "(The file exists and is empty.)"
    desk.put("deep.ipynb", b'{"cells": ' + b"[" * 100_000)
    assert "is shown as text" in await desk.read("deep.ipynb", limit=1, offset=1, allow_large=1)


async def test_a_notebook_open_as_text_is_read_as_it_is_in_the_editor(
    editor_desk: EditorDesk, tmp_path: Path
) -> None:
    path = str(tmp_path / "n.ipynb")
    editor_desk.editor.files[path] = notebook(cell("a", "saved", "markdown"))
    editor_desk.editor.open(path, notebook(cell("a", "typed", "markdown")))
    text = await editor_desk.read("n.ipynb")
    assert "typed" in text
    assert text.endswith("(This is unsaved text of the editor.)")
