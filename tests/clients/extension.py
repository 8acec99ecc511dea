"""Builds, checks and packages the VS Code extension: `python -m tests.clients.extension`."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "client-vscode"
VSIX = CLIENT / "sidelight.vsix"
TRIES = 3


class Failed(Exception):
    """A step did not work; the text says which."""


def npm(*arguments: str) -> None:
    """Run npm in the extension's folder, its output going where ours goes."""
    done = subprocess.run(["npm", *arguments], cwd=CLIENT, check=False)
    if done.returncode:
        raise Failed(f"npm {' '.join(arguments)} ended with {done.returncode}")


def install() -> None:
    """Install what the lock file names, once for each state of it; tried three times."""
    lock = hashlib.sha256((CLIENT / "package-lock.json").read_bytes()).hexdigest()
    mark = CLIENT / "node_modules" / ".installed"
    if mark.exists() and mark.read_text(encoding="utf-8") == lock:
        return
    for attempt in range(1, TRIES + 1):
        try:
            npm("ci", "--ignore-scripts", "--no-audit", "--no-fund")
            break
        except Failed:
            if attempt == TRIES:
                raise
            print(f"npm ci failed, trying again ({attempt} of {TRIES - 1})")
    mark.write_text(lock, encoding="utf-8")


def wheel() -> None:
    """Put the server and its exact requirements beside the extension, for "Set Up Python"."""
    place = CLIENT / "wheel"
    shutil.rmtree(place, ignore_errors=True)
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(place)]
    done = subprocess.run(
        [*build, str(ROOT)], check=False, capture_output=True, encoding="utf-8", errors="replace"
    )
    if done.returncode:
        raise Failed(f"the wheel could not be built:\n{done.stdout}{done.stderr}")
    shutil.copy2(ROOT / "requirements.lock", place)


def package() -> Path:
    """Make the `.vsix`; gives its path. Raises Failed."""
    install()
    wheel()
    npm("run", "--silent", "package")
    if not VSIX.exists():
        raise Failed(f"npm run package left no {VSIX.name}")
    return VSIX


if __name__ == "__main__":
    try:
        print(package())
    except Failed as problem:
        sys.exit(str(problem))
