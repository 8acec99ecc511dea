"""Drives a real, headless Neovim over the real server: `python -m tests.clients.neovim`."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.clients.extension import ROOT
from tests.clients.workbench import NotHere
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply, text, tool_use

SECONDS = 60
BEFORE = "one\ntwo\n"
AFTER = "ONE\ntwo\n"


def find() -> str:
    """Neovim's path; Debian's package is installed where root may. Raises NotHere."""
    found = shutil.which("nvim")
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "neovim"]
        subprocess.run(install, check=False, stdout=subprocess.DEVNULL)
        found = shutil.which("nvim")
    if found is None:
        raise NotHere("Neovim")
    return found


def run() -> None:
    """A code action asks the agent, which edits the open buffer; raises AssertionError."""
    nvim = find()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "workspace", "a.txt")
        path.parent.mkdir()
        path.write_text(BEFORE, encoding="utf-8")
        change = {"file_path": str(path), "old_string": "one", "new_string": "ONE"}
        script = [
            reply(tool_use("Read", {"file_path": str(path)})),
            reply(tool_use("Edit", change)),
            reply(text("It is in capitals now.")),
        ]
        with running_double(script) as double:
            env = {
                **os.environ,
                "HOME": folder,
                "SIDELIGHT_HOME": f"{folder}/state",
                "PYTHONPATH": str(ROOT / "server"),
                "ANTHROPIC_BASE_URL": double.base_url,
                "ANTHROPIC_API_KEY": double.api_key,
                "TEST_PYTHON": sys.executable,
                "TEST_FILE": str(path),
            }
            smoke = str(ROOT / "tests" / "clients" / "neovim.lua")
            command = [nvim, "--headless", "--clean", "-u", "NONE", "-S", smoke]
            done = subprocess.run(
                command,
                env=env,
                check=False,
                timeout=SECONDS,
                capture_output=True,
                encoding="utf-8",
            )
        assert done.returncode == 0, done.stderr + done.stdout
        assert path.read_text(encoding="utf-8") == AFTER


if __name__ == "__main__":
    run()
    print("Neovim: a code action edits the buffer, and the file is saved")
