"""The real server with a few methods that misbehave, for the tests of the transport."""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sidelight.lsp import start
from sidelight.lsp.server import AgentServer, Door


class NoDoor:
    """A door behind which nothing is."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def request(self, method: str, params: Any) -> Any:
        return {"method": method, "params": params}

    async def notification(self, method: str, params: Any) -> None:
        raise RuntimeError(f"{method} is not wanted")

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

    async def file_event(self, uri: str, kind: str) -> None: ...

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None: ...

    def lenses(self, uri: str) -> list[types.CodeLens]:
        raise ValueError("a lens that cannot be made")

    def busy(self) -> bool:
        return False


log = logging.getLogger("faulty")
runs: list[Any] = []


def add_faults(server: AgentServer) -> None:
    protocol = server.protocol

    async def modules(_: str, __: Any) -> Any:
        return sorted(sys.modules)

    async def echo(_: str, params: Any) -> Any:
        runs.append(params)
        log.warning("echo ran: %s", params)
        return params

    async def block(_: str, seconds: Any) -> Any:
        time.sleep(seconds)  # noqa: ASYNC251 - the fault is the point

    async def count(_: str, __: Any) -> Any:
        return len(runs)

    async def give_up(_: str, seconds: Any) -> Any:
        question = types.ShowMessageRequestParams(type=types.MessageType.Info, message="well?")
        try:
            async with asyncio.timeout(seconds):
                await server.window_show_message_request_async(question)
        except TimeoutError:
            return "gave up"
        except JsonRpcException as error:
            return error.message

    async def flood(_: str, pieces: Any) -> Any:
        most = 0
        for _count in range(pieces):
            protocol.tell("test/flood", "x" * (1 << 16))
            await protocol.drain()
            most = max(most, protocol.output.queued if protocol.output else 0)
        return most

    async def fill_threads(_: str, seconds: Any) -> Any:
        await asyncio.gather(*(asyncio.to_thread(time.sleep, seconds) for _ in range(64)))

    async def stray(_: str, __: Any) -> Any:
        print("printed by accident", flush=True)
        os.write(1, b"written to descriptor 1\n")
        child = await asyncio.create_subprocess_exec("cat")
        return await child.wait()

    async def version(_: str, uri: Any) -> Any:
        buffer = server.buffers.get(uri)
        return buffer and [buffer.version, buffer.text]

    protocol.custom_requests.update(
        {
            "test/modules": modules,
            "test/echo": echo,
            "test/block": block,
            "test/count": count,
            "test/giveUp": give_up,
            "test/flood": flood,
            "test/fillThreads": fill_threads,
            "test/stray": stray,
            "test/version": version,
        }
    )


def load(_: AgentServer) -> Door:
    if os.environ.get("BROKEN"):
        raise ImportError("no module named broken")
    return NoDoor()


def main() -> int:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    build = start.build

    def build_faulty(version: str, load: Any) -> AgentServer:
        server = build(version, load)
        add_faults(server)
        return server

    start.build = build_faulty
    return start.serve("0.0.0", load)


if __name__ == "__main__":
    sys.exit(main())
