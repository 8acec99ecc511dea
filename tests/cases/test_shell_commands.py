"""A thousand command texts with their decisions, and what the allowed ones really do."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sidelight.permissions.pipeline import decide
from tests.cases.evaluate import policy_of, question_of

LINES = Path(__file__).with_name("shell_commands.jsonl")
ENDLESS = ("tail -f",)


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").split("\n") if line]


def decided(line: dict[str, Any]) -> str:
    settings = {"mode": line.get("mode", "default")}
    settings |= {name: line.get(name, []) for name in ("allow", "ask", "deny")}
    case = {"cwd": "/home/dev/app", "settings": settings, "files": line.get("files", {})}
    question = question_of("Bash", {"command": line["command"]}, case)
    return decide(question, policy_of(case)).behavior


@pytest.mark.req("PERM-05")
def test_every_command_text_is_decided_as_written_down() -> None:
    wrong = [(line, got) for line in lines() if (got := decided(line)) != line["expect"]]
    assert wrong == []


def harmless() -> list[str]:
    """Commands that need no rule in the mode that allows nothing."""
    bare = [line for line in lines() if line.keys() <= {"command", "expect", "files"}]
    return [line["command"] for line in bare if line["expect"] == "allow"]


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("README.md", "src/a.py", "src/b.py", "docs/x.md", "docs/open/a.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("b\na\n", encoding="utf-8")
    (folder / "package.json").write_text('{"a": [{"b": 1}]}', encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    subprocess.run([*git, "status"], check=True, capture_output=True)
    return folder


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_is_allowed_without_a_rule_changes_no_file(project: Path, home: Path) -> None:
    before, at_home = tree(project), tree(home)
    for command in harmless():
        if command.startswith(ENDLESS):
            continue
        subprocess.run(
            ["bash", "-c", command],
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        assert tree(project) == before, command
    assert tree(home) == at_home
    assert len(harmless()) > 150
