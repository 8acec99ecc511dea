"""Read: numbered lines, pages, pictures, and kind refusals."""

from pathlib import Path

import pytest

from sidelight.core.errors import ToolError
from sidelight.core.tool import AnyTool
from sidelight.files import disk
from sidelight.tools.read import ReadTool
from tests.unit.tools.conftest import Desk, EditorDesk, text_of

pytestmark = pytest.mark.anyio
READ: AnyTool = ReadTool()


async def test_lines_are_numbered_with_a_tab_and_nothing_is_expanded(desk: Desk) -> None:
    """B013, B014: the prefix ends at the first tab."""
    desk.put("f", b"\tif x:\r\n\t\ty()\n\x0cz\xe2\x80\xa8w")
    assert await desk.read("f") == "     1\t\tif x:\n     2\t\t\ty()\n     3\t\x0cz\u2028w"


async def test_the_result_has_the_published_shape(desk: Desk) -> None:
    path = desk.put("f", b"a\nb\nc\n")
    output = await desk.call(READ, {"file_path": str(path), "offset": 2, "limit": 1})
    assert text_of(output) == (
        "     2\tb\n\n(PARTIAL view: lines 2-2 of 3. Read on with offset=3.)"
    )
    assert output.data == {
        "type": "text",
        "file": {
            "filePath": str(path),
            "content": "b",
            "numLines": 1,
            "startLine": 2,
            "totalLines": 3,
        },
    }


async def test_a_long_file_is_shown_up_to_2000_lines_and_says_how_to_go_on(desk: Desk) -> None:
    desk.put("f", b"x\n" * 2500)
    text = await desk.read("f")
    assert text.endswith(
        "  2000\tx\n\n(PARTIAL view: lines 1-2000 of 2500. Read on with offset=2001.)"
    )
    rest = await desk.read("f", offset=2001)
    assert rest.endswith("  2500\tx\n\n(PARTIAL view: lines 2001-2500 of 2500.)")
    seen = desk.ledger.seen(desk.path("f"))
    assert seen is not None
    assert seen.whole


async def test_the_token_limit_gives_a_first_page_or_says_which_limit_fits(desk: Desk) -> None:
    desk.read_tool = ReadTool(max_tokens=100)
    desk.put("f", b"0123456789012\n" * 50)
    text = await desk.read("f")
    assert text.endswith("(PARTIAL view: lines 1-19 of 50. Read on with offset=20.)")
    with pytest.raises(ToolError, match="Read them with limit=19"):
        await desk.read("f", offset=1, limit=40)


async def test_a_line_beyond_the_limit_is_cut_at_a_character(desk: Desk) -> None:
    """B011: never inside one."""
    desk.read_tool = ReadTool(max_tokens=10)
    desk.put("f", ("阴" * 100).encode())
    assert await desk.read("f") == (
        "     1\t" + "阴" * 40 + "\n\n(PARTIAL view: line 1 of 1 was cut after 40 characters. Use "
        "Grep with -o to find text inside it.)"
    )
    seen = desk.ledger.seen(desk.path("f"))
    assert seen is None


async def test_an_empty_file_and_an_offset_past_the_end_are_notices(desk: Desk) -> None:
    desk.put("empty", b"")
    desk.put("f", b"a\nb\n")
    assert await desk.read("empty") == "(The file exists and is empty.)"
    assert await desk.read("f", offset=9) == (
        "(The file has 2 lines; line 9 is past its end. Use a smaller offset.)"
    )


async def test_unsaved_text_is_shown_and_named(editor_desk: EditorDesk) -> None:
    """B034."""
    path = editor_desk.path("f")
    editor_desk.editor.files[path] = "saved\n"
    editor_desk.editor.open(path, "typed\n")
    text = await editor_desk.read("f")
    assert text == (
        "     1\ttyped\n\n(This is the text in the editor; it has changes that are not saved yet.)"
    )


async def test_an_encoding_from_before_utf_8_is_named(desk: Desk) -> None:
    desk.put("f", "設定\n".encode("cp932"))
    assert await desk.read("f") == "     1\t設定\n\n(The file's encoding is cp932; edits keep it.)"


async def test_a_folder_is_refused_with_advice(desk: Desk) -> None:
    (desk.root / "src").mkdir()
    with pytest.raises(ToolError) as caught:
        await desk.read("src")
    assert caught.value.message == (
        f"{desk.root / 'src'} is a folder. Use Glob to list files in it, or name a file."
    )


async def test_a_missing_file_is_refused_with_the_nearest_name(desk: Desk) -> None:
    desk.put("src/application.py", b"")
    for wrong in ("src/aplication.py", "scr/application.py", "lib/src/application.py"):
        with pytest.raises(ToolError) as caught:
            await desk.read(wrong)
        assert caught.value.kind == "not_found"
        hint = f"Did you mean {desk.root / 'src/application.py'}?"
        assert hint in caught.value.message, wrong


async def test_a_binary_file_is_named(desk: Desk) -> None:
    desk.put("a.zip", b"PK\x03\x04\0\0")
    with pytest.raises(ToolError) as caught:
        await desk.read("a.zip")
    assert caught.value.message == (
        f"{desk.path('a.zip')} is a ZIP archive (or an office document, a jar, a wheel), not text. "
        "Read shows text, pictures, PDF and notebooks; for other formats run a program that turns "
        "them into text."
    )


async def test_a_file_too_large_for_memory_is_read_by_lines(desk: Desk) -> None:
    line = b"a line of a very long log\r\n"
    count = disk.MAX_TEXT_BYTES // len(line) + 1
    desk.put("log", line * (count - 1) + b"the last line\n")
    text = await desk.read("log", offset=count - 1, limit=5)
    assert text == (
        f"{count - 1:>6}\ta line of a very long log\n{count:>6}\tthe last line\n\n"
        "(The file is too large for Edit and Write; change it with a program.)\n\n"
        f"(PARTIAL view: lines {count - 1}-{count} of {count}.)"
    )
    with pytest.raises(ToolError, match=r"are not edited\. Edit and Write change text only"):
        await desk.edit("log", "the last", "x")


async def test_a_range_of_a_huge_file_is_read_no_further_than_it_reaches(desk: Desk) -> None:
    line = b"0123456789\n"
    count = disk.MAX_TEXT_BYTES // len(line) + 1
    desk.put("log", line * count)
    text = await desk.read("log", offset=3, limit=2)
    assert text == (
        "     3\t0123456789\n     4\t0123456789\n\n"
        "(The file is too large for Edit and Write; change it with a program.)\n\n"
        "(PARTIAL view: lines 3-4. Read on with offset=5.)"
    )
    past = await desk.read("log", offset=count + 1)
    assert past == (
        f"(The file has {count} lines; line {count + 1} is past its end. Use a smaller offset.)"
    )


async def test_more_is_shown_at_once_when_all_of_it_is_asked_for(desk: Desk) -> None:
    desk.read_tool = ReadTool(max_tokens=100)
    desk.put("f", b"0123456789012\n" * 60)
    assert "lines 1-19 of 60" in await desk.read("f")
    whole = await desk.call(desk.read_tool, {"file_path": desk.path("f"), "allow_large": True})
    assert text_of(whole).endswith("\n    60\t0123456789012")


async def test_a_relative_path_is_found_in_any_workspace_folder(desk: Desk) -> None:
    """B142: by the folder's name too; the working folder comes first."""
    desk.put("front/app.ts", b"front\n")
    desk.put("back/api.py", b"back\n")
    front = Desk(desk.root / "front", desk.host, roots=(desk.root / "front", desk.root / "back"))

    async def read(path: str) -> str:
        return text_of(await front.call(READ, {"file_path": path}))

    assert await read("back/api.py") == "     1\tback"
    assert await read("api.py") == "     1\tback"
    assert await read("app.ts") == "     1\tfront"


async def test_a_relative_path_in_several_folders_is_not_guessed(desk: Desk) -> None:
    """B142, B143: the session's own folder wins, among others nothing does."""
    for folder in "abc":
        desk.put(f"{folder}/x.py", folder.encode())
    roots = tuple(desk.root / folder for folder in "abc")
    inside = Desk(desk.root / "a", desk.host, roots=roots)
    assert text_of(await inside.call(READ, {"file_path": "x.py"})) == "     1\ta"
    outside = Desk(desk.root, desk.host, roots=roots)
    with pytest.raises(ToolError, match="exists in several workspace folders"):
        await outside.call(READ, {"file_path": "x.py"})


async def test_names_are_found_in_either_unicode_form(desk: Desk) -> None:
    """B146."""
    desk.put("中文/e\u0301te\u0301.py", b"x\n")
    assert await desk.read("中文/été.py") == "     1\tx"


async def test_home_and_the_summary_read_as_people_write(desk: Desk, home: Path) -> None:
    (home / "notes.txt").write_text("hi\n")
    assert text_of(await desk.call(READ, {"file_path": "~/notes.txt"})) == "     1\thi"
    part = READ.input_type.model_validate({"file_path": "a.py", "offset": 5, "limit": 6})
    assert READ.summary(part) == "a.py:5-10"
