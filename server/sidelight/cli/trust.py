"""`sidelight trust`: let a folder's hooks, environment and allow rules count, as they are now."""

import argparse
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
    parser = argparse.ArgumentParser(prog="sidelight trust", description=__doc__)
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="print the trusted folders")
    options = parser.parse_args(list(arguments))
    try:
        state_home = state_folder(os.environ)
    except ValueError as error:
        print(f"sidelight trust: {error}", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(trusted_folders(state_home)))
        return 0
    if not Path(options.folder).is_dir():
        print(f"sidelight trust: {options.folder} is not a folder", file=sys.stderr)
        return 2
    real = trust(state_home, options.folder)
    home = os.environ.get("HOME") or str(Path.home())
    hooks = load(real, home).hooks_of(FOLDER_SOURCES)
    approve(state_home, real, hooks)
    print(f"trusted: {real}")
    for hook in hooks:
        print(f"  runs at {hook.event}: {visible(hook.handler.command or hook.handler.type)}")
    return 0
