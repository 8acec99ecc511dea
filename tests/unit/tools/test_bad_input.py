"""Paths that are no files, and files that change under one's hands: a sentence, never a hang."""

import os
import resource
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.content import Json
from sidelight.core.errors import HostError, ToolError
from sidelight.core.host import EditOutcome, FileEdit
from sidelight.core.tool import AnyTool
from sidelight.tools.edit import EditTool
from sidelight.tools.notebook_edit import NotebookEditTool
from sidelight.tools.read import ReadTool
from sidelight.tools.write import WriteTool
from tests.builders_media import cell, notebook
from tests.unit.tools.conftest import Desk, EditorDesk

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-05")]
CALLS: dict[str, tuple[AnyTool, Json]] = {
    "Read": (ReadTool(), {}),
    "Edit": (EditTool(), {"old_string": "a", "new_string": "b"}),
    "Write": (WriteTool(), {"content": "x"}),
    "NotebookEdit": (NotebookEditTool(), {"new_source": "x", "cell_id": "one"}),
}
each_tool = pytest.mark.parametrize("name", CALLS)


async def refused(desk: Desk, name: str, path: str) -> ToolError:
    """The error of a call on a path; the path is judged by the tool as the loop has it judged."""
    tool, given = CALLS[name]
    field = "notebook_path" if name == "NotebookEdit" else "file_path"
    if name == "NotebookEdit" and not path.endswith("/"):
        path += ".ipynb"
    given = {field: path, **given}
    with pytest.raises(ToolError) as caught:
        tool.touches(tool.input_type.model_validate(given), desk.shell)
        await desk.call(tool, given)
    assert caught.value.kind not in {"bug"}
    assert len(caught.value.message) > 20
    return caught.value


@each_tool
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "empty or holds a NUL"),
        ("a\0b", "empty or holds a NUL"),
        ("x" * 10_000, "too long"),
        ("folder/" * 1_000, "too long"),
        ("~nobody-of-this-name/x", "no home folder"),
        ("half \ud83d", "half of a surrogate pair"),
        ("file/below", "not a directory|does not exist|Not a directory"),
    ],
)
async def test_a_path_that_cannot_be_one_is_refused(
    desk: Desk, name: str, path: str, said: str
) -> None:
    desk.put("file", b"a\n")
    error = await refused(desk, name, path)
    if not (name == "NotebookEdit" and path == ""):
        assert any(part in error.message for part in said.split("|"))


@each_tool
@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "/dev/null", "/dev/zero", "loop"])
async def test_what_is_no_regular_file_is_named_and_never_opened(
    desk: Desk, name: str, kind: str, tmp_path: Path
) -> None:
    place = tmp_path / ("thing.ipynb" if name == "NotebookEdit" else "thing")
    with socket.socket(socket.AF_UNIX) as door:
        if kind == "folder":
            place.mkdir()
        elif kind == "pipe":
            os.mkfifo(place)
        elif kind == "socket":
            door.bind(str(place))
        else:
            place.symlink_to(place if kind == "loop" else kind)
        error = await refused(desk, name, str(tmp_path / "thing"))
    said = {"folder": "is a folder", "loop": "leads to itself"}.get(kind, "not a regular file")
    assert said in error.message
    assert place.is_symlink() or not place.is_file()


@each_tool
async def test_a_file_that_is_not_there_is_answered_with_the_nearest(desk: Desk, name: str) -> None:
    if name == "Write":
        return
    end = ".ipynb" if name == "NotebookEdit" else ".py"
    desk.put(f"source/reader{end}", b"{}")
    error = await refused(desk, name, desk.path("source/raeder" + end.replace(".ipynb", "")))
    assert error.kind == "not_found"
    assert f"Did you mean {desk.path(f'source/reader{end}')}?" in error.message


async def test_files_of_the_kernel_are_read_though_they_have_no_size(desk: Desk) -> None:
    assert "Name:" in await desk.read("/proc/self/status")
    with pytest.raises(ToolError):
        await desk.read("/proc/self/mem")
    if os.access("/proc/kmsg", os.F_OK):
        try:  # it has a reader that waits for ever, unless it is asked not to
            await desk.read("/proc/kmsg")
        except ToolError as error:
            assert "/proc/kmsg" in error.message
    with pytest.raises(ToolError, match="was not changed|not written|may not"):
        await desk.write("/proc/sidelight-test", "x")


@contextmanager
def full_disk(allowed: int) -> Generator[None]:
    """No file may grow beyond some bytes: to a writer that is what a full disk is."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


BOOK = notebook(cell("one", "a"))


async def test_on_a_full_disk_every_file_is_as_before(desk: Desk) -> None:
    edited, book = desk.put("f", b"a\n" * 300), desk.put("n.ipynb", BOOK.encode())
    await desk.read("f")
    await desk.read("n.ipynb")
    cell_edit = {"notebook_path": str(book), "cell_id": "one", "new_source": "x" * 900}
    with full_disk(allowed=500):
        for call in (
            desk.edit("f", "a\n", "bb\n", replace_all=True),
            desk.write("f", "x" * 900),
            desk.write("new/one", "x" * 900),
            desk.call(NotebookEditTool(), cell_edit),
        ):
            with pytest.raises(ToolError, match="File too large; nothing was changed"):
                await call
    assert (edited.read_bytes(), book.read_bytes()) == (b"a\n" * 300, BOOK.encode())
    assert sorted(p.name for p in desk.root.iterdir()) == ["f", "n.ipynb"]


async def test_a_file_that_goes_after_it_was_read_is_not_made_anew_by_an_edit(desk: Desk) -> None:
    path = desk.put("f", b"a\n")
    await desk.read("f")
    path.unlink()
    with pytest.raises(ToolError, match="does not exist") as caught:
        await desk.edit("f", "a", "b")
    assert caught.value.kind == "not_found"
    assert not path.exists()
    await desk.write("f", "again\n")
    assert path.read_bytes() == b"again\n"


async def test_a_file_that_became_a_folder_or_binary_is_refused(desk: Desk) -> None:
    path = desk.put("f", b"a\n")
    await desk.read("f")
    path.write_bytes(b"\x7fELF\0\0")
    with pytest.raises(ToolError, match="is an ELF program or library, not text"):
        await desk.edit("f", "a", "b")
    path.unlink()
    path.mkdir()
    for call in (desk.edit("f", "a", "b"), desk.write("f", "x")):
        with pytest.raises(ToolError, match="is a folder"):
            await call


@pytest.mark.parametrize("name", ["Edit", "Write", "NotebookEdit"])
async def test_an_editor_that_closes_in_mid_edit_leaves_an_error_and_the_old_text(
    editor_desk: EditorDesk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = editor_desk.path("n.ipynb")
    editor_desk.editor.files[path] = BOOK
    editor_desk.editor.open(path, BOOK)
    await editor_desk.read("n.ipynb")

    async def gone(edits: tuple[FileEdit, ...], label: str) -> EditOutcome:
        raise HostError("the editor is gone")

    editor_desk.editor.apply_edit = gone  # pyright: ignore[reportAttributeAccessIssue]
    calls: dict[str, Json] = {
        "Edit": {"file_path": path, "old_string": '"a"', "new_string": '"b"'},
        "Write": {"file_path": path, "content": "x"},
        "NotebookEdit": {"notebook_path": path, "cell_id": "one", "new_source": "b"},
    }
    with pytest.raises(ToolError, match="the editor is gone"):
        await editor_desk.call(CALLS[name][0], calls[name])
    assert editor_desk.editor.files[path] == BOOK
    seen = editor_desk.ledger.seen(path)
    assert seen is not None
    assert not editor_desk.ledger.is_own_write(path, seen.digest)


WITHOUT_POWERS = """
import ctypes, os, sys
if os.geteuid() == 0:
    for power in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: root is like others then
        if ctypes.CDLL(None).prctl(24, power, 0, 0, 0):
            sys.exit("the powers of root cannot be given up")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
CALLING = """
import os, sys, anyio
from pathlib import Path
root = Path(sys.argv[1])
sys.path[:0] = sys.argv[2:]
from sidelight.core.errors import ToolError
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import Shell, ToolContext
from sidelight.headless.host import DiskHost
from sidelight.tools.registry import built_in_tools, find, parse_input
tools = built_in_tools()
shell = Shell(str(root), [str(root)])
ledger = FileLedger()
ledger.note_read(str(root / "tree/f"), "a\\n", whole=True)
context = ToolContext("s", "t", DiskHost(lambda s, t: None), ledger, shell, str(root))
async def main():
    for name, given in (
        ("Read", {"file_path": "secret"}),
        ("Read", {"file_path": "closed/inside"}),
        ("Edit", {"file_path": "tree/f", "old_string": "a", "new_string": "b"}),
        ("Write", {"file_path": "tree/new", "content": "x"}),
        ("Write", {"file_path": "tree/f", "content": "x"}),
    ):
        tool = find(tools, name)
        try:
            [item async for item in tool.run(parse_input(tool, given), context)]
            print(name, "worked")
        except ToolError as error:
            print(name, error.kind, error.message)
anyio.run(main)
"""


async def test_without_permission_it_is_said_and_nothing_changes(tmp_path: Path) -> None:
    """Also in a tree that is read-only."""
    (tmp_path / "secret").write_text("key")
    (tmp_path / "secret").chmod(0)
    (tmp_path / "closed").mkdir(mode=0)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "f").write_text("a\n")
    (tree / "f").chmod(0o444)
    tree.chmod(0o555)
    try:
        calling: list[Any] = ["-c", CALLING, tmp_path, *sys.path]
        command = [sys.executable, "-c", WITHOUT_POWERS, *calling]
        done = await anyio.run_process(command)
        said = done.stdout.decode().splitlines()
        assert said[0] == f"Read permission {tmp_path}/secret may not be read: Permission denied."
        assert said[1] == (
            f"Read permission {tmp_path}/closed/inside may not be read: Permission denied."
        )
        assert "is read-only (mode 0444)" in said[2]
        assert "Permission denied; nothing was changed" in said[3]
        assert "is read-only (mode 0444)" in said[4]
        assert [path.name for path in tree.iterdir()] == ["f"]
        assert (tree / "f").read_text() == "a\n"
    finally:
        tree.chmod(0o755)
        (tmp_path / "closed").chmod(0o700)
