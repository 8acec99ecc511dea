"""Edits of files in any encoding with any line ends: outside of the edit every byte stays."""

import codecs
import tempfile
from pathlib import Path

import anyio
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sidelight.core.errors import ToolError
from sidelight.files.encoding import decode
from sidelight.headless.host import DiskHost
from tests.unit.tools.conftest import Desk

pytestmark = pytest.mark.req("TOOL-05")

LETTERS = {
    "utf-8": "aé中😋\u2028\u0085\xa0\t\x0c",
    "utf-16-le": "aé中😋\u2028\t\x0c",
    "utf-16-be": "aé中😋\u2028\t\x0c",
    "utf-32-le": "aé中😋\t",
    "cp1252": "aéü€\x93\t\x0c",
    "cp932": "a設定追加の\t",
    "gb18030": "a中文编码的\t",
    "euc_kr": "a한국어\t",
    "koi8_r": "aпривет\t",
}
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
}


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, str, str]:
    """Bytes before, between and after a place, which is marked by its own letters."""
    encoding = draw(st.sampled_from(sorted(LETTERS)))
    letters = [*LETTERS[encoding].encode(encoding, "ignore").decode(encoding), "b", " "]
    line = st.text(st.sampled_from(letters), max_size=6)
    end = st.sampled_from(draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])))
    part = st.lists(st.tuples(line, end).map("".join), max_size=4).map("".join)
    wide = encoding.startswith(("utf-16", "utf-32"))
    mark = MARKS.get(encoding, b"") if wide or draw(st.booleans()) else b""
    before, after = draw(part) + draw(line), draw(line) + draw(part) + draw(line)
    return mark + before.encode(encoding), encoding, after


@given(files(), st.text("XYZ\n\t", max_size=6), st.booleans())
def test_outside_of_the_edit_every_byte_stays(
    file: tuple[bytes, str, str], new: str, several_lines: bool
) -> None:
    before, encoding, rest = file
    after = rest.encode(encoding)
    joint = "\r\n" if b"\r\n" in before else "\n"
    old = "PLACE\nHERE" if several_lines else "PLACEHERE"
    place = old.replace("\n", joint).encode(encoding)
    data = before + place + after
    assume(decode(data).encoding != "latin-1")
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), DiskHost(lambda severity, text: None))
        path = desk.put("f", data)

        async def edit() -> None:
            await desk.read("f")
            await desk.edit("f", old, new)

        anyio.run(edit)
        result = path.read_bytes()
    assert result.startswith(before)
    assert result.endswith(after)
    inner = result[len(before) : len(result) - len(after)].decode(encoding)
    assert inner.replace("\r\n", "\n").replace("\r", "\n") == new


@given(files())
def test_a_text_that_is_not_there_leaves_every_byte(file: tuple[bytes, str, str]) -> None:
    before, encoding, rest = file
    data = before + rest.encode(encoding)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), DiskHost(lambda severity, text: None))
        path = desk.put("f", data)

        async def edit() -> None:
            await desk.read("f")
            with pytest.raises(ToolError):
                await desk.edit("f", "PLACE", "x")

        anyio.run(edit)
        assert path.read_bytes() == data
