"""Another model for a conversation, over stdio: from the next turn on, and for good."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_agent_in_editor import agent
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.request import Request
from tests.fakes.messages_api.script import reply, text

pytestmark = pytest.mark.anyio

SONNET, OPUS = "claude-sonnet-5-5", "claude-opus-5-5"


def named(request: Request) -> tuple[str, bool]:
    """The model that was asked, and whether the prefix names the one that was chosen."""
    words = "\n".join(block["text"] for block in request.system)
    return request.model, f"Model: {OPUS}" in words


async def said(desk: Desk, double: Double, session: str, task: str) -> tuple[str, bool]:
    assert await desk.ask(session, task) == {"stopReason": "end_turn"}
    asked = [request for request in double.requests if request.path == "/v1/messages"]
    return named(asked[-1])


async def test_the_chosen_model_answers_with_a_prefix_of_its_own_also_after_a_restart(
    tmp_path: Path,
) -> None:
    with running_double([reply(text("one")), reply(text("two")), reply(text("three"))]) as double:
        async with agent(tmp_path, double) as desk:
            cwd: dict[str, Any] = {"cwd": str(tmp_path), "mcpServers": []}
            session = (await desk.client.ask("session/new", cwd))["sessionId"]
            connection = await desk.client.ask("_sidelight/connect", {})
            offered = {model["modelId"]: model for model in connection["models"]}
            assert offered[OPUS] == {
                "modelId": OPUS,
                "name": "Opus 5.5",
                "description": "1M tokens, $4 in, $20 out per million",
            }
            assert await said(desk, double, session, "first") == (SONNET, False)
            choice = {"sessionId": session, "modelId": OPUS}
            assert await desk.client.ask("session/set_model", choice) == {}
            assert await said(desk, double, session, "second") == (OPUS, True)
            assert await desk.client.end() == 0
        async with agent(tmp_path, double) as desk:
            loaded = await desk.client.ask("session/load", {**cwd, "sessionId": session})
            assert loaded["models"]["currentModelId"] == OPUS
            assert await said(desk, double, session, "third") == (OPUS, True)
        assert double.refusals == []
