"""Runs the server over standard input and output until the client ends it."""

import asyncio
import logging
import signal
import sys

from sidelight.lsp.features import code_actions, custom, documents, lenses, lifecycle
from sidelight.lsp.server import AgentServer, Load
from sidelight.lsp.transport import Inbox, Output, claim_stdio, start_reader

log = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0


def serve(version: str, load: Load) -> int:
    """Serve one client over stdio; returns the exit code.

    0 after `shutdown`, 1 when the client left without it, 128 + n after signal n.
    """
    incoming, outgoing = claim_stdio()
    logging.getLogger("pygls").setLevel(logging.WARNING)  # below that it writes out contents
    server = build(version, load)
    return asyncio.run(run(server, incoming, outgoing))


def build(version: str, load: Load) -> AgentServer:
    """A server with all of its features, not yet connected to anything."""
    server = AgentServer(version, load)
    for feature in (lifecycle, documents, custom, code_actions, lenses):
        feature.register(server)
    return server


async def run(server: AgentServer, incoming: int, outgoing: int) -> int:
    """Serve over two descriptors; returns the exit code. Not to be cancelled."""
    loop = asyncio.get_running_loop()
    output = Output(outgoing, loop)
    server.protocol.output = output
    inbox = Inbox(loop)
    caught: list[int] = []

    def on_signal(number: int) -> None:
        caught.append(number)
        server.protocol.exited.set()

    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, on_signal, number)
    start_reader(incoming, inbox)
    pump = asyncio.create_task(server.protocol.pump(inbox))
    exited = asyncio.create_task(server.protocol.exited.wait())
    await asyncio.wait({pump, exited}, return_when=asyncio.FIRST_COMPLETED)
    if pump.done():
        server.protocol.lose_client()
    for task in (pump, exited):
        task.cancel()
    await server.close()
    server.protocol.lose_client()
    await asyncio.sleep(0)
    await asyncio.to_thread(output.close, FLUSH_SECONDS)
    if caught:
        return 128 + caught[0]
    return 0 if server.protocol.shutdown_requested else 1
