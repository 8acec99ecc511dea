"""Writing permission rules into a settings file without touching anything else in it."""

import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from filelock import FileLock, Timeout

from sidelight.core.content import Json
from sidelight.core.decision import Behavior
from sidelight.core.errors import SettingsError
from sidelight.settings.load import parse
from sidelight.settings.paths import state_folder
from sidelight.settings.schema import Problem

LOCK_WAIT = 10
"""Seconds to wait for another window that writes the same file."""


def add_rules(
    path: str, behavior: Behavior, rules: Sequence[str], *, follow_links: bool = False
) -> None:
    """Add rules to one list of the file; those that stand there already stay once.

    Raises SettingsError and leaves the file alone when it cannot be read as settings. Blocking;
    waits for other writers. Only the user's own file may be reached through links.
    """
    _change(path, behavior, lambda old: list(dict.fromkeys([*old, *rules])), follow_links)


def remove_rules(
    path: str, behavior: Behavior, rules: Sequence[str], *, follow_links: bool = False
) -> None:
    """Take rules out of one list of the file; those that are not there are passed over.

    As `add_rules` otherwise.
    """
    _change(path, behavior, lambda old: [rule for rule in old if rule not in rules], follow_links)


def _change(
    path: str, behavior: Behavior, change: Callable[[list[Any]], list[Any]], follow_links: bool
) -> None:
    target = _target(Path(path), follow_links)
    try:
        with FileLock(_lock_for(target), timeout=LOCK_WAIT):
            text = target.read_text("utf-8-sig") if target.exists() else ""
            data = _parsed(text, path)
            rules = _rules(data, behavior, path)
            changed = change(list(rules))
            if changed != rules:
                rules[:] = changed
                _write(target, _printed(data, text))
    except Timeout as error:
        raise SettingsError("another window has held the file for too long", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot be written: {error}", path) from error


def _target(path: Path, follow_links: bool) -> Path:
    """The file to write; a folder's links could lead our rules into somebody else's file."""
    real = path.resolve()
    expected = path.parent.parent.resolve() / path.parent.name / path.name
    if not follow_links and real != expected:
        raise SettingsError("this is a link; rules are not written through it", str(path))
    return real


def _parsed(text: str, path: str) -> Json:
    problems: list[Problem] = []
    data = parse(text, path, problems) if text.strip() else {}
    if data is None:
        raise SettingsError(problems[-1].message, path, problems[-1].line)
    if problems:
        raise SettingsError(f"{problems[0].message}; mend that first", path)
    return data


def _rules(data: Json, behavior: Behavior, path: str) -> list[Any]:
    permissions = data.setdefault("permissions", {})
    if not isinstance(permissions, dict):
        raise SettingsError("permissions must be an object", path)
    rules = cast("Json", permissions).setdefault(behavior, [])
    if not isinstance(rules, list):
        raise SettingsError(f"permissions.{behavior} must be a list", path)
    return cast("list[Any]", rules)


def _printed(data: Json, before: str) -> str:
    """The object as text, indented as the file was."""
    found = re.search(r'\n([ \t]+)"', before)
    return json.dumps(data, indent=found[1] if found else 2, ensure_ascii=False) + "\n"


def _write(target: Path, text: str) -> None:
    """Replace the file in one step; a reader sees the old text or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".settings-", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _lock_for(target: Path) -> Path:
    """One lock a file, outside the project, so that no lock file shows up in it."""
    folder = state_folder(os.environ) / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{hashlib.sha256(str(target).encode()).hexdigest()[:16]}.lock"
