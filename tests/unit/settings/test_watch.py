"""Settings follow their files."""

import json
import os
from functools import partial
from pathlib import Path

from sidelight.settings.load import LoadedSettings, load
from sidelight.settings.paths import settings_paths
from sidelight.settings.watch import LiveSettings


def live(cwd: Path, home: Path) -> LiveSettings:
    def read(previous: LoadedSettings | None) -> LoadedSettings:
        return load(str(cwd), str(home), managed="/nowhere", environ={}, previous=previous)

    return LiveSettings(read, partial(settings_paths, str(cwd), str(home), {}, "/nowhere"))


def test_a_change_counts_at_once_and_no_change_gives_the_same_object(tmp_path: Path):
    file = tmp_path / ".claude" / "settings.json"
    settings = live(tmp_path, tmp_path / "home")
    first = settings.current()
    assert settings.current() is first
    file.parent.mkdir()
    file.write_text(json.dumps({"permissions": {"deny": ["A"]}}), encoding="utf-8")
    second = settings.current()
    assert second.settings.permissions.deny == ("A",)
    os.utime(file, (1, 1))
    assert settings.current() is second
    file.unlink()
    assert settings.current().settings.permissions.deny == ()


def test_a_half_typed_file_does_not_loosen_what_it_said(tmp_path: Path):
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"permissions": {"deny": ["A"]}}), encoding="utf-8")
    settings = live(tmp_path, tmp_path / "home")
    settings.current()
    file.write_text("{", encoding="utf-8")
    now = settings.current()
    assert now.settings.permissions.deny == ("A",)
    assert len(now.problems) == 1
