"""The prompt files keep their promises: a stable part without variables, and nothing unused."""

import ast
import re
from pathlib import Path

import pytest

from sidelight.app.shell import shell_tools
from sidelight.background.tasks import Background
from sidelight.core.tokens import estimate
from sidelight.resources.locate import resource
from sidelight.resources.prompts import PromptLibrary
from sidelight.tools.powershell import powershell_tool
from sidelight.tools.registry import built_in_tools
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.tool_search import ToolSearchTool

SERVER = Path(__file__).resolve().parents[2] / "server" / "sidelight"
PROMPTS = resource("prompts")
LIBRARY = PromptLibrary(PROMPTS)
MANIFEST = LIBRARY.manifest()
MODULES = sorted(path.relative_to(PROMPTS).as_posix() for path in PROMPTS.glob("*/**/*.md"))
HEADER = re.compile(r"\A---\nversion: [1-9]\d*\nowner: \S+\n---\n(?=\S)")
LINK = re.compile(r"\]\(([^)]+)\)")
LONGEST = 120
LONGEST_TOOL = 700
"""Tokens."""


def tool_names() -> list[str]:
    """Those of every platform."""
    options, background = ShellOptions(environment=dict), Background()
    here = shell_tools(options, background, "linux")
    tools = built_in_tools(shell=(*here, powershell_tool(options, background)))
    return [*(tool.name for tool in tools), ToolSearchTool.name]


def named_in_code() -> set[str]:
    """Every text in the product that has the form of a prompt module's name."""
    return {
        node.value
        for path in SERVER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"(reminders|local)/[\w-]+\.md", node.value)
    }


def test_nothing_above_the_cache_boundary_has_a_variable() -> None:
    assert MANIFEST.stable
    wrong = [name for name in MANIFEST.stable if re.search(r"\{[a-z_]+\}", LIBRARY.module(name))]
    assert wrong == []


def test_every_link_of_the_manifest_is_a_module_that_exists_and_stands_there_once() -> None:
    linked = LINK.findall((PROMPTS / "system.md").read_text(encoding="utf-8"))
    assert linked == [*MANIFEST.stable, *MANIFEST.dynamic]
    assert sorted(linked) == [name for name in MODULES if name in set(linked)]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_short_and_begins_with_a_header(name: str) -> None:
    text = (PROMPTS / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) < LONGEST
    assert HEADER.match(text)


def test_every_tool_has_a_description_of_a_size_that_is_read() -> None:
    """It goes along with every request."""
    sizes = {name: estimate(LIBRARY.tool(name)) for name in tool_names()}
    assert {name: size for name, size in sizes.items() if not 40 <= size <= LONGEST_TOOL} == {}


def test_every_description_of_a_file_tool_says_when_another_one_is_right() -> None:
    others = {"Read": "Grep", "Edit": "Write", "Write": "Edit", "NotebookEdit": "Write"}
    assert [name for name, other in others.items() if other not in LIBRARY.tool(name)] == []


def test_no_prompt_file_is_unused_and_none_is_missing() -> None:
    tools = {f"tools/{name.lower()}.md" for name in tool_names()}
    assert set(MODULES) == {*MANIFEST.stable, *MANIFEST.dynamic, *tools, *named_in_code()}
