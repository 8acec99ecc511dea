"""Where the shipped texts lie: inside the installed package, or beside the source tree."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource_folder(name: str) -> Path:
    """The folder `prompts`, `skills` or `demo`; raises FileNotFoundError in a broken install."""
    for base in (_PACKAGE / "_data", _PACKAGE.parent.parent):
        if (base / name).is_dir():
            return base / name
    raise FileNotFoundError(f"Sidelight's own folder {name!r} is missing; install it again.")
