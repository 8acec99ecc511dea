"""Hooks that are programs: started with the event as JSON on their input."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from sidelight.core.content import Json
from sidelight.process.run import Finished, run
from sidelight.settings.schema import HookHandler

OUTPUT_LIMIT = 1 << 20
"""Bytes of each stream that are kept; a hook that says more is not understood."""


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The program could not be started; `why` is for people."""

    why: str


async def run_command(
    handler: HookHandler,
    payload: Json,
    *,
    cwd: str,
    env: Mapping[str, str],
    placeholders: Mapping[str, str],
    timeout_s: float,
) -> Finished | NotStarted:
    """Run the handler's command to its end or its deadline; its whole family dies with it.

    Placeholders as `${CLAUDE_PROJECT_DIR}` are part of the environment, and are filled in for
    commands that run without a shell. Cancellable; never raises for a faulty hook.
    """
    if not handler.command:
        return NotStarted('it has no "command"')
    words = _words(handler, placeholders)
    try:
        return await run(
            words,
            cwd=cwd,
            env={**env, **placeholders},
            stdin=json.dumps(payload, default=str).encode() + b"\n",
            timeout=timeout_s,
            limit=OUTPUT_LIMIT,
        )
    except (OSError, ValueError) as error:
        return NotStarted(f"it cannot be started: {error}")


def _words(handler: HookHandler, placeholders: Mapping[str, str]) -> list[str]:
    command = handler.command or ""
    if handler.args is not None:
        return [_filled(word, placeholders) for word in (command, *handler.args)]
    if handler.shell == "powershell":
        return ["pwsh", "-NoProfile", "-NonInteractive", "-Command", command]
    shell = "bash" if handler.shell == "bash" or sys.platform == "win32" else "/bin/sh"
    return [shell, "-c", command]


def _filled(word: str, placeholders: Mapping[str, str]) -> str:
    for name, value in placeholders.items():
        word = word.replace("${" + name + "}", value)
    return word
