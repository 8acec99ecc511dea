"""`sidelight trust`: let a folder's own hooks, environment and allow rules count, as they are now."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sidelight.settings.approved import approve
from sidelight.settings.load import load
from sidelight.settings.paths import state_folder
from sidelight.settings.schema import FOLDER_SOURCES
from sidelight.settings.trusted import trust, trusted_folders
from sidelight.wire.visible import visible


def main(arguments: Sequence[str]) -> int:
    """Trust the folder (default: the present one), or list the trusted ones with `--list`."""
    state_home = state_folder(os.environ)
    if list(arguments) == ["--list"]:
        print("\n".join(trusted_folders(state_home)))
        return 0
    folder = arguments[0] if arguments else "."
    if len(arguments) > 1 or not Path(folder).is_dir():
        print(f"sidelight trust: {folder} is not a folder", file=sys.stderr)
        return 2
    real = trust(state_home, folder)
    home = os.environ.get("HOME") or str(Path.home())
    hooks = load(real, home).hooks_of(FOLDER_SOURCES)
    approve(state_home, real, hooks)
    print(f"trusted: {real}")
    for hook in hooks:
        print(f"  runs at {hook.event}: {visible(hook.handler.command or hook.handler.type)}")
    return 0
