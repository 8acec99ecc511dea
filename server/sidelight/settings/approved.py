"""Which hooks of a folder the user has let run, by what they say; kept with our own state."""

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from sidelight.core.content import as_list, as_object, is_object
from sidelight.settings.schema import HookEntry

FILE = "approved-hooks.json"
MOST = 1_000
"""Hooks that are remembered of one folder; the oldest go first."""


def digest_of(entry: HookEntry) -> str:
    """A hook's name by all that it says: event, matcher, and what runs how."""
    said = [entry.event, entry.matcher, entry.handler.model_dump(mode="json", by_alias=True)]
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def approved(state_home: Path, folder: str) -> frozenset[str] | None:
    """Digests of the hooks that may run in a folder; None where it was never looked at.

    A file that cannot be read approves nothing.
    """
    try:
        kept: object = json.loads((state_home / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return frozenset()
    if not is_object(kept):
        return frozenset()
    known = kept.get(os.path.realpath(folder))
    return None if known is None else frozenset(map(str, as_list(known)))


def approve(state_home: Path, folder: str, entries: Iterable[HookEntry]) -> None:
    """Let these hooks run in the folder from now on, beside those before. Raises OSError."""
    real = os.path.realpath(folder)
    state_home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(state_home / f"{FILE}.lock"):
        try:
            kept = as_object(json.loads((state_home / FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            kept = {}
        known = map(str, as_list(kept.get(real)))
        all_of_them = list(dict.fromkeys([*known, *map(digest_of, entries)]))
        fresh = state_home / f"{FILE}.new"
        fresh.write_text(json.dumps({**kept, real: all_of_them[-MOST:]}, indent=1), "utf-8")
        fresh.replace(state_home / FILE)
