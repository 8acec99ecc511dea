"""What becomes of text that the person has not saved, when the agent reads and edits it."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import ROOT, Desk
from tests.e2e.test_agent_in_editor import edit, put, read
from tests.fakes.editor import OURS, PLAIN, FakeEditor
from tests.fakes.lsp_client import lsp_client
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply, text, tool_use

pytestmark = [pytest.mark.anyio, pytest.mark.req("EDITOR-03")]
OLDER = "had unsaved changes before this edit and is not saved: the disk is older"


@asynccontextmanager
async def agent(
    folder: Path, double: Double, *, ours: bool, **options: Any
) -> AsyncGenerator[Desk]:
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "server"),
        "ANTHROPIC_BASE_URL": double.base_url,
        "ANTHROPIC_API_KEY": double.api_key,
    }
    async with lsp_client([sys.executable, "-P", "-m", "sidelight", "lsp"], env) as client:
        editor = FakeEditor(client, ours=ours)
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        chosen = {"trusted": True, "permissionMode": "acceptEdits", **options}
        capabilities = OURS if ours else PLAIN
        await client.initialize(
            capabilities, workspaceFolders=folders, initializationOptions=chosen
        )
        yield Desk(client, editor, folder)


def settings(value: str) -> None:
    """The user's own settings file, with our setting."""
    file = Path(os.environ["HOME"], ".claude", "settings.json")
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"sidelight": {"unsavedBuffers": value}}))


@pytest.mark.parametrize(
    ("ours", "setting", "option", "kept"),
    [
        (True, None, None, False),
        (True, None, "keep", True),
        (True, "keep", "save", False),
        (False, None, None, False),
        (False, "keep", None, True),
    ],
)
async def test_unsaved_text_is_read_edited_and_saved_or_kept_as_the_person_chose(
    tmp_path: Path, *, ours: bool, setting: str | None, option: str | None, kept: bool
) -> None:
    path = put(tmp_path / "a.txt", "old\n")
    if setting is not None:
        settings(setting)
    look = tool_use("Bash", {"command": f"cat {path}", "description": "Look at the disk"})
    script = [reply(read(path)), reply(edit(path, "mine", "MINE")), reply(look), reply(text("."))]
    options = {} if option is None else {"unsavedBuffers": option}
    with running_double(script) as double:
        async with agent(tmp_path, double, ours=ours, **options) as desk:
            desk.editor.saves = ours and not kept
            uri = await desk.editor.open(path, "old\nmine\n")
            assert await desk.ask(await desk.new_session(), "shout") == {"stopReason": "end_turn"}
            assert desk.editor.texts[uri] == "old\nMINE\n"
            assert path.read_text() == ("old\n" if kept else "old\nMINE\n")
            shown, edited, on_disk = (
                json.dumps(request.messages[-1]) for request in double.requests[1:]
            )
            assert "mine" in shown
            assert (OLDER in edited) is kept
            assert ("MINE" in on_disk) is not kept
