"""Edit: exact, unique, and nothing beside the place."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidelight.core.errors import ToolError
from sidelight.core.host import FileEdit, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.core.tool import AnyTool
from sidelight.tools.edit import EditTool
from sidelight.tools.text.lines import View
from sidelight.tools.text.match import apart, find
from sidelight.tools.text.splice import splice
from tests.unit.tools.conftest import Desk, Edited, EditorDesk, text_of

pytestmark = pytest.mark.anyio
EDIT: AnyTool = EditTool()


@pytest.mark.req("TOOL-05")
@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", "one\ntwo", "ONE\ntwo", b"ONE\r\ntwo\r\nthree\r\n"),
        (
            b"const a = 1;\r\nconst b = 2;\r\n",
            "b = 2",
            "b = 3",
            b"const a = 1;\r\nconst b = 3;\r\n",
        ),
        (
            b"\xef\xbb\xbfa=1\n' \xc3\xa9 \xc5\x91\n",
            "a=1",
            "a=2",
            b"\xef\xbb\xbfa=2\n' \xc3\xa9 \xc5\x91\n",
        ),
        (
            b"\xef\xbb\xbfhello\n\xe4\xb8\xad\xe6\x96\x87\n",
            "hello",
            "hello2",
            b"\xef\xbb\xbfhello2\n\xe4\xb8\xad\xe6\x96\x87\n",
        ),
        (b"name=x\nbrand \x99\n", "=x", "=y", b"name=y\nbrand \x99\n"),
        ("設定\n".encode("cp932"), "設定\n", "設定\n追加\n", "設定\n追加\n".encode("cp932")),
        (b"\tif x:\n\t\ty()\n", "\t\ty()", "\t\tz()", b"\tif x:\n\t\tz()\n"),
        (b"all:\n\techo hi\n", "hi", "ho", b"all:\n\techo ho\n"),
        (b"a = X\n", "X", r"\1 \g<0> $& $1", b"a = \\1 \\g<0> $& $1\n"),
        (b"{\n}\n", "2 | }", "2 | }\n0 | // end", b"{\n}\n// end\n"),
        (
            b"def a():\n  run(f, a)\ndef b():\n  run(f, a)\n",
            "def b():\n  run(f, a)",
            "def b():\n  run(g, a)",
            b"def a():\n  run(f, a)\ndef b():\n  run(g, a)\n",
        ),
    ],
    ids=["B001", "B002", "B004", "B005", "B007", "B008", "B013", "B014", "B020", "B017", "B022"],
)
async def test_only_the_edited_bytes_change(
    edited: Edited, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(before, old, new) == after


@pytest.mark.req("TOOL-05")
@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\nb\r\nc\r\n", "a\nb\nc", "a\nb\nx\nc", b"a\nb\r\nx\r\nc\r\n"),
        (b"a\r\nb", "\nb", "", b"a"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"only", "only", "only\nmore", b"only\nmore"),
        (b"a\rb\r", "a\nb", "a\nx\nb", b"a\rx\rb\r"),
        (b"x\ny\n", "x", "p\r\nq", b"p\r\nq\ny\n"),
        (b"a\r\nb\r\n", "a\r\nb", "a\r\nB", b"a\r\nB\r\n"),
    ],
    ids=[
        "mixed-ends-stay",
        "a-pair-is-removed-whole",
        "new-line-takes-the-nearby-style",
        "no-line-end-at-all",
        "classic-mac",
        "written-pairs-are-literal",
        "old-with-pairs",
    ],
)
async def test_line_ends_follow_the_file(
    edited: Edited, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(before, old, new) == after


async def test_editing_to_and_fro_does_not_grow_the_end(desk: Desk) -> None:
    """B016."""
    path = desk.put("f", b"x\n")
    await desk.read("f")
    for old, new in [("x", "y"), ("y", "x")] * 5:
        await desk.edit("f", old, new)
    assert path.read_bytes() == b"x\n"


async def test_a_character_that_the_encoding_lacks_is_refused(desk: Desk) -> None:
    """B008: said, and the file is as before."""
    path = desk.put("f", b"caf\xe9 x\n")
    await desk.read("f")
    with pytest.raises(ToolError, match="cp1252, which cannot hold '追'"):
        await desk.edit("f", "x", "追")
    assert path.read_bytes() == b"caf\xe9 x\n"


async def test_spaces_for_tabs_are_refused_with_line_and_cause(desk: Desk) -> None:
    """B013."""
    path = desk.put("f.py", b"\tif x:\n\t\ty()\n")
    await desk.read("f.py")
    with pytest.raises(ToolError) as caught:
        await desk.edit("f.py", "        y()", "        z()")
    assert caught.value.kind == "not_found"
    assert caught.value.message == (
        f"old_string was not found in {path}; the file is unchanged. Line 2: the file uses tabs "
        "where old_string has spaces (tabs vs spaces).\n"
        "Nearest lines of the file:\n"
        "     2\t\t\ty()"
    )
    assert path.read_bytes() == b"\tif x:\n\t\ty()\n"


@pytest.mark.req("TOOL-05")
async def test_a_similar_text_is_named_and_never_changed(desk: Desk) -> None:
    """B023."""
    path = desk.put("f.py", b"import x\nfoo(a, b)\n")
    await desk.read("f.py")
    with pytest.raises(ToolError) as caught:
        await desk.edit("f.py", "foo(a, c)", "foo(a, d)")
    assert "Line 2 is similar, not equal." in caught.value.message
    assert "     2\tfoo(a, b)" in caught.value.message
    assert path.read_bytes() == b"import x\nfoo(a, b)\n"


@pytest.mark.req("TOOL-05")
async def test_several_places_are_named_and_all_can_be_changed(desk: Desk) -> None:
    path = desk.put("f", b"x = 1\ny = 1\nx = 1\n")
    await desk.read("f")
    with pytest.raises(ToolError) as caught:
        await desk.edit("f", "x = 1", "x = 2")
    assert caught.value.message == (
        f"old_string occurs 2 times in {path} (lines 1, 3); the file is unchanged. Add a "
        "neighbouring line or two so that it is unique, or set replace_all to change every one."
    )
    output = await desk.edit("f", "x = 1", "x = 2", replace_all=True)
    assert path.read_bytes() == b"x = 2\ny = 1\nx = 2\n"
    assert text_of(output).startswith(f"Edited {path}, in lines 1, 3.")


async def test_places_that_overlap_are_not_unique(desk: Desk) -> None:
    desk.put("f", b"a\na\na\n")
    await desk.read("f")
    with pytest.raises(ToolError, match=r"occurs 2 times .*lines 1, 2"):
        await desk.edit("f", "a\na", "b\nb")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("", "x", "old_string is empty"),
        ("a", "a", "are equal; nothing would change"),
        ("a", "\ud83d", "half of a surrogate pair"),
    ],
)
async def test_what_can_mean_nothing_is_refused(
    desk: Desk, old: str, new: str, complaint: str
) -> None:
    path = desk.put("f", b"a\n")
    await desk.read("f")
    with pytest.raises(ToolError, match=complaint):
        await desk.edit("f", old, new)
    assert path.read_bytes() == b"a\n"


@pytest.mark.req("TOOL-05")
async def test_a_file_that_was_not_read_is_not_edited(desk: Desk) -> None:
    desk.put("f", b"a\n")
    with pytest.raises(ToolError, match="has not been read in this conversation. Read it first"):
        await desk.edit("f", "a", "b")


async def test_after_a_partial_view_only_what_was_shown_can_be_edited(desk: Desk) -> None:
    path = desk.put("f", b"".join(b"line %d\n" % n for n in range(1, 101)))
    await desk.read("f", offset=10, limit=5)
    with pytest.raises(ToolError) as caught:
        await desk.edit("f", "line 50\n", "x\n")
    assert caught.value.message == (
        f"Only lines 10-14 of {path} have been read, and old_string lies outside of them (lines "
        "50). Read that part first."
    )
    await desk.edit("f", "line 12\n", "twelve\n")
    assert b"line 11\ntwelve\nline 13\n" in path.read_bytes()


async def test_what_the_user_changed_meanwhile_stays(desk: Desk) -> None:
    """B025: the edit is made on the present text, and the other change is told."""
    path = desk.put("f", b"a\nb\nc\n")
    await desk.read("f")
    path.write_bytes(b"a\nB2\nc\n")
    output = await desk.edit("f", "c", "d")
    assert path.read_bytes() == b"a\nB2\nd\n"
    assert "had changed since you read it" in text_of(output)
    assert "     2\tB2" in text_of(output)


@pytest.mark.req("TOOL-05")
async def test_after_a_change_an_edit_that_no_longer_fits_asks_to_read_again(desk: Desk) -> None:
    path = desk.put("f", b"a\nb\n")
    await desk.read("f")
    path.write_bytes(b"a\nc\nc\n")
    for old, more in (("b", {}), ("c", {"replace_all": True})):
        with pytest.raises(ToolError, match="Read it again") as caught:
            await desk.edit("f", old, "x", **more)
        assert caught.value.kind == "stale"
    assert path.read_bytes() == b"a\nc\nc\n"


async def test_a_new_time_of_change_alone_is_no_change(desk: Desk) -> None:
    """B041: what counts is the content."""
    path = desk.put("f", b"a\n")
    await desk.read("f")
    path.write_bytes(b"a\n")
    output = await desk.edit("f", "a", "b")
    assert "had changed" not in text_of(output)
    assert path.read_bytes() == b"b\n"


async def test_one_file_has_one_name_in_the_ledger(desk: Desk) -> None:
    """B043: read by one spelling, edited by others."""
    path = desk.put("folder/a.py", b"a\n")
    (desk.root / "link").symlink_to("folder")
    await desk.read("folder/a.py")
    await desk.edit("link/a.py", "a", "b")
    await desk.edit("folder/../folder/./a.py", "b", "c")
    assert path.read_bytes() == b"c\n"
    assert desk.ledger.seen_paths() == (str(path.resolve()),)


@pytest.mark.req("TOOL-05")
async def test_a_link_stays_and_its_target_is_edited(desk: Desk) -> None:
    """B019, B076: the call touches the target, so rules for it decide."""
    real = desk.put("real.txt", b"v1\n")
    link = desk.root / "link.txt"
    link.symlink_to("real.txt")
    await desk.read("link.txt")
    await desk.edit("link.txt", "v1", "v2")
    assert link.is_symlink()
    assert real.read_bytes() == b"v2\n"
    parsed = EDIT.input_type.model_validate(desk.edit_input("link.txt", "v1", "v2"))
    touched = [(a.kind, a.target, a.mutates) for a in EDIT.touches(parsed, desk.shell)]
    assert touched == [("write", str(real.resolve()), True), ("write", str(link), True)]


async def test_unsaved_text_of_the_editor_is_the_base(editor_desk: EditorDesk) -> None:
    """B034."""
    path = editor_desk.path("f")
    editor_desk.editor.files[path] = "a\n"
    editor_desk.editor.open(path, "a\nmine\n")
    assert "mine" in await editor_desk.read("f")
    await editor_desk.edit("f", "a", "b")
    assert editor_desk.editor.buffers[path] == "b\nmine\n"
    assert editor_desk.editor.files[path] == "b\nmine\n"


async def test_a_user_who_types_during_the_edit_loses_nothing(editor_desk: EditorDesk) -> None:
    """B035, B038: the edit is worked out anew on the new text."""
    path = editor_desk.path("f")
    editor_desk.editor.files[path] = "a\n"
    editor_desk.editor.open(path, "a\n")
    await editor_desk.read("f")
    editor_desk.editor.before_apply = lambda: editor_desk.editor.open(path, "typed\na\n")
    output = await editor_desk.edit("f", "a", "b")
    assert editor_desk.editor.buffers[path] == "typed\nb\n"
    assert "     1\ttyped" in text_of(output)


async def test_a_refused_edit_is_an_error(editor_desk: EditorDesk) -> None:
    """B050: nothing is said to be done that is not."""
    path = editor_desk.path("f")
    editor_desk.editor.files[path] = "a\n"
    await editor_desk.read("f")
    editor_desk.editor.refuse_edits = "the editor did not apply it"
    with pytest.raises(ToolError, match="was not changed: the editor did not apply it"):
        await editor_desk.edit("f", "a", "b")
    assert editor_desk.editor.files[path] == "a\n"


async def test_what_a_formatter_makes_of_it_is_the_result(editor_desk: EditorDesk) -> None:
    path = editor_desk.path("f.py")
    editor_desk.editor.files[path] = "x = 1\n"
    editor_desk.editor.on_save = lambda path, text: text.replace("'", '"')
    await editor_desk.read("f.py")
    output = await editor_desk.edit("f.py", "1", "'one'")
    assert '     1\tx = "one"' in text_of(output)
    assert "changed further (a formatter, most likely)" in text_of(output)
    assert output.data["structuredPatch"][0]["lines"] == ["-x = 1", '+x = "one"']
    seen = editor_desk.ledger.seen(path)
    assert seen is not None
    assert seen.text == 'x = "one"\n'
    assert editor_desk.ledger.is_own_write(path, digest_of('x = "one"\n'))
    await editor_desk.edit("f.py", '"one"', "'two'")


async def test_the_result_has_the_published_shape(desk: Desk) -> None:
    path = desk.put("f", b"1\n2\n3\n4\n5\n6\n7\n8")
    await desk.read("f")
    output = await desk.edit("f", "8", "eight")
    assert output.paths_changed == (str(path),)
    assert output.data == {
        "filePath": str(path),
        "oldString": "8",
        "newString": "eight",
        "originalFile": "1\n2\n3\n4\n5\n6\n7\n8",
        "structuredPatch": [
            {
                "oldStart": 5,
                "oldLines": 4,
                "newStart": 5,
                "newLines": 4,
                "lines": [
                    " 5",
                    " 6",
                    " 7",
                    "-8",
                    "\\ No newline at end of file",
                    "+eight",
                    "\\ No newline at end of file",
                ],
            }
        ],
        "userModified": False,
        "replaceAll": False,
    }
    assert text_of(output) == f"Edited {path}, in line 8.\n\n     6\t6\n     7\t7\n     8\teight"


async def test_the_preview_is_the_edit_that_is_made(desk: Desk) -> None:
    """B055: the same for one line and for several."""
    path = desk.put("f", b"a\r\nb\r\n")
    await desk.read("f")
    assert await desk.preview(EDIT, desk.edit_input("f", "a\nb", "a\nx\nb")) == (
        FileEdit(
            path=str(path),
            base=digest_of("a\r\nb\r\n"),
            edits=(TextEdit(start=3, end=3, new_text="x\r\n"),),
        ),
    )
    assert path.read_bytes() == b"a\r\nb\r\n"


async def test_a_preview_complains_as_the_edit_would(desk: Desk) -> None:
    desk.put("f", b"a\n")
    await desk.read("f")
    with pytest.raises(ToolError, match="was not found"):
        await desk.preview(EDIT, desk.edit_input("f", "zzz", "y"))


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        ("a = 1  \nb\n", "a = 1\nb", "x", "Line 1: Blanks at line ends differ."),
        ("def Foo():\n", "def foo():", "x", "Line 1: Letter case differs."),
        ("say “hi”\n", 'say "hi"', "x", "Line 1: Quotes, dashes or the Unicode form"),
        ("    a\n", "\ta", "x", "Line 1: the file uses spaces where old_string has tabs"),
        ("  a\n", "    a\n    b", "x", "Line 1 is similar, not equal."),
        (
            "one\ntwo\nthree\n",
            "one\ntwo\n3",
            "x",
            "The first 2 of 3 lines match at line 1; then the file has 'three' where old_string "
            "has '3'.",
        ),
        ("a\nb\n", "     1\ta\n     2\tc", "x", "seems to carry line numbers of the Read view"),
        ('say("x")\n', 'say(\\"x\\")', "x", "has backslash escapes"),
        ("new thing\n", "old thing!", "new thing", "stands in the file already, at line 1"),
        ("q\n", "completely different words", "x", "No line of the file resembles it"),
    ],
)
async def test_a_miss_says_why(desk: Desk, text: str, old: str, new: str, said: str) -> None:
    desk.put("f", text.encode())
    await desk.read("f")
    with pytest.raises(ToolError) as caught:
        await desk.edit("f", old, new)
    assert said in caught.value.message


async def test_numbers_are_taken_off_both_texts_or_none(desk: Desk) -> None:
    """B017: never half of them."""
    path = desk.put("f", b"a\nb\n")
    await desk.read("f")
    with pytest.raises(ToolError, match="carry line numbers"):
        await desk.edit("f", "     1\ta\n     2\tb", "     1\ta\nc")
    output = await desk.edit("f", "     1\ta\n     2\tb", "     1\ta\n     2\tc")
    assert path.read_bytes() == b"a\nc\n"
    assert "Line numbers copied from the Read view were taken off" in text_of(output)


async def test_a_payload_of_some_lines_never_becomes_the_file(desk: Desk) -> None:
    """B028."""
    content = b"".join(b"line %d\n" % n for n in range(100))
    path = desk.put("f", content)
    await desk.read("f")
    with pytest.raises(ToolError, match="old_string is empty"):
        await desk.edit("f", "", "one\ntwo\nthree\n")
    assert path.read_bytes() == content


@given(
    st.lists(st.sampled_from(["a", "b", "", "\t"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["\n", "\r\n"]), min_size=8, max_size=8),
    st.text("ab\n\t", min_size=1, max_size=6),
    st.text("abc\n", max_size=6),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_outside_of_the_places_no_character_changes(
    lines: list[str], ends: list[str], old: str, new: str
) -> None:
    text = "".join(line + end for line, end in zip(lines, ends, strict=False))
    view = View.of(text)
    found = find(view, old, new)
    places = apart(found.places)
    edits = splice(view, places, found.new, literal=found.literal)
    expected, at = "", 0
    for place in places:
        expected += view.text[at : place.start] + found.new
        at = place.end
    expected += view.text[at:]
    result, done = "", 0
    for edit in edits:
        assert any(
            view.back(place.start) <= edit.start <= edit.end <= view.back(place.end)
            for place in places
        )
        assert text[max(edit.start - 1, 0) : edit.start + 1] != "\r\n"
        result += text[done : edit.start] + edit.new_text
        done = edit.end
    result += text[done:]
    assert View.of(result).text == expected
    assert "\r" not in result.replace("\r\n", "")


async def test_a_file_that_is_gone_is_refused_with_the_nearest_name(desk: Desk) -> None:
    desk.put("config.py", b"a\n")
    with pytest.raises(ToolError) as caught:
        await desk.edit("confg.py", "a", "b")
    assert caught.value.kind == "not_found"
    assert f"Did you mean {Path(desk.path('config.py'))}?" in caught.value.message


async def test_a_binary_file_is_refused_by_name(desk: Desk) -> None:
    desk.put("a.png", b"\x89PNG\r\n\x1a\n\0")
    with pytest.raises(ToolError, match="is a PNG image, not text. Edit and Write change text"):
        await desk.edit("a.png", "a", "b")


async def test_an_edit_after_a_partial_view_does_not_make_the_rest_known(desk: Desk) -> None:
    path = desk.put("f", b"".join(b"line %d\n" % n for n in range(1, 101)))
    await desk.read("f", offset=10, limit=5)
    await desk.edit("f", "line 14\n", "line 14\nnew\n")
    await desk.edit("f", "new\n", "newer\n")
    with pytest.raises(ToolError, match=r"Only lines 10-15 of .* have been read"):
        await desk.edit("f", "line 50\n", "x\n")
    with pytest.raises(ToolError, match="Only a part of"):
        await desk.write("f", "all gone\n")
    await desk.edit("f", "line 10\nline 11\n", "")
    seen = desk.ledger.seen(str(path))
    assert seen is not None
    assert (seen.whole, seen.lines) == (False, ((10, 13),))
