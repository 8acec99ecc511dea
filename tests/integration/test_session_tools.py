"""Which tools a session tells the model of."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidelight.core.events import ToolCallEnded
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply, text, tool_use
from tests.fakes.tools import StepSource
from tests.real_session import QUICK, opened

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-03")]


def tools(double: Double, number: int) -> list[str]:
    return [tool["name"] for tool in json.loads(double.requests[number].raw)["tools"]]


def with_own(**own: Any) -> dict[str, Any]:
    return {**QUICK, "sidelight": {**QUICK["sidelight"], **own}}


async def test_a_tool_that_a_rule_denies_is_not_told_and_a_call_of_it_hears_of_the_rule(
    tmp_path: Path,
) -> None:
    settings = {**QUICK, "permissions": {"deny": ["Bash", "Read(x)", "Gl*"]}}
    script = [reply(tool_use("Bash", {"command": "true"})), reply(text("I see."))]
    with running_double(script) as double:
        async with opened(double, tmp_path, settings=settings) as desk:
            await desk.ask("go")
        others = ["Monitor", "NotebookEdit", "Read", "TaskOutput", "TaskStop", "Write"]
        assert tools(double, 0) == ["Edit", "Grep", *others]
    (ended,) = [event for event in desk.events if isinstance(event, ToolCallEnded)]
    assert (ended.outcome, ended.error) == ("denied", "denied_by_rule")


async def test_simple_mode_offers_three_tools(tmp_path: Path) -> None:
    script = [reply(tool_use("Write", {"file_path": "a", "content": ""})), reply(text("I see."))]
    with running_double(script) as double:
        async with opened(double, tmp_path, settings=with_own(simpleTools=True)) as desk:
            await desk.ask("go")
        assert tools(double, 0) == ["Bash", "Edit", "Read"]
    (ended,) = [event for event in desk.events if isinstance(event, ToolCallEnded)]
    assert ended.error == "invalid_input"


async def test_the_tools_are_the_same_bytes_in_every_request(tmp_path: Path) -> None:
    """B118, B119: also after the conversation is taken up again, whatever rules came since."""
    script = [reply(tool_use("Glob", {"pattern": "*"})), reply(text("one")), reply(text("two"))]
    with running_double(script) as double:
        async with opened(double, tmp_path) as desk:
            await desk.ask("go")
            session_id = desk.session.id
        later = {**QUICK, "permissions": {"deny": ["Glob"]}}
        async with opened(double, tmp_path, session_id=session_id, settings=later) as desk:
            await desk.ask("and on")
        told = [json.loads(request.raw)["tools"] for request in double.requests]
    assert [json.dumps(each) for each in told] == [json.dumps(told[0])] * 3


async def test_deferred_tools_are_found_by_a_search_and_then_called(tmp_path: Path) -> None:
    names = ["mcp__hub__create_issue", "mcp__hub__list_issues"]
    source = StepSource("hub", names, always=names[1:])
    script = [
        reply(tool_use("ToolSearch", {"query": "create issue"})),
        reply(tool_use(names[0], {"name": "a"})),
        reply(text("Done.")),
    ]
    settings = with_own(toolSearch="always")
    with running_double(script) as double:
        async with opened(
            double, tmp_path, settings=settings, sources=(source,), mode="bypassPermissions"
        ) as desk:
            await desk.ask("go")
        bodies = [json.loads(request.raw) for request in double.requests]
    told = [(tool["name"], tool.get("defer_loading", False)) for tool in bodies[0]["tools"]]
    own = ["Bash", "Edit", "Glob", "Grep", "Monitor", "NotebookEdit", "Read"]
    own += ["TaskOutput", "TaskStop", "ToolSearch", "Write"]
    assert told == [*((name, False) for name in own), (names[0], True), (names[1], False)]
    (found,) = bodies[1]["messages"][-1]["content"]
    assert found["content"][0] == {"type": "tool_reference", "tool_name": names[0]}
    (called,) = bodies[2]["messages"][-1]["content"]
    assert called["content"] == [{"type": "text", "text": "a done"}]
    assert [json.dumps(body["tools"]) for body in bodies] == [json.dumps(bodies[0]["tools"])] * 3
    assert double.prefix_problems() == []


async def test_a_value_that_does_not_count_is_said(tmp_path: Path) -> None:
    with running_double([reply(text("Done."))]) as double:
        settings = with_own(toolSearch="sometimes")
        async with opened(double, tmp_path, settings=settings) as desk:
            await desk.ask("go")
            assert (
                "sidelight.toolSearch: 'sometimes' is none of always, never, auto and auto:N "
                "(percent); it is ignored." in desk.notices
            )
