"""A server in this process, its editor, and the host that asks it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sidelight.lsp.edits import Edits
from sidelight.lsp.host import LspHost
from sidelight.lsp.questions import Questions
from sidelight.lsp.server import AgentServer
from sidelight.lsp.start import build
from tests.fakes.door import NoDoor
from tests.fakes.editor import OURS, PLAIN, FakeEditor, connected


@dataclass
class World:
    """Everything between a host and its editor, all real but the editor."""

    server: AgentServer
    editor: FakeEditor
    host: LspHost


@asynccontextmanager
async def world(
    *,
    ours: bool = True,
    patience: float = 5,
    capabilities: Any = None,
    unsaved: str = "save",
    **params: Any,
) -> AsyncGenerator[World]:
    server = build("0.0.0", lambda _: NoDoor())
    async with connected(server) as client:
        editor = FakeEditor(client, ours=ours)
        declared = capabilities if capabilities is not None else OURS if ours else PLAIN
        await client.initialize(declared, **params)
        host = LspHost(server, "s1", Edits(server, lambda: unsaved), Questions(server, patience))
        yield World(server, editor, host)


Make = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def make() -> Make:
    return world
