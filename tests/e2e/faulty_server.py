"""The real server with a few methods that misbehave, for the tests of the transport."""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import Any, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sidelight.lsp import start
from sidelight.lsp.progress import Progress
from sidelight.lsp.server import AgentServer, Door
from tests.fakes.door import NoDoor


class FaultyDoor(NoDoor):
    """A door whose commands take long and whose lenses fail."""

    async def command(self, name: str, arguments: Sequence[Any]) -> Any:
        if name == "sidelight.stop":
            raise asyncio.CancelledError
        log.warning("a command began")
        try:
            await asyncio.sleep(float(arguments[0]))
        except asyncio.CancelledError:
            log.error("the command was stopped")
            raise
        log.error("the command ran to its end")
        return "done"

    def lenses(self, uri: str) -> list[types.CodeLens]:
        raise ValueError("a lens that cannot be made")


log = logging.getLogger("faulty")
runs: list[Any] = []


class Faults:
    """Methods that do what a server must survive, and a look at what it has."""

    def __init__(self, server: AgentServer) -> None:
        self.server = server
        self.protocol = server.protocol
        server.protocol.custom_requests.update(
            {
                "test/modules": self.modules,
                "test/echo": self.echo,
                "test/block": self.block,
                "test/count": self.count,
                "test/giveUp": self.give_up,
                "test/flood": self.flood,
                "test/fillThreads": self.fill_threads,
                "test/stray": self.stray,
                "test/version": self.version,
                "test/progress": self.progress,
            }
        )

    async def modules(self, _: str, __: Any) -> Any:
        return sorted(sys.modules)

    async def echo(self, _: str, params: Any) -> Any:
        runs.append(params)
        log.warning("echo ran: %s", params)
        return params

    async def block(self, _: str, seconds: Any) -> Any:
        time.sleep(seconds)  # noqa: ASYNC251 - the fault is the point

    async def count(self, _: str, __: Any) -> Any:
        return len(runs)

    async def give_up(self, _: str, seconds: Any) -> Any:
        question = types.ShowMessageRequestParams(type=types.MessageType.Info, message="well?")
        try:
            async with asyncio.timeout(seconds):
                return await self.server.window_show_message_request_async(question)
        except TimeoutError:
            return "gave up"
        except JsonRpcException as error:
            return error.message

    async def flood(self, _: str, pieces: Any) -> Any:
        most = 0
        for _count in range(pieces):
            self.protocol.tell("test/flood", "x" * (1 << 16))
            await self.protocol.drain()
            most = max(most, self.protocol.output.queued if self.protocol.output else 0)
        return most

    async def fill_threads(self, _: str, seconds: Any) -> Any:
        await asyncio.gather(*(asyncio.to_thread(time.sleep, seconds) for _ in range(64)))

    async def stray(self, _: str, __: Any) -> Any:
        print("printed by accident", flush=True)
        os.write(1, b"written to descriptor 1\n")
        child = await asyncio.create_subprocess_exec("cat")
        return await child.wait()

    async def progress(self, _: str, count: Any) -> Any:
        for number in range(count):
            async with Progress(self.server, f"work {number}", lambda: None) as shown:
                shown.say("half")
        with contextlib.suppress(RuntimeError):
            async with Progress(self.server, "fails", lambda: None):
                raise RuntimeError
        left = cast("dict[object, object]", self.protocol.progress.tokens)  # pyright: ignore[reportUnknownMemberType]
        return [len(self.server.stoppable), len(left)]

    async def version(self, _: str, uri: Any) -> Any:
        buffer = self.server.buffers.get(uri)
        return buffer and [buffer.version, buffer.text]


def load(_: AgentServer) -> Door:
    if os.environ.get("BROKEN"):
        raise ImportError("no module named broken")
    return FaultyDoor()


def main() -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    build = start.build

    def build_faulty(version: str, load: Any) -> AgentServer:
        server = build(version, load)
        Faults(server)
        return server

    start.build = build_faulty
    return start.serve("0.0.0", load)


if __name__ == "__main__":
    sys.exit(main())
