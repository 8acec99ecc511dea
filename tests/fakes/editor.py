"""`FakeEditor`: documents, saving and dialogs of an editor, behind a plain client."""

import re
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anyio
from anyio.abc import SocketStream

from sidelight.lsp.server import AgentServer
from sidelight.lsp.start import run
from tests.fakes.lsp_client import SILENT, LspClient

Json = dict[str, Any]

OURS: Json = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "delete"]},
        "codeLens": {"refreshSupport": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    },
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["command"]},
        }
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "general": {"positionEncodings": ["utf-16"]},
    "experimental": {"sidelight": {"protocol": 1}},
}
PLAIN: Json = {**OURS, "experimental": {}, "general": {"positionEncodings": ["utf-8"]}}


class FakeEditor:
    """What differs between editors is an attribute; as made it behaves like our extension.

    `on_save` stands for save participants. `before_apply` is run once before the next edit, as a
    user who types at that moment. `typed` are changes of the user that the server has not seen.
    """

    def __init__(self, client: LspClient, *, ours: bool = True) -> None:
        self.client = client
        self.encoding = "utf-16" if ours else "utf-8"
        self.texts: dict[str, str] = {}
        self.codecs: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.saves = ours
        self.checks_versions = True
        self.reports = True
        self.on_save: Callable[[str], str] = lambda text: text
        self.cannot_save = False
        self.refusal = ""
        self.error = ""
        self.before_apply: Callable[[], Any] | None = None
        self.edits: list[Json] = []
        self.applying = 0
        self.most_at_once = 0
        client.answers["workspace/applyEdit"] = self._apply

    async def open(self, path: Path, text: str | None = None, codec: str = "utf-8") -> str:
        """Open a file, with other text than the disk's if given; returns its URI.

        It is read and saved with `codec`; a byte-order mark is no part of the text.
        """
        uri = path.as_uri()
        self.codecs[uri] = codec
        self.texts[uri] = read(path, codec) if text is None else text
        self.versions[uri] = 1
        item = {"uri": uri, "languageId": "text", "version": 1, "text": self.texts[uri]}
        await self.client.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    async def close(self, uri: str) -> None:
        """Close a document."""
        del self.texts[uri]
        await self.client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def write(self, uri: str, text: str) -> None:
        """The user makes this the text; not saved."""
        self.texts[uri] = text
        await self._changed(uri, [{"text": text}])

    async def save(self, uri: str) -> None:
        """Save participants run, the disk is written, the server is told."""
        saved = self.on_save(self.texts[uri])
        if saved != self.texts[uri]:
            await self.write(uri, saved)
        self.path(uri).write_bytes(saved.encode(self.codecs.get(uri, "utf-8")))
        await self.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def watched(self, path: Path, kind: int = 2) -> None:
        """The watcher reports a file: 1 added, 2 changed, 3 removed."""
        changes = [{"uri": path.as_uri(), "type": kind}]
        await self.client.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def path(self, uri: str) -> Path:
        """The file behind a document."""
        return Path(unquote(uri.removeprefix("file://")))

    async def _apply(self, params: Json) -> object:
        self.edits.append(params)
        self.applying += 1
        self.most_at_once = max(self.most_at_once, self.applying)
        try:
            if self.before_apply is not None:
                user, self.before_apply = self.before_apply, None
                await user()
            return await self._applied(params["edit"])
        finally:
            self.applying -= 1

    async def _applied(self, edit: Json) -> object:
        if self.refusal:
            return {"applied": False, "failureReason": self.refusal}
        changes: list[Json] = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri, "version": None}, "edits": edits}
            for uri, edits in edit["changes"].items()
        ]
        documents = [change["textDocument"] for change in changes if "kind" not in change]
        if self.checks_versions and any(
            one["version"] not in {None, self.versions[one["uri"]]} for one in documents
        ):
            return {"applied": False}
        for change in changes:
            if change.get("kind") == "delete":
                await self.close(change["uri"])
                self.path(change["uri"]).unlink()
            else:
                await self._edit(change["textDocument"]["uri"], change["edits"])
        if not self.saves:
            return {"applied": True}
        if self.cannot_save:
            paths = ", ".join(str(self.path(one["uri"])) for one in documents)
            return {"applied": True, "failureReason": f"not saved: {paths}"}
        for document in documents:
            await self.save(document["uri"])
        return {"applied": True}

    async def _edit(self, uri: str, edits: list[Json]) -> None:
        if not self.reports:
            return
        events: list[Json] = []
        for edit in reversed(edits):
            start, end = (self.offset(uri, edit["range"][side]) for side in ("start", "end"))
            text = self.texts[uri]
            self.texts[uri] = text[:start] + edit["newText"] + text[end:]
            events.append({"range": edit["range"], "text": edit["newText"]})
        await self._changed(uri, events)

    async def _changed(self, uri: str, events: list[Json]) -> None:
        self.versions[uri] += 1
        document = {"uri": uri, "version": self.versions[uri]}
        params = {"textDocument": document, "contentChanges": events}
        await self.client.notify("textDocument/didChange", params)

    def offset(self, uri: str, position: Json) -> int:
        """The code point at a position, counted unit by unit."""
        text = self.texts[uri]
        starts: list[int] = [0, *(end.end() for end in re.finditer(r"\r\n|\n|\r", text))]
        offset = starts[int(position["line"])]
        column = 0
        while column < position["character"]:
            column += self._width(text[offset])
            offset += 1
        return offset

    def _width(self, character: str) -> int:
        if self.encoding == "utf-8":
            return len(character.encode())
        return len(character.encode("utf-16-le")) // 2


def read(path: Path, codec: str) -> str:
    """A file's text with its line ends."""
    return path.read_bytes().decode(codec)


async def silence(_: object) -> object:
    """A question that the person never answers."""
    return SILENT


@asynccontextmanager
async def connected(server: AgentServer) -> AsyncGenerator[LspClient]:
    """A server that runs in this very process, and a client over a pair of sockets."""
    ours, theirs = socket.socketpair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, server, theirs.fileno(), theirs.fileno())
        stream = await SocketStream.from_socket(ours)
        async with LspClient(stream, stream) as client:
            yield client
            await client.notify("exit")
            with anyio.fail_after(5):
                await server.protocol.exited.wait()
    theirs.close()
