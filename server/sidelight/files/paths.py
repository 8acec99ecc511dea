"""One name for each file: from what a model writes to an absolute path and a real one."""

import errno
import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from sidelight.core.errors import ToolError

EXTENDED = re.compile(r"^(?:\\\\[?.]\\|\\\?\?\\)(UNC\\)?", re.IGNORECASE)


def locate(path: str, cwd: str, roots: Sequence[str]) -> str:
    """The absolute path that is meant, in the spelling that the editor knows.

    `~` is the home folder. A relative path starts at `cwd`, else at the one workspace folder
    that has it (also when it begins with that folder's name). Symbolic links are kept, Unicode
    forms of a name that exists are evened out. Raises ToolError if several folders have it.
    """
    if not path or "\0" in path:
        raise ToolError("The path is empty or holds a NUL character.", "invalid_input")
    named = _named(plain_windows(path) if os.name == "nt" else path)
    if not named.is_absolute():
        named = _in_workspace(named, Path(cwd), [Path(root) for root in roots])
    if ".." in named.parts:
        # `link/..` is the parent of what the link leads to: only the disk can tell.
        return real(str(named))
    return str(_as_on_disk(named))


def _named(path: str) -> Path:
    """The path with `~` filled in; raises ToolError for one that no file can have."""
    try:
        named = Path(path).expanduser() if path.startswith("~") else Path(path)
    except RuntimeError:
        user = path.partition("/")[0]
        raise ToolError(f"There is no home folder {user}.", "invalid_input") from None
    try:
        os.lstat(named)
    except UnicodeEncodeError:
        raise ToolError("The path holds half of a surrogate pair.", "invalid_input") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            start = f"{path[:80]}… ({len(path):,} characters)"
            raise ToolError(f"The path {start} is too long for a file.", "invalid_input") from None
    return named


def real(path: str) -> str:
    """The key of a file: absolute, links resolved, one spelling; the file need not exist."""
    return os.path.realpath(plain_windows(path) if os.name == "nt" else path)


def exists(path: Path) -> bool:
    """Whether there is a file or folder, as far as it may be seen; raises nothing."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises where a folder is closed


def plain_windows(path: str) -> str:
    r"""A Windows path without `\\?\` and the like, with backslashes and a capital drive."""
    path = path.replace("/", "\\")
    path = EXTENDED.sub(lambda match: "\\\\" if match[1] else "", path)
    return path[0].upper() + path[1:] if re.match(r"[a-z]:", path) else path


def _in_workspace(path: Path, cwd: Path, roots: list[Path]) -> Path:
    if os.path.lexists(cwd / path):
        return cwd / path
    inside = [root / path for root in roots]
    by_name = [root.joinpath(*path.parts[1:]) for root in roots if path.parts[:1] == (root.name,)]
    found = list(dict.fromkeys(place for place in (*by_name, *inside) if exists(place)))
    if len(found) > 1:
        places = "\n".join(str(place) for place in found)
        raise ToolError(
            f"{path} exists in several workspace folders; give one as absolute path:\n{places}",
            "invalid_input",
        )
    # A file that is still to be made goes where its first folder's name points, else to cwd.
    new = [place for place in by_name if not exists(cwd / path.parts[0])]
    return (found or new or [cwd / path])[0]


def _as_on_disk(path: Path) -> Path:
    """The path with its last parts spelled as on disk where only the Unicode form differs."""
    if str(path).isascii() or exists(path):
        return path
    folder = _as_on_disk(path.parent)
    wanted = unicodedata.normalize("NFC", path.name)
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return path
    same = [name for name in names if unicodedata.normalize("NFC", name) == wanted]
    return folder / (same[0] if same else path.name)
