"""Opens the sample project in a real VS Code workbench in the browser: `make demo-editor`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.clients.extension import ROOT, Failed, package
from tests.clients.workbench import FOLDER, NotHere, installed

RESOURCES = ROOT / "server" / "sidelight" / "resources"
SOURCES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")


def prepare(folder: Path) -> tuple[Path, Path]:
    """A fresh sample project under git, and the editor's settings for it."""
    project = folder / "till"
    shutil.copytree(RESOURCES / "sample", project)
    author = ("-c", "user.name=Sidelight", "-c", "user.email=sidelight@example.invalid")
    for step in (["init", "-q"], ["add", "-A"], [*author, "commit", "-q", "-m", "A little till"]):
        subprocess.run(["git", *step], cwd=project, check=True)
    environment = {name: os.environ[name] for name in SOURCES if name in os.environ}
    if not environment:
        replies = folder / "replies.json"
        text = (RESOURCES / "demonstration.json").read_text(encoding="utf-8")
        replies.write_text(text.replace("{cwd}", str(project)), encoding="utf-8")
        environment["SIDELIGHT_DEMONSTRATION"] = str(replies)
        print("No model is set up: the agent's words were written beforehand, the tools are real.")
    settings = folder / "settings.json"
    # An absolute path of the environment's own Python; its link must not be followed.
    python = str(Path(sys.prefix) / "bin" / "python")
    chosen = {"sidelight.python": python, "sidelight.environment": environment}
    settings.write_text(json.dumps(chosen), encoding="utf-8")
    return project, settings


def main() -> int:
    """Runs until Ctrl-C; further arguments go to `open.mjs` (such as `--screenshot FILE`)."""
    try:
        node = installed().node
        vsix = package()
    except (NotHere, Failed) as problem:
        print(f"NOT RUN: needs {problem}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="sidelight-editor-") as folder:
        project, settings = prepare(Path(folder))
        print("Ask in the Sidelight panel: The tests of this project fail. Mend the code.")
        opener = [str(node), str(FOLDER / "open.mjs"), "--vsix", str(vsix)]
        place = ["--workspace", str(project), "--settings", str(settings)]
        try:
            return subprocess.run([*opener, *place, *sys.argv[1:]], check=False).returncode
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
