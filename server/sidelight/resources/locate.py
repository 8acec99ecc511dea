"""Where what ships with the program lies: in the package, or beside the source tree."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(name: str) -> Path:
    """The folder `prompts`, `skills` or `sample`, or the file `demonstration.json`.

    Raises FileNotFoundError in a broken install.
    """
    for base in (_PACKAGE / "resources", _PACKAGE / "_data", _PACKAGE.parent.parent):
        if (base / name).exists():
            return base / name
    raise FileNotFoundError(f"Sidelight's own {name!r} is missing; install it again.")
