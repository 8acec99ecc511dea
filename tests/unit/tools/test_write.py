"""Write: new files, and whole texts over known ones."""

import pytest

from sidelight.core.errors import ToolError
from sidelight.core.host import FileEdit, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.core.tool import AnyTool
from sidelight.tools.write import WriteTool
from tests.unit.tools.conftest import Desk, EditorDesk, text_of

pytestmark = pytest.mark.anyio
WRITE: AnyTool = WriteTool()


async def test_a_new_file_is_made_with_its_folders(desk: Desk) -> None:
    output = await desk.write("a/b/new.py", "x = 1\n")
    path = desk.root / "a/b/new.py"
    assert path.read_bytes() == b"x = 1\n"
    assert text_of(output) == f"Created {path} (1 line)."
    assert output.paths_changed == (str(path),)
    assert output.data == {
        "type": "create",
        "filePath": str(path),
        "content": "x = 1\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    await desk.edit("a/b/new.py", "1", "2")
    assert path.read_bytes() == b"x = 2\n"


async def test_a_known_file_is_replaced(desk: Desk) -> None:
    path = desk.put("f", b"a\nb\nc\n")
    await desk.read("f")
    output = await desk.write("f", "a\nB\nc\n")
    assert path.read_bytes() == b"a\nB\nc\n"
    assert output.data["type"] == "update"
    assert output.data["originalFile"] == "a\nb\nc\n"
    assert output.data["structuredPatch"][0]["lines"] == [" a", "-b", "+B", " c"]
    assert text_of(output) == (
        f"Replaced the text of {path} (3 lines). What changed:\n\n     1\ta\n     2\tB\n     3\tc"
    )


async def test_a_file_that_was_not_read_or_not_wholly_is_refused(desk: Desk) -> None:
    """B154: and the error names the way."""
    path = desk.put("f", b"a\nb\n")
    with pytest.raises(ToolError, match="has not been read in this conversation. Read it first"):
        await desk.write("f", "x")
    await desk.read("f", limit=1)
    with pytest.raises(ToolError, match="Only a part of .* has been read"):
        await desk.write("f", "x")
    assert path.read_bytes() == b"a\nb\n"


async def test_a_file_changed_since_is_refused_and_not_by_its_time(desk: Desk) -> None:
    """B041."""
    path = desk.put("f", b"a\n")
    await desk.read("f")
    path.write_bytes(b"a\n")
    await desk.write("f", "b\n")
    path.write_bytes(b"mine\n")
    with pytest.raises(ToolError, match="has changed since you read it. Read it again") as caught:
        await desk.write("f", "c\n")
    assert caught.value.kind == "stale"
    assert path.read_bytes() == b"mine\n"


async def test_what_appears_between_look_and_write_is_not_overwritten(
    editor_desk: EditorDesk,
) -> None:
    path = editor_desk.path("new")
    editor_desk.editor.before_apply = lambda: editor_desk.editor.files.update({path: "theirs"})
    with pytest.raises(ToolError) as caught:
        await editor_desk.write("new", "ours")
    assert caught.value.kind == "stale"
    assert editor_desk.editor.files[path] == "theirs"


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n"),
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\n", "a\nc\n", b"a\nc\n"),
        ("設定\n".encode("cp932"), "設定追加\n", "設定追加\n".encode("cp932")),
    ],
    ids=["B005-mark", "B005-mark-given", "CR-LF", "mixed", "B008"],
)
async def test_mark_line_ends_and_encoding_are_kept(
    desk: Desk, before: bytes, content: str, after: bytes
) -> None:
    path = desk.put("f", before)
    await desk.read("f")
    await desk.write("f", content)
    assert path.read_bytes() == after


async def test_the_same_content_writes_nothing(desk: Desk) -> None:
    path = desk.put("f", b"a\n")
    before = path.stat()
    await desk.read("f")
    output = await desk.write("f", "a\n")
    assert text_of(output) == f"{path} has exactly this content already; nothing was written."
    assert output.paths_changed == ()
    assert path.stat().st_ino == before.st_ino
    assert await desk.preview(WRITE, {"file_path": str(path), "content": "a\n"}) == ()


async def test_the_preview_is_the_smallest_edit(desk: Desk) -> None:
    path = desk.put("f", b"a\r\nb\r\nc\r\n")
    await desk.read("f")
    edits = await desk.preview(WRITE, {"file_path": str(path), "content": "a\nB\nc\n"})
    assert edits == (
        FileEdit(
            path=str(path),
            base=digest_of("a\r\nb\r\nc\r\n"),
            edits=(TextEdit(start=3, end=4, new_text="B"),),
        ),
    )


async def test_a_dirty_buffer_is_the_base(editor_desk: EditorDesk) -> None:
    """B034: what is only typed counts as a change."""
    path = editor_desk.path("f")
    editor_desk.editor.files[path] = "a\n"
    await editor_desk.read("f")
    editor_desk.editor.open(path, "a\nmine\n")
    with pytest.raises(ToolError, match="has changed since you read it"):
        await editor_desk.write("f", "b\n")
    assert editor_desk.editor.buffers[path] == "a\nmine\n"


async def test_a_formatter_on_a_new_file_is_told(editor_desk: EditorDesk) -> None:
    editor_desk.editor.on_save = lambda path, text: text + "# formatted\n"
    output = await editor_desk.write("new.py", "x\n")
    assert "     2\t# formatted" in text_of(output)
    assert "changed further (a formatter, most likely)" in text_of(output)


async def test_a_folder_and_a_file_in_the_way_are_refused(desk: Desk) -> None:
    desk.put("folder/x", b"")
    with pytest.raises(ToolError, match="is a folder"):
        await desk.write("folder", "x")
    desk.put("file", b"a")
    with pytest.raises(ToolError, match="Not a directory"):
        await desk.write("file/new", "x")
