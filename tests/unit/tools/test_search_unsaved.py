"""Grep on documents that are open with unsaved changes: as the user sees them."""

import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from sidelight.core.content import Json
from sidelight.core.errors import ToolError
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Shell, ToolContext, ToolOutput
from sidelight.tools.grep import GrepTool
from sidelight.tools.registry import parse_input
from sidelight.tools.search.found import Conceals, conceal_nothing
from sidelight.tools.search.plain import PlainSearch
from sidelight.tools.search.query import Engine
from sidelight.tools.search.ripgrep import Ripgrep, find_ripgrep
from tests.fakes.host import FakeHost
from tests.unit.tools.conftest import text_of

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-06")]


def run_of(tool: AnyTool, given: Json, context: ToolContext) -> AsyncIterator[object]:
    return tool.run(parse_input(tool, given), context)


@dataclass
class Typing:
    """A folder, and an editor with documents of it."""

    root: Path
    engine: Engine
    conceals: Conceals = conceal_nothing
    host: FakeHost = field(default_factory=FakeHost)

    def put(self, name: str, saved: str | None, typed: str | None = None) -> str:
        """A file (or none), and what its document says if there is one."""
        path = self.root / name
        if saved is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(saved)
            os.utime(path, (1_000_000, 1_000_000))
            self.host.files[str(path)] = saved
        if typed is not None:
            self.host.open(str(path), typed)
        return str(path)

    async def grep(self, pattern: str, **more: object) -> ToolOutput:
        scratch = str(self.root.parent / "scratch")
        shell = Shell(str(self.root), [str(self.root)])
        context = ToolContext("s", "t", self.host, FileLedger(), shell, scratch)
        tool = GrepTool(self.engine, conceals=self.conceals)
        given: Json = {"pattern": pattern, "output_mode": "content", **more}
        with anyio.fail_after(20):
            *_, output = [i async for i in run_of(tool, given, context)]
        assert isinstance(output, ToolOutput)
        left = anyio.Path(scratch)
        assert not await left.exists() or [path async for path in left.iterdir()] == []
        return output

    async def lines(self, pattern: str, **more: object) -> list[str]:
        return text_of(await self.grep(pattern, **more)).split("\n\n(")[0].split("\n")


@pytest.fixture(params=["ripgrep", "plain"])
def typing(request: pytest.FixtureRequest, tmp_path: Path) -> Typing:
    engine = PlainSearch() if request.param == "plain" else Ripgrep(find_ripgrep() or "rg")
    (tmp_path / "w").mkdir()
    return Typing(tmp_path / "w", engine)


async def test_what_is_typed_is_found_and_what_is_gone_is_not(typing: Typing) -> None:
    """B034: the dirty buffer counts, not the disk."""
    typing.put("a.py", "old needle\n", "x\nnew needle\n")
    typing.put("b.py", "a needle\n", "nothing any more\n")
    typing.put("c.py", "needle\n", "needle\n")
    typing.put("d.py", "needle\n")
    output = await typing.grep("needle")
    assert text_of(output) == (
        "a.py:2:new needle\nc.py:1:needle\nd.py:1:needle\n\n"
        "(3 matching lines in 3 files.)\n\n"
        "(Searched as open in the editor, not saved yet: a.py.)"
    )
    assert output.data["filenames"] == [
        str(typing.root / name) for name in ("a.py", "c.py", "d.py")
    ]


async def test_counts_and_context_come_from_the_document(typing: Typing) -> None:
    typing.put("a.py", "needle\n", "one\r\nneedle\r\nthree 中文\r\nneedle")
    assert await typing.lines("needle", output_mode="count") == ["a.py:2"]
    assert await typing.lines("needle$", context=1) == [
        "a.py-1-one",
        "a.py:2:needle",
        "a.py-3-three 中文",
        "a.py:4:needle",
    ]
    assert await typing.lines("needle", path="a.py", **{"-o": True}) == [
        "a.py:2:needle",
        "a.py:4:needle",
    ]


async def test_a_document_whose_file_is_not_there_yet_is_searched(typing: Typing) -> None:
    typing.put("src/new.py", None, "needle\n")
    assert await typing.lines("needle") == ["src/new.py:1:needle"]
    assert await typing.lines("needle", glob="*.py") == ["src/new.py:1:needle"]
    assert await typing.lines("needle", type="py") == ["src/new.py:1:needle"]


async def test_only_documents_in_the_scope_are_searched(typing: Typing) -> None:
    typing.put(".gitignore", "*.log\n")
    typing.put("a.log", "x\n", "needle\n")
    typing.put("src/a.py", "x\n", "needle\n")
    typing.put("src/b.ts", "x\n", "needle\n")
    typing.host.open(str(typing.root.parent / "outside.py"), "needle\n")
    assert sorted(await typing.lines("needle")) == ["src/a.py:1:needle", "src/b.ts:1:needle"]
    assert await typing.lines("needle", type="ts") == ["src/b.ts:1:needle"]
    assert await typing.lines("needle", glob="!*.ts") == ["src/a.py:1:needle"]
    assert await typing.lines("needle", path="a.log") == ["a.log:1:needle"]


async def test_a_document_that_must_not_be_seen_stays_unseen(typing: Typing) -> None:
    """B077."""
    path = typing.put(".env", "KEY=old\n", "KEY=new\n")

    def conceals(paths: Sequence[str]) -> dict[str, str]:
        return {one: "they may hold secrets" for one in paths if one == path}

    typing.conceals = conceals
    output = await typing.grep("KEY")
    assert text_of(output) == (
        f"No matches for 'KEY' in {typing.root}.\n\n"
        "(Not looked into: 1 file; they may hold secrets.)"
    )


async def test_a_link_to_the_folder_changes_nothing(typing: Typing) -> None:
    """B043: the editor and the search may spell a folder differently."""
    typing.put("a.py", "x\n", "needle\n")
    (typing.root.parent / "alias").symlink_to(typing.root)
    alias = typing.root.parent / "alias"
    assert await typing.lines("needle", path=str(alias)) == [f"{alias}/a.py:1:needle"]


async def test_the_folder_of_the_copies_may_be_searched(typing: Typing) -> None:
    typing.put("a.py", "x\n", "needle\n")
    assert await typing.lines("needle", path=str(typing.root.parent)) == ["a.py:1:needle"]


async def test_many_documents_are_named_up_to_five(typing: Typing) -> None:
    for number in range(7):
        typing.put(f"{number}.py", "x\n", "needle\n")
    output = await typing.grep("needle", output_mode="files_with_matches")
    assert text_of(output) == (
        "0.py\n1.py\n2.py\n3.py\n4.py\n5.py\n6.py\n\n(Searched as open in the editor, not saved "
        "yet: 0.py, 1.py, 2.py, 3.py, 4.py and 2 files more.)"
    )


async def test_a_binary_file_that_is_named_is_refused_kindly(typing: Typing) -> None:
    (typing.root / "a.bin").write_bytes(b"needle\0")
    with pytest.raises(ToolError, match="a.bin is binary.*strings") as caught:
        await typing.grep("needle", path="a.bin")
    assert caught.value.kind == "invalid_input"


async def test_names_that_are_no_text_are_shown_as_text_and_said(typing: Typing) -> None:
    """B146: a name in any script is found, one in no script breaks nothing."""
    for name in (b"caf\xe9.txt", "中文.txt".encode(), b"two\nlines.txt"):
        path = anyio.Path(os.fsdecode(os.fsencode(typing.root) + b"/" + name))
        await path.write_text("needle\n")
    output = await typing.grep("needle", output_mode="files_with_matches")
    head, remark = text_of(output).split("\n\n")
    assert set(head.split("\n")) == {r"caf\xe9.txt", "中文.txt", r"two\nlines.txt"}
    assert remark.startswith("(2 names with line ends or with bytes that are no UTF-8; ")
    text_of(output).encode()
    for name in output.data["filenames"]:
        name.encode()
