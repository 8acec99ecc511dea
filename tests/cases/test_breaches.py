"""Ways in that were found by attack, a table a kind, and what the commands really do."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidelight.core.decision import Mode
from sidelight.permissions.pipeline import decide
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.question import Question
from sidelight.permissions.rule import Source
from sidelight.tools.bash.effects import accesses
from tests.cases.evaluate import Standing
from tests.cases.test_shell_commands import tree

LINES = Path(__file__).with_name("breaches.jsonl")
FILES = {
    "ws/README.md": "b\na\n",
    "ws/src/a.py": "x = 1\n",
    "ws/src/b.py": "y = 2\n",
    "ws/.env": "TOKEN=S3CRET\n",
    "ws/flag": "-v",
    "ws/name": "a[$(touch ../PWNED)]",
    "ws/script.sed": "e touch ../PWNED\n",
    "ws/list": "../outside/secret\n",
    "ws/data.json": '{"a": 1}',
    "ws/deep/er/README.md": "deep\n",
    "outside/secret": "S3CRET\n",
    "outside/secret.json": '"S3CRET"\n',
    "home/secret.txt": "S3CRET\n",
}
REALLY_HARMFUL = {
    "sed": 15, "awk": 5, "options cut short": 4, "searches": 4, "bash": 8, "tilde and words": 3,
    "packers": 5, "git": 12,
}  # fmt: skip


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Makes the same small world anew each time it is called."""
    base = tmp_path_factory.mktemp("breaches")
    mould = base / "mould"
    for name, text in FILES.items():
        path = mould / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (mould / "ws/evil.sh").write_text("#!/bin/sh\ntouch ../PWNED\n", encoding="utf-8")
    (mould / "ws/evil.sh").chmod(0o755)
    (mould / "ws/link").symlink_to("deep/er")
    git = ["git", "-C", str(mould / "ws"), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    (mould / "ws/src/a.py").write_text("x = 3\n", encoding="utf-8")

    def anew() -> Path:
        shutil.rmtree(base / "b", ignore_errors=True)
        shutil.copytree(mould, base / "b", symlinks=True)
        return base / "b"

    return anew


def decided(line: dict[str, Any], base: Path) -> str:
    mode: Mode = line.get("mode", "default")
    home = f"{base}/home"
    source = Source("user", f"{home}/.claude/settings.json", root=f"{home}/.claude")
    rules = RuleSource(source, tuple(line.get("allow", ())), (), (), (), mode)
    policy = Policy.from_settings([rules], [f"{base}/ws"], home)
    touched = accesses(line["command"], Standing(f"{base}/ws"))
    return decide(Question("Bash", {"command": line["command"]}, touched), policy).behavior


def does_harm(command: str, base: Path) -> bool:
    """Run it; whether it changed a file beyond git's index, or showed the secret."""
    before = everything(base)
    environment = {"PATH": os.environ["PATH"], "HOME": f"{base}/home", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=base / "ws",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    return b"S3CRET" in done.stdout + done.stderr or everything(base) != before


def everything(base: Path) -> dict[str, str]:
    found = {str(path.relative_to(base)): "" for path in base.rglob("*")} | tree(base)
    found.pop("ws/.git/index", None)
    return found


@pytest.mark.req("PERM-05")
@pytest.mark.parametrize("kind", sorted({line["kind"] for line in lines()}))
def test_every_way_in_of_a_kind_is_shut_and_what_is_near_it_stays_open(
    kind: str, stage: Callable[[], Path]
) -> None:
    base = stage()
    wrong = [
        (line, got)
        for line in lines()
        if line["kind"] == kind and (got := decided(line, base)) != line["expect"]
    ]
    assert wrong == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_is_allowed_without_a_rule_does_no_harm(stage: Callable[[], Path]) -> None:
    free = [e for e in lines() if e["expect"] == "allow" and not {"allow", "mode"} & e.keys()]
    harmful = [line["command"] for line in free if does_harm(line["command"], stage())]
    assert harmful == []
    assert len(free) > 30


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("kind", sorted(REALLY_HARMFUL))
def test_the_ways_in_are_real(kind: str, stage: Callable[[], Path]) -> None:
    shut = [e["command"] for e in lines() if e["kind"] == kind and e["expect"] == "ask"]
    harmful = [command for command in shut if does_harm(command, stage())]
    assert len(harmful) >= REALLY_HARMFUL[kind], sorted(set(shut) - set(harmful))
