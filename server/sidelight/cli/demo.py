"""`sidelight demo`: the agent mends a sample project, with a model if there is one.

Without a model its words were written beforehand, and a banner says so; the tools are real in
any case.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from sidelight.app.world import Choices, World, build_session, make_world
from sidelight.core.content import Text
from sidelight.core.events import (
    Event,
    PermissionDecided,
    RetryScheduled,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
)
from sidelight.headless.host import DiskHost
from sidelight.headless.run import Printer, run_prompt
from sidelight.model.demonstration import DemonstrationModel
from sidelight.model.provider import NoModel
from sidelight.process.run import run
from sidelight.resources.locate import resource
from sidelight.session.manager import SessionManager

TASK = "The tests of this project fail. Find out why, mend the code, and run the tests again."
PAUSE_S = 0.01
LINES_SHOWN = 8
BANNER = """\
+------------------------------------------------------------------------------+
| DEMONSTRATION: no model was found, so the agent's words were written         |
| beforehand. The tools, the edits and the tests are real. For a live model    |
| set ANTHROPIC_API_KEY or start a model server on this computer.              |
+------------------------------------------------------------------------------+"""
ALLOWED = ("Bash(python3 -m unittest:*)", "Bash(python3 -m unittest)")


def main(arguments: Sequence[str]) -> int:
    """Run the demonstration in a fresh copy of the sample; 0 when its tests pass at the end."""
    if arguments:
        print("sidelight demo takes no arguments", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="sidelight-demo-")) / "till"
    shutil.copytree(resource("sample"), folder)
    os.chdir(folder)
    choices = Choices(
        mode="acceptEdits",
        headless=True,
        trusted=True,
        arguments={"permissions": {"allow": list(ALLOWED)}},
    )
    place = "without an editor, for a demonstration; nobody can answer questions"
    world = make_world(os.environ, place, lambda: choices)
    return anyio.run(_run_and_check, world, folder)


async def _run_and_check(world: World, folder: Path) -> int:
    """The turn, then the sample's tests once more: what the agent says is no proof."""
    code = await _run(world, folder)
    done = await run((sys.executable, "-m", "unittest"), cwd=str(folder), env=dict(os.environ))
    good = "the tests pass" if done.exit_code == 0 else "the tests still fail"
    print(f"\nChecked by running the tests once more: {good}. The project is in {folder}.")
    return code or done.exit_code or 0


async def _run(world: World, folder: Path) -> int:
    found = await world.link.connect()
    if isinstance(found, NoModel):
        world.link.play(
            DemonstrationModel.load(resource("demonstration.json"), str(folder), pause_s=PAUSE_S)
        )
        print(BANNER)
    else:
        print(f"Model: {found.source}")
    print(f"Project: {folder}\nTask: {TASK}\n")
    printer = Printer()
    printer.start(_Screen())
    host = DiskHost(lambda severity, words: print(words))
    sessions = SessionManager(
        partial(build_session, world), world.state_home, lambda _: host, lambda _: printer
    )
    session = await sessions.new(str(folder))
    try:
        return await run_prompt(sessions, session, TASK, _Screen(), lambda: host.watched)
    finally:
        with anyio.CancelScope(shield=True):
            await sessions.close()
            await world.link.aclose()


class _Screen:
    """Shows a turn to somebody who watches."""

    def event(self, event: Event) -> None:
        """Print the agent's words, its calls and what came of them."""
        match event:
            case TextDelta():
                print(event.text, end="", flush=True)
            case ToolCallStarted():
                print(f"\n\n> {event.call.name}  {event.summary}", flush=True)
            case PermissionDecided() if event.decision.behavior == "deny":
                print(f"  denied: {event.decision.reason.detail}")
            case ToolCallEnded():
                print(f"  {event.outcome} ({event.duration_ms} ms)", flush=True)
                for line in _patch(event) or _said(event):
                    print(f"  | {line}")
            case RetryScheduled():
                print(f"\nasking again in {event.delay_s:.1f} s: {event.cause}")
            case _:
                pass

    def end(self, ended: TurnEnded) -> None:
        """Say how it ended."""
        print(f"\n\n{ended.error or f'Turn {ended.reason} after {ended.steps} steps.'}")


def _said(event: ToolCallEnded) -> list[str]:
    """The last lines of what a command printed; reads and searches are the agent's own affair."""
    if event.name != "Bash":
        return []
    texts = [block.text for block in event.result.content if isinstance(block, Text)]
    return "\n".join(texts).splitlines()[-LINES_SHOWN:]


def _patch(event: ToolCallEnded) -> list[str]:
    """The changed lines of an edit."""
    patch: Any = event.data.get("structuredPatch") or ()
    return [str(line) for hunk in patch for line in hunk["lines"] if str(line)[:1] in {"+", "-"}]
