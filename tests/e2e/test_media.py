"""Pictures, PDF files and notebooks from the editor to the provider spoil no conversation."""

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.builders_media import cell, notebook, pdf, picture
from tests.e2e.conftest import Desk
from tests.e2e.test_agent_in_editor import agent, allow, read
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.images import dimensions
from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.script import http_error, reply, text, tool_use

pytestmark = pytest.mark.anyio


def sent(request: Any) -> list[Json]:
    """The blocks of the user's side of a request, those within results too."""
    blocks = [b for m in request.messages if m["role"] == "user" for b in m["content"]]
    inner = [part for block in blocks for part in block.get("content", ())]
    return [*blocks, *inner]


def kinds(request: Any) -> list[str]:
    return [block["type"] for block in sent(request) if block["type"] != "text"]


async def ask_with(desk: Desk, session: str, *pictures: bytes) -> Any:
    blocks: list[Json] = [
        {"type": "image", "mimeType": "image/png", "data": base64.b64encode(data).decode()}
        for data in pictures
    ]
    prompt = [{"type": "text", "text": "look"}, *blocks]
    return await desk.client.ask("session/prompt", {"sessionId": session, "prompt": prompt})


@pytest.mark.req("TOOL-04")
async def test_pictures_are_checked_and_scaled_before_they_join(tmp_path: Path) -> None:
    """B110: a broken one is said to person and model; the next message works."""
    with running_double([reply(text("Seen.")), reply(text("Yes."))]) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            await ask_with(desk, session, b"", picture(9000, 90), picture(30, 20)[:-40])
            notices = [notice["text"] for notice in desk.client.named("_sidelight/notice")]
            assert notices[0] == "A picture was not sent along: it is empty"
            assert notices[1].startswith("A picture was not sent along: it cannot be decoded")
            assert await desk.ask(session, "and now?") == {"stopReason": "end_turn"}
    first, second = double.requests
    (shown,) = [block for block in sent(first) if block["type"] == "image"]
    assert dimensions(base64.b64decode(shown["source"]["data"])) == (2000, 20)
    assert kinds(second) == ["image"]
    said = [block["text"] for block in sent(first) if block["type"] == "text"]
    assert "(a picture was attached here, but not sent: it is empty)" in said


@pytest.mark.parametrize("status", [400, 413])
async def test_a_refused_picture_does_not_end_the_conversation(tmp_path: Path, status: int) -> None:
    """B110: whatever the server says, the prompt is answered, and so is the next one."""
    refused = http_error(status, "Could not process image")
    with running_double([refused, reply(text("Without.")), reply(text("Yes."))]) as double:
        async with agent(tmp_path, double) as desk:
            session = await desk.new_session()
            assert await ask_with(desk, session, picture(30, 20)) == {"stopReason": "end_turn"}
            assert await desk.ask(session, "and now?") == {"stopReason": "end_turn"}
            (notice,) = [n["text"] for n in desk.client.named("_sidelight/notice")]
            assert "going on without" in notice
    assert [kinds(request) for request in double.requests] == [["image"], [], []]


@pytest.mark.req("TOOL-04")
async def test_read_shows_pictures_pages_and_cells_and_a_cell_is_changed(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(picture(30, 20))
    (tmp_path / "d.pdf").write_bytes(pdf(["hello"]))
    book = tmp_path / "n.ipynb"
    book.write_text(notebook(cell("one", "a = 1"), cell("two", "b")), encoding="utf-8")
    change = {"notebook_path": str(book), "cell_id": "one", "new_source": "a = 2"}
    script = [
        reply(read(tmp_path / "p.png"), read(tmp_path / "d.pdf"), read(book)),
        reply(tool_use("NotebookEdit", change)),
        reply(text("Done.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            asked = allow(desk)
            session = await desk.new_session()
            await desk.ask(session, "work")
    assert kinds(double.requests[-1])[-2:] == ["image", "document"]
    (question,) = asked
    assert question["toolCall"]["kind"] == "edit"
    (diff,) = question["_meta"]["sidelight"]["diffs"]
    assert [(line["sign"], line["text"]) for line in diff["lines"] if line["sign"] in "+-"] == [
        ("-", '    "a = 1"'),
        ("+", '    "a = 2"'),
    ]
    assert book.read_text("utf-8") == notebook(cell("one", "a = 2"), cell("two", "b"))
