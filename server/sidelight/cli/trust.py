"""`sidelight trust`: let a folder's own hooks, environment and allow rules count."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sidelight.settings.paths import state_folder
from sidelight.settings.trusted import trust, trusted_folders


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
    print(f"trusted: {trust(state_home, options.folder)}")
    return 0
