"""The file that a call names: where it is, whether it can be read, and what was meant instead."""

import difflib
import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight.core.access import Access, Depth
from sidelight.core.errors import BinaryFileError, FileTooLargeError, HostError, ToolError
from sidelight.core.host import FileSnapshot, Host
from sidelight.core.tool import Shell
from sidelight.files.paths import exists, locate, real
from sidelight.tools.search.ignore import expand_braces

CONSIDERED_NAMES = 5000


@dataclass(frozen=True, slots=True)
class Target:
    """`path` in the spelling for people and the editor, `real` the key of the ledger."""

    path: str
    real: str


def target_of(path: str, shell: Shell) -> Target:
    """The file or folder that the model means; raises ToolError."""
    located = locate(path, shell.cwd, shell.roots)
    return Target(located, real(located))


def read_access(target: Target) -> tuple[Access, ...]:
    """Reading it: the real path, and the named one where a link leads there."""
    names = dict.fromkeys((target.real, target.path))
    return tuple(Access(kind="read", target=name) for name in names)


def search_access(target: Target, depth: Depth, globs: Sequence[str] = ()) -> tuple[Access, ...]:
    """Going through a folder; `globs` are the patterns that choose its files."""
    only = tuple(name for glob in globs for name in _file_names(glob))
    access = read_access(target)
    return tuple(each.model_copy(update={"depth": depth, "only": only}) for each in access)


def _file_names(glob: str) -> list[str]:
    """The patterns of file names that a glob chooses; none if it chooses by folder."""
    sign = "!" if glob.startswith("!") else ""
    names = [line.rsplit("/", 1)[-1] for line in expand_braces(glob)]
    return [] if "**" in names or "" in names else [sign + name.lstrip("!") for name in names]


def write_access(target: Target) -> tuple[Access, ...]:
    """Changing it: the real path, and the named one where a link leads there."""
    names = dict.fromkeys((target.real, target.path))
    return tuple(Access(kind="write", target=name, mutates=True) for name in names)


async def read_text(host: Host, target: Target, shell: Shell) -> FileSnapshot:
    """The file as the user sees it.

    Raises ToolError with advice; BinaryFileError and FileTooLargeError are left to the caller.
    """
    try:
        return await host.read_text(target.path)
    except FileNotFoundError:
        raise missing(target.path, shell) from None
    except IsADirectoryError:
        raise ToolError(
            f"{target.path} is a folder. Use Glob to list files in it, or name a file.",
            "invalid_input",
        ) from None
    except PermissionError as error:
        raise ToolError(f"{target.path} may not be read: {error.strerror}.", "permission") from None
    except (BinaryFileError, FileTooLargeError):
        raise
    except (HostError, OSError) as error:
        if isinstance(error, OSError) and error.errno == errno.ELOOP:
            words = f"{target.path} is a symbolic link that leads to itself."
            raise ToolError(words, "invalid_input") from None
        raise ToolError(f"{target.path} cannot be read: {error}") from error


def require_place(target: Target, shell: Shell, *, folder: bool) -> None:
    """Raise ToolError unless there is a folder, or also a file if that is as good."""
    place = Path(target.path)
    if os.path.isdir(place) or (os.path.isfile(place) and not folder):  # noqa: PTH112, PTH113
        return
    if not exists(place):
        raise missing(target.path, shell)
    wanted = "a folder" if folder else "a file or folder"
    raise ToolError(
        f"{target.path} is not {wanted}. Name the folder to search in.", "invalid_input"
    )


def missing(path: str, shell: Shell) -> ToolError:
    """The error for a path that does not exist, with the nearest ones that do."""
    names = nearest(Path(path), [Path(shell.cwd), *(Path(root) for root in shell.roots)])
    hint = f" Did you mean {' or '.join(names)}?" if names else ""
    return ToolError(
        f"{path} does not exist.{hint} The working folder is {shell.cwd}; "
        "Glob finds files by name.",
        "not_found",
    )


def nearest(path: Path, folders: list[Path]) -> list[str]:
    """Up to three existing paths that may have been meant instead of a missing one."""
    moved = [folder / Path(*path.parts[cut:]) for folder in folders for cut in _cuts(path)]
    found = [str(place) for place in dict.fromkeys(moved) if place != path and exists(place)]
    return (found or _like(path))[:3]


def _cuts(path: Path) -> range:
    """Where a path may be cut so that its end is tried under another folder."""
    return range(1, len(path.parts))


def _like(path: Path) -> list[str]:
    """Names like the first missing part, in the deepest folder that exists."""
    rest: list[str] = []
    while not os.path.isdir(path.parent) and path.parent != path:  # noqa: PTH112
        rest.insert(0, path.name)
        path = path.parent
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry, _ in zip(entries, range(CONSIDERED_NAMES), strict=False)]
    except OSError:
        return []
    close = difflib.get_close_matches(path.name.casefold(), [n.casefold() for n in names], 3, 0.6)
    stem = [n for n in names if Path(n).stem == path.stem or path.name in n]
    likely = [*(n for want in close for n in names if n.casefold() == want), *stem]
    whole = [path.parent.joinpath(name, *rest) for name in dict.fromkeys(likely)]
    return [str(place) for place in whole if exists(place)]
