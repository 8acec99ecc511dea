"""Runs every client's tests, one after the other, and says in one table what was proven.

A part whose program is missing is not run; that fails only where SIDELIGHT_REQUIRE=all.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.clients import extension, neovim
from tests.clients.extension import CLIENT, ROOT
from tests.clients.workbench import FOLDER, NotHere, installed

SLOWEST_S = 900


@dataclass(frozen=True)
class Result:
    """How a part went; `words` says why, if not well."""

    part: str
    state: str
    seconds: float
    words: str = ""


def command(*arguments: str, cwd: str = str(ROOT)) -> None:
    """Run a program on this checkout's code; raises CalledProcessError or TimeoutExpired."""
    path = f"{ROOT / 'server'}{os.pathsep}{ROOT}"  # also where another one is installed
    env = {**os.environ, "PYTHONPATH": path}
    subprocess.run(arguments, cwd=cwd, check=True, timeout=SLOWEST_S, env=env)


def the_extension() -> None:
    """Types, style and unit tests of the extension."""
    if shutil.which("npm") is None:
        raise NotHere("npm")
    extension.install()
    command("npm", "run", "--silent", "check", cwd=str(CLIENT))
    command("npm", "test", "--silent", cwd=str(CLIENT))


def the_panel() -> None:
    """The panel alone in a browser: focus, keys, scrolling, and what it posts."""
    installed()
    extension.install()
    command("npm", "run", "--silent", "test:panel", cwd=str(CLIENT))


def the_driver() -> None:
    """The code that drives the workbench."""
    node = installed().node
    command(sys.executable, "-m", "pytest", "tests/clients/vscode")
    command(str(node), "--test", str(FOLDER / "driver.test.mjs"))


def the_workbench() -> None:
    """The packaged extension in a real VS Code: inside its extension host, then clicked through."""
    node = installed().node
    vsix = extension.package()
    run = (str(node), str(FOLDER / "run.mjs"))
    command(*run, "--vsix", str(vsix), "--python", sys.executable)


PARTS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("extension: types, style, unit tests", the_extension),
    ("panel in Chromium", the_panel),
    ("workbench driver", the_driver),
    ("VS Code in Chromium, clicked through", the_workbench),
    ("Neovim", neovim.run),
)


def play(part: str, run: Callable[[], None]) -> Result:
    """Run one part; nothing it raises gets away."""
    print(f"== {part}", flush=True)
    start = time.monotonic()

    def result(state: str, words: str = "") -> Result:
        return Result(part, state, time.monotonic() - start, words)

    try:
        run()
    except NotHere as missing:
        return result("NOT RUN", f"needs {missing}")
    except Exception as problem:
        return result("FAILED", f"{type(problem).__name__}: {problem}")
    return result("passed")


def main() -> int:
    """All parts; the exit code is 0 when none failed."""
    results = [play(part, run) for part, run in PARTS]
    print()
    for result in results:
        print(f"{result.state:8} {result.seconds:6.1f} s  {result.part}  {result.words}")
    required = os.environ.get("SIDELIGHT_REQUIRE") == "all"
    bad = {"FAILED", "NOT RUN"} if required else {"FAILED"}
    failed = sum(result.state in bad for result in results)
    passed = sum(result.state == "passed" for result in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
