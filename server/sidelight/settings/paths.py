"""Where settings files lie."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_dir

from sidelight.core.decision import Scope

MANAGED = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
}
MANAGED_ELSEWHERE = "/etc/claude-code/managed-settings.json"


@dataclass(frozen=True, slots=True)
class SettingsPaths:
    """The files of one start folder, there or not; tuples stand in order of strength."""

    managed: tuple[str, ...]
    local: tuple[str, ...]
    project: str
    user: str

    def of_scope(self, scope: Scope) -> str:
        """The file that keeps what is decided for `local`, `project` or `user`."""
        if scope == "session":
            raise ValueError("a session keeps nothing in a file")
        return {"local": self.local[0], "project": self.project, "user": self.user}[scope]


def settings_paths(
    cwd: str, home: str, environ: Mapping[str, str], managed: str | None = None
) -> SettingsPaths:
    """All paths for a start folder; `managed` stands in for the platform's managed file."""
    start = Path(cwd)
    beside_git = local_root(start, Path(home)) / ".claude" / "settings.local.json"
    beside_start = start / ".claude" / "settings.local.json"
    return SettingsPaths(
        managed=_with_drop_ins(Path(managed or MANAGED.get(sys.platform, MANAGED_ELSEWHERE))),
        local=tuple(dict.fromkeys((str(beside_git), str(beside_start)))),
        project=str(start / ".claude" / "settings.json"),
        user=str(config_folder(home, environ) / "settings.json"),
    )


def config_folder(home: str, environ: Mapping[str, str]) -> Path:
    """The user's own configuration folder; `CLAUDE_CONFIG_DIR` moves it."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or Path(home) / ".claude")


def state_folder(environ: Mapping[str, str]) -> Path:
    """Where the product keeps what it writes by itself; `SIDELIGHT_HOME` moves it.

    Raises ValueError for a relative path: it would lie in whatever folder is worked on.
    """
    given = environ.get("SIDELIGHT_HOME", "")
    folder = Path(given or user_data_dir("sidelight", appauthor=False)).expanduser()
    if not folder.is_absolute():
        name, value = ("SIDELIGHT_HOME", given) if given else ("HOME", environ.get("HOME", ""))
        raise ValueError(f"{name} is {value!r}; it must be an absolute path")
    return folder


def local_root(start: Path, home: Path) -> Path:
    """The folder of the local file: the main checkout's root, or `start` where that is unsafe.

    Unsafe are the home folder and anything that belongs to somebody else; Windows always uses
    the start folder.
    """
    found = _checkout(start)
    if found is None or sys.platform == "win32":
        return start
    root = _main_checkout(found) or start
    parts = (root, root / ".git", root / ".claude")
    if root == home or not all(_is_ours(part) for part in parts):
        return start
    return root


def _with_drop_ins(base: Path) -> tuple[str, ...]:
    """The managed file and its drop-ins; a later drop-in is stronger than an earlier one."""
    try:
        found = sorted(
            entry
            for entry in (base.parent / "managed-settings.d").iterdir()
            if entry.suffix == ".json" and not entry.name.startswith(".")
        )
    except OSError:
        found = []
    return (*(str(path) for path in reversed(found)), str(base))


def _checkout(start: Path) -> Path | None:
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), None)


def _main_checkout(root: Path) -> Path | None:
    """The main checkout of a worktree; None if the worktree's claim is not confirmed there.

    A `.git` file may name any repository; only one whose own records name it back counts.
    """
    mark = root / ".git"
    if mark.is_dir():
        return root
    try:
        text = mark.read_text("utf-8").removeprefix("gitdir:").strip()
        records = (root / text).resolve()
        if records.parent.name != "worktrees":
            return root
        named_back = Path((records / "gitdir").read_text("utf-8").strip())
        if named_back.resolve() != mark.resolve():
            return None
    except (OSError, UnicodeDecodeError):
        return None
    common = records.parent.parent
    return common.parent if common.name == ".git" else None


def _is_ours(path: Path) -> bool:
    """Whether the path is absent or belongs to the user of this process."""
    try:
        return path.lstat().st_uid == os.getuid()
    except FileNotFoundError:
        return True
    except OSError:
        return False
