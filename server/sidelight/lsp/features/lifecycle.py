"""The beginning: who the client is, and loading what is heavy once it has our answer."""

from lsprotocol import types

from sidelight.lsp.server import AgentServer
from sidelight.wire.capabilities import offered, understand
from sidelight.wire.loose import mapping


def register(server: AgentServer) -> None:
    """Handlers for `initialize`, `initialized`, settings and workspace folders."""

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.client = understand(params.capabilities.experimental)
        server.protocol.experimental = offered(server.version, server.client)
        server.locale = (params.locale or "en").lower()
        server.options = mapping(params.initialization_options)
        general = params.capabilities.general
        offers = (general.position_encodings if general else None) or []
        server.buffers.use_encoding([str(getattr(kind, "value", kind)) for kind in offers])

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        if server.client.problem:
            server.window_show_message(
                types.ShowMessageParams(
                    type=types.MessageType.Warning, message=server.client.problem
                )
            )
        server.start_loading()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        settings = mapping(mapping(params.settings).get("sidelight"))
        server.options = {**server.options, **settings}

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        door = await server.wait_for_door()
        await door.folders_changed(
            [folder.uri for folder in params.event.added],
            [folder.uri for folder in params.event.removed],
        )
