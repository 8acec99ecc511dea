"""What each side can do, told in `capabilities.experimental.sidelight` at `initialize`.

Loaded before `initialize` is answered: plain Python only.
"""

from dataclasses import dataclass
from typing import Any

from sidelight.wire.loose import mapping

PROTOCOL = 1

REQUESTS = (
    "session/new",
    "session/load",
    "session/list",
    "session/prompt",
    "session/set_mode",
    "session/set_model",
    "_sidelight/connect",
    "_sidelight/review",
    "_sidelight/original",
    "_sidelight/check_rule",
    "_sidelight/queue_edit",
    "_sidelight/queue_remove",
    "_sidelight/stop_call",
    "_sidelight/pause",
    "_sidelight/move_call",
    "_sidelight/stop_task",
)
NOTIFICATIONS = ("session/cancel", "_sidelight/terminal_cwd")
COMMANDS = (
    "sidelight.explain",
    "sidelight.fix",
    "sidelight.document",
    "sidelight.rename",
    "sidelight.commitMessage",
    "sidelight.addToChat",
    "sidelight.run",
    "sidelight.stop",
    "sidelight.keep",
    "sidelight.undo",
    "sidelight.keepAll",
    "sidelight.undoAll",
    "sidelight.showDiff",
)
OPEN_DIFF = "sidelight.openDiff"
RENAME_IN_WORDS = "sidelight.renameInWords"
"""Commands that our extension itself provides: a lens or a code action starts them."""


@dataclass(frozen=True, slots=True)
class Client:
    """The other side. `ours` is true for our extension in a version that we understand.

    `problem` is a sentence for the person when the versions do not fit.
    """

    ours: bool = False
    problem: str | None = None


def offered(version: str, client: Client) -> dict[str, Any]:
    """What goes into the server's `experimental`; `problem` is why the panel is off."""
    answer: dict[str, Any] = {"protocol": PROTOCOL, "version": version}
    if client.problem:
        answer["problem"] = client.problem
    return {"sidelight": answer}


def understand(experimental: Any) -> Client:
    """Read a client's `capabilities.experimental`; whatever its shape, this does not raise."""
    if "sidelight" not in mapping(experimental):
        return Client()
    protocol = mapping(mapping(experimental)["sidelight"]).get("protocol")
    if protocol == PROTOCOL:
        return Client(ours=True)
    if isinstance(protocol, int) and protocol > PROTOCOL:
        advice = "update the sidelight Python package, then restart the server"
    else:
        advice = "update the Sidelight extension, then reload the window"
    return Client(
        problem=(
            f"The Sidelight extension speaks protocol {protocol!r} and its server protocol "
            f"{PROTOCOL}, so the chat panel is off: {advice}."
        )
    )
