"""Our own methods and commands: known by name from the start, answered once the door is open."""

from collections.abc import Sequence
from typing import Any

from sidelight.lsp.server import AgentServer
from sidelight.wire.capabilities import COMMANDS, NOTIFICATIONS, REQUESTS


def register(server: AgentServer) -> None:
    """Pass requests, notifications and commands on to the door."""

    async def request(method: str, params: Any) -> Any:
        return await (await server.wait_for_door()).request(method, params)

    async def notification(method: str, params: Any) -> None:
        await (await server.wait_for_door()).notification(method, params)

    server.protocol.custom_requests.update(dict.fromkeys(REQUESTS, request))
    server.protocol.custom_notifications.update(dict.fromkeys(NOTIFICATIONS, notification))
    for name in COMMANDS:
        _register_command(server, name)


def _register_command(server: AgentServer, name: str) -> None:
    @server.command(name)
    async def run(arguments: Sequence[Any]) -> Any:
        return await (await server.wait_for_door()).command(name, arguments)
