"""The beginning with real clients' capabilities, as the library's own client sees it."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from tests.fakes.editor import OURS
from tests.fakes.lsp_client import lsp_client as raw_client

ROOT = Path(__file__).resolve().parents[2]
PATH = f"{ROOT / 'server'}{os.pathsep}{ROOT}"
COMMAND = [sys.executable, "-P", str(ROOT / "tests/e2e/fake_server.py")]


@pytest_lsp.fixture(  # pyright: ignore[reportUnknownMemberType]
    config=ClientServerConfig(
        server_command=COMMAND,
        server_env={"PATH": os.environ["PATH"], "PYTHONPATH": PATH, "SIDELIGHT_HOME": "/nowhere"},
    ),
    params=["neovim", "emacs", "visual-studio-code"],
)
async def client(lsp_client: LanguageClient, request: pytest.FixtureRequest) -> Any:
    capabilities = client_capabilities(request.param)
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


@pytest.mark.req("EDITOR-01")
@pytest.mark.asyncio
async def test_an_editor_opens_a_document_and_asks_for_actions(client: LanguageClient) -> None:
    uri = "file:///w/a.py"
    item = types.TextDocumentItem(uri=uri, language_id="python", version=1, text="a = 1\n")
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
    place = types.Range(
        start=types.Position(line=0, character=0), end=types.Position(line=0, character=5)
    )
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=types.TextDocumentIdentifier(uri=uri),
            range=place,
            context=types.CodeActionContext(diagnostics=[]),
        )
    )
    assert [action.title for action in actions or []] == [
        "Sidelight: explain the selection",
        "Sidelight: fix the selection",
        "Sidelight: add the selection to the chat",
        "Sidelight: write a docstring",
        "Sidelight: rename",
    ]
    lenses = await client.text_document_code_lens_async(
        types.CodeLensParams(text_document=types.TextDocumentIdentifier(uri=uri))
    )
    assert list(lenses or []) == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("offers", "chosen"),
    [
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-32", "utf-8", "utf-16"], "utf-32"),
        (["utf-16"], "utf-16"),
        ([], "utf-16"),
    ],
)
async def test_the_clients_first_encoding_is_used(offers: list[str], chosen: str) -> None:
    async with raw_client(COMMAND, {**os.environ, "PYTHONPATH": PATH}) as client:
        general = {"positionEncodings": offers} if offers else {}
        answer = await client.initialize({"general": general})
        assert answer["positionEncoding"] == chosen
        assert answer["experimental"]["sidelight"]["protocol"] == 1
        assert await client.end() == 0


@pytest.mark.anyio
@pytest.mark.req("SESSION-09")
async def test_an_extension_of_another_version_is_told_politely() -> None:
    async with raw_client(COMMAND, {**os.environ, "PYTHONPATH": PATH}) as client:
        capabilities = {**OURS, "experimental": {"sidelight": {"protocol": 2}}}
        answer = await client.initialize(capabilities)
        shown = await client.wait_for_method("window/showMessage")
        problem = (
            "The Sidelight extension speaks protocol 2 and its server protocol 1, so the chat "
            "panel is off: update the sidelight Python package, then restart the server."
        )
        assert shown["params"] == {"type": 2, "message": problem}
        assert answer["experimental"]["sidelight"]["problem"] == problem
        refused = await client.answer_to(await client.begin("session/new", {"cwd": "/"}))
        assert refused["error"] == {"code": -32803, "message": problem}


@pytest.mark.anyio
async def test_a_package_of_the_same_name_in_the_workspace_is_not_imported(tmp_path: Path) -> None:
    decoy = tmp_path / "sidelight"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise SystemExit('decoy')", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": PATH}
    async with raw_client(COMMAND, environment, cwd=str(tmp_path)) as client:
        await client.initialize()
        assert await client.end() == 0
        assert client.stderr == b""
