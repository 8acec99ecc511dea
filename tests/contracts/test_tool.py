"""What every tool keeps, whichever it is."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
import pytest

from sidelight.core.content import Json, Text
from sidelight.core.errors import ToolError
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Progress, Shell, ToolContext, ToolOutput
from sidelight.headless.host import DiskHost
from sidelight.tools.registry import built_in_tools, parse_input

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Case:
    """A call that works on the folder below, one that fails there, and what the first touches."""

    good: Json
    bad: Json
    touched: str
    kind: str
    edits: bool


NOTEBOOK = """{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "one",
   "metadata": {},
   "source": ["hello"]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"""
CASES = {
    "Edit": Case(
        {"file_path": "a.txt", "old_string": "hello", "new_string": "bye"},
        {"file_path": "a.txt", "old_string": "nothing", "new_string": "x"},
        "a.txt",
        "write",
        True,
    ),
    "Glob": Case({"pattern": "*.txt"}, {"pattern": "*", "path": "none"}, "", "read", False),
    "Grep": Case({"pattern": "hello"}, {"pattern": "("}, "", "read", False),
    "NotebookEdit": Case(
        {"notebook_path": "n.ipynb", "new_source": "x", "cell_id": "one"},
        {"notebook_path": "n.ipynb", "new_source": "x", "cell_id": "none"},
        "n.ipynb",
        "write",
        True,
    ),
    "Read": Case({"file_path": "a.txt"}, {"file_path": "none.txt"}, "a.txt", "read", False),
    "Write": Case(
        {"file_path": "new.txt", "content": "x"},
        {"file_path": "unread.txt", "content": "x"},
        "new.txt",
        "write",
        True,
    ),
}
TOOLS = built_in_tools()


@pytest.fixture(params=TOOLS, ids=[tool.name for tool in TOOLS])
def tool(request: pytest.FixtureRequest) -> AnyTool:
    return request.param


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "unread.txt").write_text("hello\n")
    ledger = FileLedger()
    ledger.note_read(str((tmp_path / "a.txt").resolve()), "hello\n", whole=True)
    (tmp_path / "n.ipynb").write_text(NOTEBOOK)
    ledger.note_read(str((tmp_path / "n.ipynb").resolve()), NOTEBOOK, whole=True)
    shell = Shell(str(tmp_path), [str(tmp_path)])
    return ToolContext(
        "session", "call", DiskHost(lambda severity, text: None), ledger, shell, str(tmp_path)
    )


async def items(tool: AnyTool, input: Json, context: ToolContext) -> list[Progress | ToolOutput]:
    run = tool.run(parse_input(tool, input), context)
    with anyio.fail_after(10):
        async with aclosing(cast("AsyncGenerator[Progress | ToolOutput]", run)) as stream:
            return [item async for item in stream]


def state(folder: str) -> dict[str, bytes]:
    return {entry.name: Path(entry.path).read_bytes() for entry in os.scandir(folder)}


async def test_the_last_item_is_the_one_output(tool: AnyTool, context: ToolContext) -> None:
    *before, last = await items(tool, CASES[tool.name].good, context)
    assert isinstance(last, ToolOutput)
    assert all(isinstance(item, Progress) for item in before)
    assert not last.is_error
    assert all(isinstance(block, Text) and block.text for block in last.content)
    assert json.loads(json.dumps(last.data)) == last.data != {}


async def test_a_failure_is_a_tool_error_that_says_what_to_do(
    tool: AnyTool, context: ToolContext
) -> None:
    before = state(context.shell.cwd)
    with pytest.raises(ToolError) as caught:
        await items(tool, CASES[tool.name].bad, context)
    assert len(caught.value.message) > 20
    assert caught.value.kind not in {"bug", "failed"}
    assert state(context.shell.cwd) == before


async def test_it_touches_absolute_real_paths_and_says_whether_it_changes_them(
    tool: AnyTool, context: ToolContext, tmp_path: Path
) -> None:
    case = CASES[tool.name]
    before = state(context.shell.cwd)
    (access,) = tool.touches(parse_input(tool, case.good), context.shell)
    assert (access.kind, access.target, access.mutates) == (
        case.kind,
        str((tmp_path / case.touched).resolve()),
        case.edits,
    )
    assert state(context.shell.cwd) == before


async def test_the_preview_shows_the_edits_and_makes_none(
    tool: AnyTool, context: ToolContext, tmp_path: Path
) -> None:
    case = CASES[tool.name]
    before = state(context.shell.cwd)
    edits = await tool.preview(parse_input(tool, case.good), context)
    assert [edit.path for edit in edits] == ([str(tmp_path / case.touched)] if case.edits else [])
    assert state(context.shell.cwd) == before


async def test_only_what_was_changed_is_reported_as_changed(
    tool: AnyTool, context: ToolContext, tmp_path: Path
) -> None:
    case = CASES[tool.name]
    before = state(context.shell.cwd)
    *_, last = await items(tool, case.good, context)
    assert isinstance(last, ToolOutput)
    changed = {name for name, data in state(str(tmp_path)).items() if before.get(name) != data}
    assert set(last.paths_changed) == {str(tmp_path / name) for name in changed}
    assert bool(changed) == case.edits


def test_the_summary_is_one_line(tool: AnyTool) -> None:
    summary = tool.summary(parse_input(tool, CASES[tool.name].good))
    assert summary
    assert "\n" not in summary


async def test_closing_a_run_that_has_not_begun_changes_nothing(
    tool: AnyTool, context: ToolContext
) -> None:
    before = state(context.shell.cwd)
    run = tool.run(parse_input(tool, CASES[tool.name].good), context)
    await cast("AsyncGenerator[Progress | ToolOutput]", run).aclose()
    assert state(context.shell.cwd) == before
