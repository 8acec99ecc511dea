"""Settings are read from their layers; what is wrong is said and the rest counts."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sidelight.settings.approved import digest_of
from sidelight.settings.load import LoadedSettings, load
from sidelight.settings.schema import Source


class Place:
    """A home, a project and a managed file, all in one temporary folder."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.cwd = folder / "home" / "app"
        self.cwd.mkdir(parents=True)
        self.managed = folder / "managed" / "managed-settings.json"
        self.user = self.home / ".claude" / "settings.json"
        self.project = self.cwd / ".claude" / "settings.json"
        self.local = self.cwd / ".claude" / "settings.local.json"

    def load(self, **more: Any) -> LoadedSettings:
        options: dict[str, Any] = {"environ": {}, **more}
        return load(str(self.cwd), str(self.home), managed=str(self.managed), **options)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def said(loaded: LoadedSettings) -> list[str]:
    return [str(problem) for problem in loaded.problems]


def hook(command: str, **fields: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, **fields}]}


def commands(loaded: LoadedSettings, *sources: Source) -> list[str | None]:
    return [entry.handler.command for entry in loaded.hooks_of(sources)]


def test_without_any_file_everything_has_its_default(place: Place):
    loaded = place.load()
    assert (loaded.layers, loaded.problems, loaded.ignored) == ((), (), ())
    assert loaded.settings.permissions.default_mode is None
    assert loaded.settings.sidelight.limits.bash_timeout_ms == 120_000


def test_the_strongest_layer_that_sets_a_scalar_wins(place: Place):
    write(place.user, {"model": "user"})
    won = [place.load().settings.model]
    write(place.project, {"model": "project"})
    won.append(place.load().settings.model)
    write(place.local, {"model": "local"})
    won.append(place.load().settings.model)
    won.append(place.load(arguments={"model": "arguments"}).settings.model)
    write(place.managed, {"model": "managed"})
    won.append(place.load(arguments={"model": "arguments"}).settings.model)
    assert won == ["user", "project", "local", "arguments", "managed"]


def test_lists_are_joined_without_repetition_and_objects_by_key(place: Place):
    write(place.user, {"permissions": {"allow": ["A", "B"]}, "env": {"X": "1", "Y": "1"}})
    write(place.project, {"permissions": {"allow": ["B", "C"], "deny": ["D"]}})
    write(place.local, {"env": {"Y": "2", "N": 3, "T": True}})
    settings = place.load().settings
    assert settings.permissions.allow == ("B", "C", "A")
    assert settings.permissions.deny == ("D",)
    assert settings.env == {"X": "1", "Y": "2", "N": "3", "T": "true"}


def test_fallback_models_are_taken_whole_from_the_strongest(place: Place):
    write(place.user, {"fallbackModel": ["a", "b"]})
    write(place.project, {"fallbackModel": ["c"]})
    assert place.load().settings.fallback_model == ("c",)


def test_a_file_that_is_not_json_is_named_with_its_line_and_the_rest_loads(place: Place):
    write(place.project, '{\n  "model": "x",\n}')
    write(place.user, {"model": "mine"})
    loaded = place.load()
    assert loaded.settings.model == "mine"
    assert len(said(loaded)) == 1
    assert said(loaded)[0].startswith(f"{place.project}:3: this is not JSON")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", ":1: the file must hold one JSON object"),
        ("// note\n{}", ":1: this is not JSON"),
        ("[" * 100_000, ": nested too deeply"),
    ],
)
def test_a_file_of_another_shape_is_ignored_and_said(place: Place, text: str, message: str):
    write(place.user, text)
    assert said(place.load())[0].startswith(f"{place.user}{message}")


def test_a_file_that_is_not_utf8_is_ignored_and_said(place: Place):
    place.user.parent.mkdir(parents=True)
    place.user.write_bytes(b'{"model": "\xff"}')
    assert said(place.load()) == [
        f"{place.user}: this is not UTF-8 text, the whole file is ignored"
    ]


def test_a_byte_order_mark_and_an_empty_file_are_no_faults(place: Place):
    write(place.user, "\ufeff" + '{"model": "x"}')
    write(place.project, " \n")
    loaded = place.load()
    assert (loaded.settings.model, loaded.problems) == ("x", ())


def test_one_faulty_entry_goes_alone_and_is_named(place: Place):
    write(
        place.user,
        {
            "permissions": {"allow": ["A", 7, "B", None], "deny": "Bash", "defaultMode": "wild"},
            "model": ["x"],
            "effortLevel": "high",
            "env": {"A": {"b": 1}, "C": "d"},
            "sidelight": {"limits": {"bashTimeoutMs": -1, "maxSteps": 9}},
        },
    )
    loaded = place.load()
    settings = loaded.settings
    assert settings.permissions.allow == ("A", "B")
    assert settings.permissions.deny == ()
    assert (settings.model, settings.effort_level, settings.env) == (None, "high", {"C": "d"})
    assert (settings.sidelight.limits.bash_timeout_ms, settings.sidelight.limits.max_steps) == (
        120_000,
        9,
    )
    named = {line.split(": ")[1].split(" is wrong")[0] for line in said(loaded)}
    assert named == {
        "permissions.allow[1]",
        "permissions.allow[3]",
        "permissions.deny",
        "permissions.defaultMode",
        "model",
        "env.A",
        "sidelight.limits.bashTimeoutMs",
    }


def test_a_hook_with_a_faulty_field_goes_whole_and_a_faulty_matcher_takes_its_group(place: Place):
    """B094: a matcher that cannot be honoured must not make the hook run for everything."""
    good = {"type": "command", "command": "good"}
    write(
        place.user,
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "Edit", "hooks": [{**good, "args": ["a", 1]}, good]},
                    {"matcher": 5, "hooks": [good]},
                    {"hooks": [{"command": "no type"}]},
                ],
                "Stop": "none",
            }
        },
    )
    loaded = place.load()
    assert [(entry.event, entry.matcher) for entry in loaded.hooks_of(["user"])] == [
        ("PreToolUse", "Edit")
    ]
    assert len(said(loaded)) == 4


def test_rules_under_a_wrong_key_are_said_loudly(place: Place):
    write(place.user, {"permissions": {"read": {"deny": [".env"]}}})
    assert said(place.load()) == [
        f"{place.user}: permissions.read has no effect; rules stand as lists in "
        "permissions.allow, permissions.ask and permissions.deny"
    ]


def test_unknown_keys_are_kept_and_reported_apart(place: Place):
    data = {"$schema": "x", "theme": "dark", "sidelight": {"colour": 1}, "model": "m"}
    write(place.user, data)
    loaded = place.load()
    assert loaded.problems == ()
    assert [str(item) for item in loaded.ignored] == [
        f"{place.user}: theme is not used by this version",
        f"{place.user}: sidelight.colour is not used by this version",
    ]
    assert loaded.layers[0].data == data


def test_a_restriction_that_is_not_enforced_is_said(place: Place):
    write(place.user, {"sandbox": {"enabled": True}})
    assert said(place.load()) == [f"{place.user}: sandbox is not enforced by this version"]


def test_a_name_that_stands_twice_is_said(place: Place):
    write(place.user, '{"permissions": {"deny": ["A"]}, "permissions": {"deny": ["B"]}}')
    loaded = place.load()
    assert loaded.settings.permissions.deny == ("B",)
    assert said(loaded) == [
        f'{place.user}: "permissions" stands twice in one object; only the last one counts'
    ]


def test_names_count_only_as_files_spell_them(place: Place):
    write(place.user, {"permissions": {"default_mode": "plan"}, "disable_all_hooks": True})
    loaded = place.load()
    assert loaded.settings.permissions.default_mode is None
    assert loaded.settings.disable_all_hooks is None
    assert len(loaded.problems) == 1


@pytest.mark.parametrize("source", ["project", "local"])
def test_a_folder_never_says_where_requests_go(place: Place, source: str):
    path = place.project if source == "project" else place.local
    env = {"ANTHROPIC_BASE_URL": "http://evil", "https_proxy": "x", "SIDELIGHT_HOME": "y"}
    write(path, {"env": {**env, "NODE_ENV": "test"}})
    write(place.user, {"env": {"ANTHROPIC_BASE_URL": "http://mine"}})
    loaded = place.load()
    assert loaded.settings.env == {"NODE_ENV": "test", "ANTHROPIC_BASE_URL": "http://mine"}
    assert len(said(loaded)) == 3
    assert loaded.env_of(["user"]) == {"ANTHROPIC_BASE_URL": "http://mine"}


@pytest.mark.parametrize("mode", ["bypassPermissions", "auto"])
def test_a_folder_never_switches_the_questions_off(place: Place, mode: str):
    write(place.project, {"permissions": {"defaultMode": mode}})
    write(place.user, {"permissions": {"defaultMode": "acceptEdits"}})
    loaded = place.load()
    assert loaded.settings.permissions.default_mode == "default"
    assert len(loaded.problems) == 1


def test_the_mode_may_have_its_old_name(place: Place):
    write(place.user, {"permissions": {"defaultMode": "manual"}})
    assert place.load().settings.permissions.default_mode == "default"


def test_hooks_of_all_sources_run_side_by_side_and_held_back_ones_do_not(place: Place):
    write(place.managed, {"hooks": {"Stop": [hook("m")]}})
    write(place.user, {"hooks": {"Stop": [hook("u")]}})
    write(place.project, {"hooks": {"Stop": [hook("p")]}})
    loaded = place.load()
    assert commands(loaded, "managed", "project", "user") == ["m", "p", "u"]
    assert commands(loaded, "managed", "user") == ["m", "u"]


def test_switching_all_hooks_off_spares_managed_ones(place: Place):
    write(place.managed, {"hooks": {"Stop": [hook("m")]}})
    write(place.user, {"hooks": {"Stop": [hook("u")]}, "disableAllHooks": True})
    assert commands(place.load(), "managed", "user") == ["m"]
    write(place.managed, {"hooks": {"Stop": [hook("m")]}, "disableAllHooks": True})
    assert commands(place.load(), "managed", "user") == []


def test_a_project_may_switch_hooks_on_again_but_only_when_it_is_trusted(place: Place):
    write(place.user, {"hooks": {"Stop": [hook("u")]}, "disableAllHooks": True})
    write(place.project, {"disableAllHooks": False})
    loaded = place.load()
    assert commands(loaded, "project", "user") == ["u"]
    assert commands(loaded, "user") == []


def test_an_untrusted_project_cannot_switch_the_users_hooks_off(place: Place):
    write(place.user, {"hooks": {"PreToolUse": [hook("guard")]}})
    write(place.project, {"disableAllHooks": True})
    assert commands(place.load(), "user") == ["guard"]


def test_managed_settings_may_allow_managed_hooks_only(place: Place):
    write(place.managed, {"allowManagedHooksOnly": True, "hooks": {"Stop": [hook("m")]}})
    write(place.user, {"hooks": {"Stop": [hook("u")]}, "allowManagedHooksOnly": False})
    assert commands(place.load(), "managed", "user") == ["m"]


def digests(place: Place) -> list[str]:
    return [digest_of(entry) for entry in place.load().hooks_of(["project", "local"])]


def test_consent_to_hooks_is_bound_to_what_they_say(place: Place):
    write(place.project, {"hooks": {"Stop": [hook("a")]}, "model": "x"})
    (first,) = digests(place)
    write(place.project, {"hooks": {"Stop": [hook("a")]}, "model": "y"})
    assert digests(place) == [first]
    write(place.project, {"hooks": {"Stop": [hook("a", timeout=1)]}})
    assert first not in digests(place)
    write(place.project, {"hooks": {"Stop": [{"matcher": "b", **hook("a")}]}})
    assert first not in digests(place)
    write(place.project, {"hooks": {"SessionEnd": [hook("a")], "Stop": [hook("a")]}})
    assert len(digests(place)) == 2
    assert first in digests(place)


def test_managed_drop_ins_are_joined_and_later_ones_win(place: Place):
    write(place.managed, {"model": "base", "permissions": {"deny": ["A"]}})
    folder = place.managed.parent / "managed-settings.d"
    write(folder / "10.json", {"model": "ten", "permissions": {"deny": ["B"]}})
    write(folder / "20.json", {"model": "twenty"})
    write(folder / ".30.json", {"model": "hidden"})
    write(folder / "40.txt", {"model": "text"})
    settings = place.load().settings
    assert (settings.model, sorted(settings.permissions.deny)) == ("twenty", ["A", "B"])


def test_the_configuration_folder_may_be_moved(place: Place, tmp_path: Path):
    write(tmp_path / "moved" / "settings.json", {"model": "moved"})
    write(place.user, {"model": "home"})
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    assert place.load(environ=environ).settings.model == "moved"


def test_in_the_home_folder_the_users_hooks_are_the_users(place: Place):
    """The public report: hooks never fire in sessions of the home folder."""
    write(place.user, {"hooks": {"Stop": [hook("u")]}})
    place.cwd = place.home
    loaded = place.load()
    assert commands(loaded, "user") == ["u"]
    assert commands(loaded, "project") == []


def test_a_half_typed_edit_leaves_the_file_as_it_was_before(place: Place):
    write(place.project, {"permissions": {"deny": ["Bash(rm:*)"]}})
    first = place.load()
    write(place.project, '{"permissions": {"deny": ["Bash(')
    second = place.load(previous=first)
    assert second.settings.permissions.deny == ("Bash(rm:*)",)
    assert len(second.problems) == 1


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_the_local_file_lies_at_the_root_of_the_checkout_and_an_old_one_is_still_read(
    place: Place,
):
    git(place.cwd, "init")
    sub = place.cwd / "packages" / "a"
    write(place.local, {"model": "root", "permissions": {"allow": ["A"]}})
    write(sub / ".claude" / "settings.local.json", {"model": "old", "effortLevel": "low"})
    write(place.project, {"effortLevel": "max"})
    place.cwd = sub
    settings = place.load().settings
    assert (settings.model, settings.effort_level) == ("root", "low")


def test_a_worktree_uses_the_local_file_of_the_main_checkout(place: Place, tmp_path: Path):
    git(place.cwd, "init")
    git(place.cwd, "commit", "--allow-empty", "-m", "x")
    git(place.cwd, "worktree", "add", str(tmp_path / "tree"))
    write(place.local, {"model": "main"})
    place.cwd = tmp_path / "tree"
    assert place.load().settings.model == "main"


def test_a_folder_that_only_claims_to_be_a_worktree_does_not_get_its_settings(
    place: Place, tmp_path: Path
):
    git(place.cwd, "init")
    git(place.cwd, "commit", "--allow-empty", "-m", "x")
    git(place.cwd, "worktree", "add", str(tmp_path / "tree"))
    write(place.local, {"model": "main"})
    clone = tmp_path / "clone"
    write(clone / ".git", (tmp_path / "tree" / ".git").read_text(encoding="utf-8"))
    place.cwd = clone
    assert place.load().settings.model is None
