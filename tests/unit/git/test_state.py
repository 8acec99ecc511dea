"""Our look at a repository runs nothing that the repository names."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from sidelight.git.state import git_state, staged_diff

ATTRIBUTES = "*.txt filter=x diff=x\n"
HOSTILE: dict[str, tuple[str, ...]] = {
    "a clean filter": ("filter.x.clean",),
    "a filter process that is required": ("filter.x.process", "filter.x.required=true"),
    "a filter with an odd name": ("filter.a=b.c.clean",),
    "a monitor": ("core.fsmonitor",),
    "text conversion and a diff driver": ("diff.x.textconv", "diff.x.command", "diff.external"),
    "signatures": ("gpg.program", "log.showSignature=true"),
    "a pager and an alias": ("core.pager", "pager.log", "alias.log", "pager.status=true"),
    "a fetch over ssh": ("core.sshCommand", "remote.origin.url=ssh://host/x"),
    "a fetch from a folder": ("remote.origin.uploadpack", "remote.origin.url=."),
    "a fetch by a helper": ("remote.origin.url=ext::{program}", "protocol.ext.allow=always"),
}


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    return subprocess.run(
        [*command, *words], check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout.strip()


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def hostile(folder: Path, settings: Sequence[str], program: str) -> None:
    """Each setting without a value names the program; a blob is missing where it is fetched."""
    for setting in settings:
        key, given, value = setting.partition("=") if "=b" not in setting else (setting, "", "")
        git(folder, "config", key, value.format(program=program) if given else program)
    attributes = ATTRIBUTES.replace("=x d", "=a=b.c d") if "a=b" in settings[0] else ATTRIBUTES
    (folder / ".gitattributes").write_text(attributes, encoding="utf-8")
    if any("remote." in setting for setting in settings):
        git(folder, "config", "core.repositoryformatversion", "1")
        git(folder, "config", "extensions.partialClone", "origin")
        git(folder, "config", "remote.origin.promisor", "true")
        tree = git(folder, "rev-parse", "HEAD^{tree}")
        (folder / ".git/objects" / tree[:2] / tree[2:]).unlink()


@pytest.mark.parametrize("kind", HOSTILE)
def test_nothing_that_a_repository_names_is_run(kind: str, tmp_path: Path) -> None:
    folder, marker = repository(tmp_path / "r"), tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    hostile(folder, HOSTILE[kind], str(program))
    (folder / "a.txt").write_text("b\n", encoding="utf-8")
    os.utime(folder / "a.txt", (1, 1))
    git_state(str(folder))
    staged_diff(str(folder))
    assert not marker.exists()


def test_the_filters_would_run_otherwise(tmp_path: Path) -> None:
    folder, marker = repository(tmp_path / "r"), tmp_path / "ran"
    git(folder, "config", "filter.x.clean", f"touch {marker}; cat")
    (folder / ".gitattributes").write_text(ATTRIBUTES, encoding="utf-8")
    (folder / "a.txt").write_text("b\n", encoding="utf-8")
    os.utime(folder / "a.txt", (1, 1))
    git(folder, "status")
    assert marker.exists()


def test_a_repository_is_told_in_short(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r")
    (folder / "b.txt").write_text("b\n", encoding="utf-8")
    git(folder, "add", "b.txt")
    (folder / "a.txt").write_text("more\n", encoding="utf-8")
    state = git_state(str(folder))
    assert state is not None
    assert (state.branch, state.changed, state.more_changed) == (
        "main",
        (" M a.txt", "A  b.txt"),
        0,
    )
    assert [line.partition(" ")[2] for line in state.commits] == ["one"]
    assert "+b" in (staged_diff(str(folder)) or "")
    assert git_state(str(tmp_path)) is None
