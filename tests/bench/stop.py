"""How long a person waits after pressing stop."""

import time
from pathlib import Path

from sidelight.core.events import Event
from tests.bench.table import row
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply, text
from tests.faults import STUBBORN, prints
from tests.real_session import bash, opened

ROUNDS = 5


async def stubborn_child(folder: Path) -> None:
    """From the cancel to the end of the turn, while a command runs that ignores SIGTERM."""
    figures: list[float] = []
    script = [reply(text("I run."), bash(STUBBORN)) for _ in range(ROUNDS)]
    with running_double(script) as double:
        async with opened(double, folder, mode="bypassPermissions") as desk:
            pressed = 0.0

            def stop(event: Event) -> bool:
                nonlocal pressed
                if prints("ready")(event):
                    pressed = time.monotonic()
                    desk.session.cancel()
                return False

            desk.hold = stop
            for _ in range(ROUNDS):
                await desk.ask("run")
                figures.append(time.monotonic() - pressed)
    figure = f"{min(figures):.2f} to {max(figures):.2f} s"
    row("stop to the turn's end, a child ignores SIGTERM", figure, "under 1 s")
