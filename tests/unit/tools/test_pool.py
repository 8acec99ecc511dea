"""The pool of a session's tools."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.tool import AnyTool
from sidelight.tools.pool import Pool, gather
from sidelight.tools.registry import built_in_tools
from tests.fakes.tools import StepSource, StepTool

pytestmark = pytest.mark.req("TOOL-03")

OWN: tuple[AnyTool, ...] = (
    StepTool("Write"),
    StepTool("Bash"),
    *built_in_tools()[:1],
    StepTool("Read"),
)


def names(tools: Iterable[AnyTool]) -> list[str]:
    return [tool.name for tool in tools]


def test_built_in_tools_come_first_and_each_part_is_sorted() -> None:
    sources = [StepSource("zoo", ["mcp__zoo__b", "mcp__zoo__a"]), StepSource("ant", ["Aaa"])]
    pool = gather(OWN, sources)
    assert names(pool.tools) == [
        "Bash",
        "Edit",
        "Read",
        "Write",
        "Aaa",
        "mcp__zoo__a",
        "mcp__zoo__b",
    ]
    assert pool.notices == ()


def test_a_built_in_tool_wins_a_name_and_that_is_said() -> None:
    sources = [StepSource("zoo", ["Read", "x"]), StepSource("ant", ["x"])]
    pool = gather(OWN, sources)
    assert names(pool.tools) == ["Bash", "Edit", "Read", "Write", "x"]
    assert pool.tools[2] is OWN[3]
    assert pool.notices == (
        "The tool Read of zoo is left out: a built-in tool has this name already.",
        "The tool x of zoo is left out: ant has this name already.",
    )


def test_simple_mode_has_three_tools() -> None:
    pool = gather(OWN, [StepSource("zoo", ["x"])], simple=True)
    assert pool == Pool((OWN[1], OWN[2], OWN[3]))


@given(st.permutations(["a", "b", "c", "d"]), st.permutations([0, 1]))
def test_the_order_does_not_depend_on_who_came_first(tools: list[str], order: list[int]) -> None:
    sources = [StepSource("one", tools), StepSource("two", ["e", *tools])]
    pool = gather(OWN[::-1], [sources[index] for index in order])
    assert names(pool.tools) == ["Bash", "Edit", "Read", "Write", "a", "b", "c", "d", "e"]
