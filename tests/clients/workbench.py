"""The VS Code workbench as a part of the tests: where it is installed, and how it is run."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.clients.extension import ROOT

FOLDER = ROOT / "tests" / "clients" / "vscode"
NOT_HERE = 3


class NotHere(Exception):
    """The machine lacks a program; the text names it."""


@dataclass(frozen=True)
class Places:
    """Where the installed parts lie."""

    node: Path


def installed() -> Places:
    """Install the workbench if need be; raises NotHere or CalledProcessError."""
    script = [sys.executable, str(FOLDER / "install.py")]
    done = subprocess.run(script, check=False)
    if done.returncode == NOT_HERE:
        raise NotHere("a VS Code server, its Node and Chromium")
    done.check_returncode()
    where = subprocess.run([*script, "--where"], check=True, capture_output=True, encoding="utf-8")
    return Places(Path(json.loads(where.stdout)["node"]))
