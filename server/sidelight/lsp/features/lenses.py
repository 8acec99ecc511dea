"""The rows above pending hunks: keep, undo, show the difference, which of how many."""

from lsprotocol import types

from sidelight.lsp.server import AgentServer


def register(server: AgentServer) -> None:
    """Handler of `textDocument/codeLens`; there are none before the application is loaded."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=False))
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        door = server.door
        return door.lenses(params.text_document.uri) if door is not None else []
