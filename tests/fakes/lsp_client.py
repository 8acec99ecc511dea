"""A language client in plain bytes: it hides no framing fault and answers only what it is told."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

Message = dict[str, Any]
Answer = Callable[[Any], Awaitable[Any]]
SILENT = object()


class LspClient:
    """The client's end. `answers` maps methods of the server to what this client answers."""

    def __init__(
        self,
        incoming: ByteReceiveStream,
        outgoing: ByteSendStream,
        process: Process | None = None,
    ) -> None:
        self.messages: list[Message] = []
        self.answers: dict[str, Answer] = {}
        self.stderr = b""
        self.paused = anyio.Event()
        self.paused.set()
        self._incoming = incoming
        self._outgoing = outgoing
        self._process = process
        self._arrived = anyio.Event()
        self._sending = anyio.Lock()
        self._last = 0
        self._reading = anyio.CancelScope()

    @property
    def process(self) -> Process:
        """The server's process."""
        assert self._process is not None
        return self._process

    async def hang_up(self) -> None:
        """Close the server's input."""
        await self._outgoing.aclose()

    async def vanish(self) -> None:
        """Close both ends at once, as the system does for a client that was killed."""
        self._reading.cancel()
        await self._outgoing.aclose()
        await self._incoming.aclose()

    async def send(self, message: Message) -> None:
        """Send one message as it is."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        await self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are."""
        async with self._sending:
            await self._outgoing.send(data)

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        await self.send({"method": method, "params": params})

    async def begin(self, method: str, params: Any = None) -> int:
        """Send a request without waiting; returns its id."""
        self._last += 1
        await self.send({"id": self._last, "method": method, "params": params})
        return self._last

    async def answer_to(self, id: int) -> Message:
        """The whole answer to a request."""
        return await self.wait_for(lambda message: message.get("id") == id)

    async def ask(self, method: str, params: Any = None) -> Any:
        """A request's result; fails the test on an error answer."""
        answer = await self.answer_to(await self.begin(method, params))
        assert "error" not in answer, answer["error"]
        return answer["result"]

    async def wait_for(self, wanted: Callable[[Message], bool], seconds: float = 10) -> Message:
        """The first message that came (or comes) and is wanted."""
        with anyio.fail_after(seconds):
            while True:
                arrived = self._arrived
                for message in self.messages:
                    if wanted(message):
                        return message
                await arrived.wait()

    async def wait_for_method(self, method: str) -> Message:
        """The first notification or question of that name."""
        return await self.wait_for(lambda message: message.get("method") == method)

    def named(self, method: str) -> list[Any]:
        """The params of all messages of that name so far."""
        return [message["params"] for message in self.messages if message.get("method") == method]

    async def initialize(self, capabilities: Any = None, **params: Any) -> Any:
        """The usual beginning; returns the server's capabilities."""
        result = await self.ask(
            "initialize", {"processId": None, "capabilities": capabilities or {}, **params}
        )
        await self.notify("initialized", {})
        return result["capabilities"]

    async def end(self) -> int:
        """`shutdown`, `exit`; returns the exit code."""
        assert await self.ask("shutdown") is None
        await self.notify("exit")
        return await self.wait_for_end()

    async def wait_for_end(self, seconds: float = 10) -> int:
        """The exit code."""
        with anyio.fail_after(seconds):
            return await self.process.wait()

    async def read(self) -> None:
        """Take messages from standard output until it ends."""
        with self._reading:
            await self._read()

    async def _read(self) -> None:
        waiting = b""
        async for chunk in self._incoming:
            await self.paused.wait()
            waiting += chunk
            while (end := waiting.find(b"\r\n\r\n")) >= 0:
                header = waiting[:end].decode("ascii")
                assert header.lower().startswith("content-length: "), header
                length = int(header.partition(":")[2].split()[0])
                if len(waiting) < end + 4 + length:
                    break
                await self._take(json.loads(waiting[end + 4 : end + 4 + length]))
                waiting = waiting[end + 4 + length :]
        assert waiting == b"", waiting[:200]

    async def read_stderr(self) -> None:
        """Keep standard error."""
        assert self.process.stderr is not None
        async for chunk in self.process.stderr:
            self.stderr += chunk

    async def _take(self, message: Message) -> None:
        self.messages.append(message)
        self._arrived.set()
        self._arrived = anyio.Event()
        if "method" in message and "id" in message:
            self._group.start_soon(self._answer, message)

    async def _answer(self, message: Message) -> None:
        answer = self.answers.get(message["method"])
        if answer is None:
            error = {"code": -32601, "message": f"no {message['method']} here"}
            await self.send({"id": message["id"], "error": error})
            return
        result = await answer(message["params"])
        if result is not SILENT:
            await self.send({"id": message["id"], "result": result})

    async def __aenter__(self) -> "LspClient":
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self.read)
        if self._process is not None:
            self._group.start_soon(self.read_stderr)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)
        with anyio.CancelScope(shield=True):
            await self._outgoing.aclose()
            await self._incoming.aclose()
            if self._process is not None:
                await self._process.aclose()


@asynccontextmanager
async def lsp_client(
    command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> AsyncGenerator[LspClient]:
    """Start a server and talk to it; killed at the end if it still runs."""
    process = await anyio.open_process(list(command), env=env, cwd=cwd)
    assert process.stdin is not None
    assert process.stdout is not None
    async with LspClient(process.stdout, process.stdin, process) as client:
        yield client
