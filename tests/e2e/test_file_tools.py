"""Edits as the editor sees them: one request each, in order, and asked about in sight or not."""

from pathlib import Path

import pytest

from tests.e2e.test_agent_in_editor import agent, allow, edit, read
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply, text, tool_use

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-05")]
TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.mark.parametrize("is_open", [True, False])
async def test_two_edits_of_one_file_in_one_message_are_made_in_order(
    tmp_path: Path, is_open: bool
) -> None:
    """B026, B052: only the lines meant change, and each edit is one request of its own."""
    path = tmp_path / "a.txt"
    path.write_text(TEN, encoding="utf-8")
    lines = "line 4\nline 5\nline 6\n"
    both = [edit(path, lines, "four\nfive\nsix\n"), edit(path, "five\n", "5\n")]
    script = [reply(read(path)), reply(*both), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double, permissionMode="acceptEdits") as desk:
            if is_open:
                await desk.editor.open(path)
            await desk.ask(await desk.new_session(), "work")
            assert len(desk.client.named("workspace/applyEdit")) == (2 if is_open else 0)
        results = [b for b in double.requests[-1].messages[-1]["content"] if b.get("tool_use_id")]
    assert [bool(result.get("is_error")) for result in results] == [False, False]
    assert path.read_text("utf-8") == TEN.replace(lines, "four\n5\nsix\n")


async def test_a_closed_file_is_asked_about_like_an_open_one(tmp_path: Path) -> None:
    """B053: whether a window shows the file makes no difference."""
    open_one, closed_one = tmp_path / "open.txt", tmp_path / "closed.txt"
    for path in (open_one, closed_one):
        path.write_text(TEN, encoding="utf-8")
    script = [
        reply(read(open_one), read(closed_one)),
        reply(edit(open_one, "line 3\n", "x\n"), edit(closed_one, "line 3\n", "x\n")),
        reply(text("Done.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            asked = allow(desk)
            await desk.editor.open(open_one)
            await desk.ask(await desk.new_session(), "work")
    assert [question["toolCall"]["title"] for question in asked] == [str(open_one), str(closed_one)]
    assert [len(question["_meta"]["sidelight"]["diffs"]) for question in asked] == [1, 1]


async def test_a_long_text_that_streams_in_is_applied_once(tmp_path: Path) -> None:
    """B056: 400 pieces of 2,000 lines are one request to the editor."""
    path = tmp_path / "long.txt"
    path.write_text("old\n", encoding="utf-8")
    whole = "".join(f"line {n}\n" for n in range(2_000))
    write = tool_use("Write", {"file_path": str(path), "content": whole})
    script = [reply(read(path)), reply(write, chunk=len(whole) // 400), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double, permissionMode="acceptEdits") as desk:
            await desk.editor.open(path)
            await desk.ask(await desk.new_session(), "work")
            assert len(desk.client.named("workspace/applyEdit")) == 1
    assert path.read_text("utf-8") == whole
