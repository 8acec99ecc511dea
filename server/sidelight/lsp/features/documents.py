"""What the editor tells of documents and files."""

from lsprotocol import types

from sidelight.lsp.server import AgentServer

KINDS = {
    types.FileChangeType.Created: "add",
    types.FileChangeType.Changed: "change",
    types.FileChangeType.Deleted: "unlink",
}


def register(server: AgentServer) -> None:
    """Handlers of `textDocument/did*` and of watched files.

    The library keeps a copy of the documents too, with other line ends than ours and a cost that
    grows with the file: our handlers take the place of its own.
    """

    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.buffers.open(
            document.uri, document.version, document.text, str(document.language_id)
        )

    def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        server.buffers.change(document.uri, document.version, params.content_changes)

    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.buffers.close(params.text_document.uri)

    server.protocol.replace(types.TEXT_DOCUMENT_DID_OPEN, opened)
    server.protocol.replace(types.TEXT_DOCUMENT_DID_CHANGE, changed)
    server.protocol.replace(types.TEXT_DOCUMENT_DID_CLOSE, closed)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.buffers.saved(params.text_document.uri)
        door = await server.wait_for_door()
        await door.file_event(params.text_document.uri, "change")

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.buffers.disk_changed(change.uri)
        door = await server.wait_for_door()
        for change in params.changes:
            await door.file_event(change.uri, KINDS[change.type])
