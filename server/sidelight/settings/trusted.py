"""Which folders the user trusts, kept with our own state, never in the folder itself."""

import json
import os
from pathlib import Path
from typing import cast

from filelock import FileLock

FILE = "trusted.json"


def trusted_folders(state_home: Path) -> tuple[str, ...]:
    """Real paths of the trusted folders; () when nothing was stored or it cannot be read."""
    try:
        stored: object = json.loads((state_home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    if not isinstance(stored, list):
        return ()
    return tuple(str(folder) for folder in cast("list[object]", stored))


def trust(state_home: Path, folder: str) -> str:
    """Trust a folder and those below it; the real path that was stored. Raises OSError."""
    real = os.path.realpath(folder)
    state_home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(state_home / f"{FILE}.lock"):
        known = trusted_folders(state_home)
        if real not in known:
            fresh = state_home / f"{FILE}.new"
            fresh.write_text(json.dumps([*known, real], indent=2), encoding="utf-8")
            fresh.replace(state_home / FILE)
    return real
