"""The environment that the user's login shell makes: an editor started from a menu lacks it."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio

from sidelight.core.ids import new_id
from sidelight.process.environment import child_environment
from sidelight.process.run import Finished, run

SECONDS = 10.0
"""How long the shell's start files may take; then commands go without them."""
LIMIT = 8 << 20
OF_THE_SHELL = frozenset({"_", "SHLVL", "PWD", "OLDPWD"})
_USUAL = re.compile(r"job control|terminal process group|can't change option: zle|^\s*$")
"""What interactive shells complain of when there is no terminal."""
MARK = "SIDELIGHT_RESOLVING_ENVIRONMENT"
"""Set while the start files run, so that they can tell."""


class LoginEnvironment:
    """Asks the login shell once, when `capture` is first awaited; `variables` never waits.

    What this process was started with stays; the shell adds to it. `PATH` is joined. The shell
    starts in the home folder, so that nothing of a project runs.
    """

    def __init__(self, environ: Mapping[str, str], *, seconds: float = SECONDS) -> None:
        self._environ = environ
        self._seconds = seconds
        self._asked = anyio.Lock()
        self._done = sys.platform == "win32"
        self.variables: Mapping[str, str] = environ

    async def capture(self) -> str:
        """Ask, if nobody did; why it failed, in a sentence for people, or empty.

        The reason is given once. Cancelled, it is asked again the next time.
        """
        async with self._asked:
            if self._done:
                return ""
            found = await self._ask()
            self._done = True
        if isinstance(found, str):
            return (
                f"The environment of the login shell could not be read: {found}. "
                "Commands run without what its start files set."
            )
        self.variables = joined(self._environ, found)
        return ""

    async def _ask(self) -> dict[str, str] | str:
        shell = self._environ.get("SHELL") or "/bin/sh"
        mark, home = new_id(), self._environ.get("HOME") or "/"
        try:
            done = await run(
                [shell, *_options(shell), _print(mark)],
                cwd=home if await anyio.Path(home).is_dir() else "/",
                env={"TERM": "dumb", **child_environment(self._environ), MARK: "1"},
                timeout=self._seconds,
                limit=LIMIT,
            )
        except (OSError, ValueError) as error:
            return f"{shell} cannot be started ({error})"
        return self._read(shell, mark, done)

    def _read(self, shell: str, mark: str, done: Finished) -> dict[str, str] | str:
        parts = done.stdout.split(mark.encode())
        if len(parts) == 3:
            return parsed(parts[1])
        if done.timed_out:
            return f"{shell} was not ready after {self._seconds:g} s"
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        last = next((line[:200] for line in reversed(lines) if not _USUAL.search(line)), "")
        ended = f"signal {done.signal}" if done.exit_code is None else f"code {done.exit_code}"
        return f"{shell} ended early with {ended}{f' ({last})' if last else ''}"


def joined(ours: Mapping[str, str], login: Mapping[str, str]) -> dict[str, str]:
    """Our variables with those that only the login shell has; its PATH is taken in."""
    added = {name: value for name, value in login.items() if name not in OF_THE_SHELL | {MARK}}
    merged = {**added, **ours}
    if "PATH" in added:
        merged["PATH"] = joined_path(ours.get("PATH", ""), added["PATH"])
    return merged


def joined_path(ours: str, login: str) -> str:
    """Ours if nothing is missing in it, else the login shell's with our own entries.

    An entry of ours stays in front if it stood before all that both have: an activated
    environment wins.
    """
    mine, theirs = _entries(ours), _entries(login)
    if set(theirs) <= set(mine):
        return ours
    shared = next((index for index, entry in enumerate(mine) if entry in theirs), len(mine))
    first = mine[:shared]
    rest = [entry for entry in mine[shared:] if entry not in theirs]
    return ":".join((*first, *theirs, *rest))


def parsed(block: bytes) -> dict[str, str]:
    """Variables from text with a NUL after each."""
    pairs = (item.partition("=") for item in block.decode("utf-8", "surrogateescape").split("\0"))
    return {name: value for name, sign, value in pairs if sign}


def _entries(path: str) -> list[str]:
    return list(dict.fromkeys(entry for entry in path.split(":") if entry))


def _options(shell: str) -> tuple[str, ...]:
    """Interactive too: version managers often stand where only interactive shells look."""
    name = Path(shell).name
    return ("-ic",) if name in {"csh", "tcsh"} else ("-l", "-i", "-c")


def _print(mark: str) -> str:
    """A command in any shell's language that prints all variables between two marks."""
    program = (
        "import os,sys;"
        "o=b'\\0'.join(k+b'='+v for k,v in os.environb.items())+b'\\0';"
        f'm=b"{mark}";'
        "sys.stdout.buffer.write(m+o+m)"
    ).replace("'", '"')
    return f"'{sys.executable}' -I -S -c '{program}'"
