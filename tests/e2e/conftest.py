"""The server as a process, with conversations that need no model, and an editor before it."""

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.editor import OURS, PLAIN, FakeEditor
from tests.fakes.lsp_client import LspClient, lsp_client

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Desk:
    """A workspace, an editor with it, and the server."""

    client: LspClient
    editor: FakeEditor
    folder: Path

    async def new_session(self) -> str:
        created = await self.client.ask("session/new", {"cwd": str(self.folder), "mcpServers": []})
        return created["sessionId"]

    async def prompt(self, session_id: str, text: str, **more: Any) -> int:
        """Send a prompt; the id of the request."""
        blocks = [{"type": "text", "text": text}]
        params = {"sessionId": session_id, "prompt": blocks, **more}
        return await self.client.begin("session/prompt", params)

    async def ask(self, session_id: str, text: str, **more: Any) -> Any:
        """A prompt's whole turn; its result."""
        answer = await self.client.answer_to(await self.prompt(session_id, text, **more))
        return answer["result"]

    def updates(self, kind: str) -> list[Any]:
        """The updates of a kind so far."""
        told = [params["update"] for params in self.client.named("session/update")]
        return [update for update in told if update["sessionUpdate"] == kind]

    async def wait_for_update(self, kind: str) -> Any:
        """The first update of a kind."""
        message = await self.client.wait_for(
            lambda one: (
                one.get("method") == "session/update"
                and one["params"]["update"]["sessionUpdate"] == kind
            )
        )
        return message["params"]["update"]


@asynccontextmanager
async def desk(folder: Path, *, ours: bool = True, **params: Any) -> AsyncGenerator[Desk]:
    path = f"{ROOT / 'server'}{os.pathsep}{ROOT}"
    command = [sys.executable, "-P", str(ROOT / "tests/e2e/fake_server.py")]
    async with lsp_client(command, {**os.environ, "PYTHONPATH": path}) as client:
        editor = FakeEditor(client, ours=ours)
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        capabilities = OURS if ours else PLAIN
        await client.initialize(capabilities, workspaceFolders=folders, **params)
        yield Desk(client, editor, folder)


@pytest.fixture
def open_desk(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Desk]]:
    """Starts a server for a workspace that is empty."""

    def start(**options: Any) -> AbstractAsyncContextManager[Desk]:
        return desk(tmp_path, **options)

    return start
