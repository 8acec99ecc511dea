"""`sidelight trust`: let a folder's own hooks, environment and allow rules count."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sidelight.settings.paths import state_folder
from sidelight.settings.trusted import trust, trusted_folders


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
    print(f"trusted: {trust(state_home, folder)}")
    return 0
