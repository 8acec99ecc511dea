"""What any editor can show: a sentence as a message, a longer text as a file of ours."""

import logging
from datetime import UTC, datetime
from pathlib import Path

import anyio
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sidelight.lsp.convert import uri_of
from sidelight.lsp.server import AgentServer
from sidelight.wire.catalogue import say

log = logging.getLogger(__name__)


class Shown:
    """Shows things without our panel; files go below `folder`."""

    def __init__(self, server: AgentServer, folder: str) -> None:
        self._server = server
        self._folder = folder

    async def document(self, text: str, name: str) -> None:
        """As a Markdown file of ours, opened where the editor can open one."""
        folder = anyio.Path(self._folder) / "answers"
        await folder.mkdir(parents=True, exist_ok=True)
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        path = folder / f"{stamp}-{Path(name).stem}.md"
        await path.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        window = self._server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            params = types.ShowDocumentParams(uri=uri_of(str(path)), take_focus=False)
            try:
                if (await self._server.window_show_document_async(params)).success:
                    return
            except JsonRpcException as error:
                log.warning("the editor did not show %s: %s", path, error.message)
        self.message("The answer is in {path}", path=str(path))

    def message(
        self, words: str, kind: types.MessageType = types.MessageType.Info, **fields: object
    ) -> None:
        """A sentence of the catalogue, in the editor's language."""
        message = say(self._server.locale, words, **fields)
        self._server.window_show_message(types.ShowMessageParams(type=kind, message=message))
