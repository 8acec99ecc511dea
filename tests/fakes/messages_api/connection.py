"""As much HTTP/1.1 as one loopback server needs, on asyncio streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http.client import responses

MAX_READ = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Incoming:
    """One request as read from the socket; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class BadRequest(Exception):
    """What came in was not HTTP."""


class Connection:
    """One client connection; `gone` is set as soon as the client closes its side."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.gone = gone
        writer.transport.set_write_buffer_limits(high=256 * 1024)

    async def read(self) -> Incoming | None:
        """The next request, or None when the client is done. Raises BadRequest."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as error:
            raise BadRequest(str(error)) from error
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise BadRequest(lines[0])
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        if headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return Incoming(words[0], words[1], headers, await self._body(headers))

    async def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() != "chunked":
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > MAX_READ:
                raise BadRequest(f"a body of {length} bytes")
            return await self.reader.readexactly(int(length))
        body = bytearray()
        while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        while await self.reader.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
        return bytes(body)

    async def answer(
        self, status: int, body: bytes, headers: Mapping[str, str], *, head_only: bool = False
    ) -> None:
        """Send a whole response."""
        fields = {**headers, "content-length": str(len(body))}
        self.writer.write(_head(status, fields) + (b"" if head_only else body))
        await self.writer.drain()

    def start_stream(self, headers: Mapping[str, str]) -> None:
        """Send the head of an event stream; chunks follow."""
        fields = {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "transfer-encoding": "chunked",
            **headers,
        }
        self.writer.write(_head(200, fields))

    async def send(self, data: bytes) -> None:
        """Send one chunk of a stream. Raises ConnectionError when the client is gone."""
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self.writer.drain()

    async def end_stream(self) -> None:
        """Finish a stream properly."""
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    async def reset(self) -> None:
        """Reset the connection once what was written is out."""
        self.writer.transport.set_write_buffer_limits(high=0)
        await self.writer.drain()
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Serve = Callable[[Connection], Awaitable[None]]


class _Protocol(asyncio.StreamReaderProtocol):
    """Tells at once that the client has closed, also while nothing is being read."""

    gone: asyncio.Event

    def eof_received(self) -> bool | None:
        self.gone.set()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


class Listener:
    """Accepts connections on loopback and runs `serve` for each, until closed; counts them."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self.accepted = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, port: int) -> int:
        """Listen; gives the port, a free one for 0."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._make, "127.0.0.1", port)
        return self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, cancel what is being answered and wait for it."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _make(self) -> asyncio.Protocol:
        gone = asyncio.Event()
        reader = asyncio.StreamReader(limit=1024 * 1024)

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.accepted += 1
            task = asyncio.ensure_future(self._run(Connection(reader, writer, gone)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        protocol = _Protocol(reader, connected)
        protocol.gone = gone
        return protocol

    async def _run(self, connection: Connection) -> None:
        try:
            await self._serve(connection)
        finally:
            connection.writer.close()
            with contextlib.suppress(ConnectionError):
                await connection.writer.wait_closed()


def json_bytes(value: object) -> bytes:
    """A JSON body."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    reason = responses.get(status, "Overloaded" if status == 529 else "Unknown")
    lines = [
        f"HTTP/1.1 {status} {reason}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
