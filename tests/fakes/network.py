"""A proxy and a TLS front as they stand in the networks of companies, on loopback ports."""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

CHUNK = 65_536


@dataclass
class Proxy:
    """Carries requests to the ports of `routes`, by host name; `seen` has their first lines.

    `login` is `name:password`; `answer` is given, as it is, instead of any connection.
    """

    routes: Mapping[str, int]
    login: str = ""
    answer: bytes = b""
    seen: list[str] = field(default_factory=list[str])
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            return
        first = head.split(b"\r\n", 1)[0].decode()
        self.seen.append(first)
        method, target, _ = first.split(" ")
        if refusal := self._refusal(head):
            writer.write(refusal)
            await _closed(writer)
            return
        parts = urlsplit(target if "://" in target else f"//{target}")
        port = self.routes.get(parts.hostname or "")
        if port is None:
            writer.write(b"HTTP/1.1 502 No route\r\ncontent-length: 0\r\n\r\n")
            await _closed(writer)
            return
        there = await asyncio.open_connection("127.0.0.1", port)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = target.split(parts.netloc, 1)[1] or "/"
            there[1].write(head.replace(target.encode(), path.encode(), 1))
        await joined((reader, writer), there)

    def _refusal(self, head: bytes) -> bytes:
        if self.answer:
            return self.answer
        proof = b"basic " + b64encode(self.login.encode()).lower()
        if self.login and proof not in head.lower():
            return b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"
        return b""


@dataclass
class Front:
    """Ends TLS and passes on to a port; `certificates` has the names of the clients'."""

    to: int
    port: int = 0
    certificates: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        shown = writer.get_extra_info("peercert")
        if shown:
            self.certificates.append(str(shown.get("subjectAltName", ())))
        await joined((reader, writer), await asyncio.open_connection("127.0.0.1", self.to))


@asynccontextmanager
async def listening(
    server: Proxy | Front, context: ssl.SSLContext | None = None
) -> AsyncGenerator[None]:
    """Let a proxy or front listen on a free port, behind TLS if there is a context."""
    tasks: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=context)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def joined(one: Ends, other: Ends) -> None:
    """Pass bytes both ways until one end closes."""
    ways = [
        asyncio.ensure_future(_passed(one[0], other[1])),
        asyncio.ensure_future(_passed(other[0], one[1])),
    ]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        await _closed(one[1])
        await _closed(other[1])


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, ssl.SSLError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()


async def _closed(writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, ssl.SSLError, TimeoutError):
        writer.close()
        await asyncio.wait_for(writer.wait_closed(), 1)
