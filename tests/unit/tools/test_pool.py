"""The pool of a session's tools."""

from collections.abc import Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.content import Json, Text, ToolReference
from sidelight.core.errors import ToolError
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Shell, ToolContext, ToolOutput
from sidelight.tools.pool import Pool, deferred, gather, share_of
from sidelight.tools.registry import built_in_tools, find, parse_input
from sidelight.tools.tool_search import ToolSearchTool
from tests.fakes.host import FakeHost
from tests.fakes.tools import StepSource, StepTool

pytestmark = pytest.mark.req("TOOL-03")

OWN: tuple[AnyTool, ...] = (
    StepTool("Write"),
    StepTool("Bash"),
    *built_in_tools()[:1],
    StepTool("Read"),
)


def names(pool: Pool) -> list[str]:
    return [*(tool.name for tool in pool.built_in), *(offer.spec.name for offer in pool.offers)]


def test_built_in_tools_come_first_and_each_part_is_sorted() -> None:
    sources = [StepSource("zoo", ["mcp__zoo__b", "mcp__zoo__a"]), StepSource("ant", ["Aaa"])]
    pool = gather(OWN, sources)
    assert names(pool) == [
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
    assert names(pool) == ["Bash", "Edit", "Read", "Write", "x"]
    assert pool.built_in[2] is OWN[3]
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
    assert names(pool) == ["Bash", "Edit", "Read", "Write", "a", "b", "c", "d", "e"]


def never(name: str) -> bool:
    return False


def later(
    setting: str, window: int = 1_000_000, denied: Callable[[str], bool] = never
) -> list[str]:
    source = StepSource("zoo", ["a", "b", "c"], always=["b"])
    offers = gather(OWN, [source]).offers
    return [offer.spec.name for offer in deferred(offers, setting, window, denied)]


def test_tools_are_deferred_by_setting_and_share_of_the_window() -> None:
    assert later("always") == later("true") == ["a", "c"]
    assert later("never") == later("false") == later("auto") == []
    assert later("auto", 2_000) == ["a", "c"], "two definitions are more than a tenth of that"
    assert later("auto:90", 2_000) == []
    assert later("auto:0") == ["a", "c"]


def test_nothing_is_deferred_that_could_not_be_searched_for() -> None:
    assert later("always", denied=lambda name: name == "ToolSearch") == []
    assert later("always", denied=lambda name: name == "a") == ["c"]


@pytest.mark.parametrize("value", ["sometimes", "auto:", "auto:x", "auto:101", "auto:-1", ""])
def test_a_setting_that_means_nothing_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="is none of always, never, auto and auto:N"):
        share_of(value)


SOURCE = StepSource(
    "hub",
    ["mcp__hub__create_issue", "mcp__hub__listIssues", "mcp__db__query", "mcp__mail__send"],
    about={"mcp__db__query": "Reads rows of a table.", "mcp__mail__send": "Sends a letter."},
    hints={"mcp__mail__send": "notify people about an issue"},
)


async def found(query: str, **more: int) -> tuple[list[str], str]:
    tool: AnyTool = find([ToolSearchTool(SOURCE.offers(), ["Read"])], "ToolSearch") or OWN[0]
    context = ToolContext("s", "t", FakeHost(), FileLedger(), Shell("/w", ["/w"]), "/scratch")
    asked: Json = {"query": query, **more}
    with anyio.fail_after(5):
        (output,) = [i async for i in tool.run(parse_input(tool, asked), context)]
    assert isinstance(output, ToolOutput)
    names = [block.tool_name for block in output.content if isinstance(block, ToolReference)]
    return names, "".join(block.text for block in output.content if isinstance(block, Text))


@pytest.mark.anyio
async def test_a_search_finds_by_name_hint_and_description_the_best_first() -> None:
    names = ["mcp__hub__create_issue", "mcp__mail__send"]
    assert await found("issue") == (
        names,
        f"Loaded, can be called from now on: {', '.join(names)}.",
    )
    assert (await found("list issues"))[0] == ["mcp__hub__listIssues"]
    assert (await found("TABLE rows", max_results=1))[0] == ["mcp__db__query"]
    assert (await found("issue", max_results=1))[0] == names[:1]


@pytest.mark.anyio
async def test_names_are_loaded_outright() -> None:
    assert (await found("select:mcp__db__query, mcp__mail__send"))[0] == [
        "mcp__db__query",
        "mcp__mail__send",
    ]
    assert (await found("mcp__db__query"))[0] == ["mcp__db__query"]
    assert await found("select:Read") == ([], "Needs no loading: Read.")


@pytest.mark.anyio
@pytest.mark.parametrize("query", ["select:mcp__db__drop", "brew coffee"])
async def test_what_is_not_there_is_said_with_all_that_is(query: str) -> None:
    with pytest.raises(ToolError) as caught:
        await found(query)
    assert caught.value.kind == "not_found"
    assert all(name in caught.value.message for name in SOURCE.names)
