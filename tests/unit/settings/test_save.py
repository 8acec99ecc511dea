"""Rules are written into a file without touching anything else in it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sidelight.core.errors import SettingsError
from sidelight.settings.save import add_rules, remove_rules


def test_a_rule_is_added_and_everything_else_stays_as_it_was(tmp_path: Path):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    before = (
        '{\n\t"zebra": [1, {"a": null}],\n\t"permissions": {\n\t\t"ask": ["X"],\n\t\t"allow": '
        '["A"],\n\t\t"read": 1\n\t},\n\t"größe": "ü"\n}\n'
    )
    path.write_text(before, encoding="utf-8")
    add_rules(str(path), "allow", ["B", "A"])
    after = path.read_text(encoding="utf-8")
    expected = json.loads(before)
    expected["permissions"]["allow"] = ["A", "B"]
    assert after == json.dumps(expected, indent="\t", ensure_ascii=False) + "\n"
    remove_rules(str(path), "allow", ["B", "not there"])
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(before)


def test_a_missing_file_is_made_and_only_its_owner_may_read_it(tmp_path: Path):
    path = tmp_path / ".claude" / "settings.local.json"
    add_rules(str(path), "deny", ["Bash(rm:*)"])
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {"permissions": {"deny": ["Bash(rm:*)"]}}
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["settings.local.json"]  # noqa: PTH208


def test_the_files_mode_is_kept(tmp_path: Path):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o640)
    add_rules(str(path), "allow", ["A"])
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n "a": 1,\n}', ":3: this is not JSON"),
        ("[]", ":1: the file must hold one JSON object"),
        ('{"permissions": []}', ": permissions must be an object"),
        ('{"permissions": {"allow": "A"}}', r": permissions\.allow must be a list"),
        ('{"a": 1, "a": 2}', ': "a" stands twice'),
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(tmp_path: Path, text: str, message: str):
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=str(path) + message):
        add_rules(str(path), "allow", ["A"])
    assert path.read_text(encoding="utf-8") == text


def test_rules_of_a_folder_are_not_written_through_a_link(tmp_path: Path):
    target = tmp_path / "user.json"
    target.write_text("{}", encoding="utf-8")
    folder = tmp_path / "app" / ".claude"
    folder.mkdir(parents=True)
    (folder / "settings.local.json").symlink_to(target)
    with pytest.raises(SettingsError, match="this is a link"):
        add_rules(str(folder / "settings.local.json"), "allow", ["A"])
    assert target.read_text(encoding="utf-8") == "{}"


def test_the_users_own_file_may_be_a_link_and_stays_one(tmp_path: Path):
    target = tmp_path / "dotfiles.json"
    target.write_text("{}", encoding="utf-8")
    link = tmp_path / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(target)
    add_rules(str(link), "allow", ["A"], follow_links=True)
    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8")) == {"permissions": {"allow": ["A"]}}


def test_many_writers_at_once_lose_no_rule(tmp_path: Path):
    path = tmp_path / ".claude" / "settings.local.json"

    def add(number: int) -> None:
        add_rules(str(path), "allow", [f"Bash(cmd-{number})"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    rules = json.loads(path.read_text(encoding="utf-8"))["permissions"]["allow"]
    assert sorted(rules) == sorted(f"Bash(cmd-{number})" for number in range(40))
