"""Branch, changed files and last commits of a repository, bounded in size and time."""

from collections.abc import Mapping
from dataclasses import dataclass

CHANGED_SHOWN = 40
COMMITS_SHOWN = 5
SECONDS = 2
# A repository's own configuration must not make our probe run programs of its choice: monitors,
# hooks, diff drivers, filters, and the transports of a fetch for objects that are missing.
SAFE = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "diff.external=",
    "-c", "core.pager=cat",
)  # fmt: skip
ALONE = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1",
}  # fmt: skip
NO_FILTER = {"clean": "", "smudge": "", "process": "", "required": "false"}


@dataclass(frozen=True, slots=True)
class GitState:
    """A repository as it is now; `more_changed` counts the changed files not listed."""

    branch: str
    changed: tuple[str, ...]
    more_changed: int
    commits: tuple[str, ...]


def git_state(folder: str) -> GitState | None:
    """The state of the repository that holds the folder; None without git or repository.

    Blocks: call it in a thread. Only for trusted folders.
    """
    options = ("--porcelain=v1", "--branch", "--untracked-files=normal")
    status = _run(folder, "status", *options, "--ignore-submodules=dirty")
    if status is None:
        return None
    first, *changed = status.splitlines() or ["## unknown"]
    branch = first.removeprefix("## ").removeprefix("No commits yet on ").split("...")[0]
    return GitState(
        branch,
        tuple(changed[:CHANGED_SHOWN]),
        max(0, len(changed) - CHANGED_SHOWN),
        _commits(folder),
    )


def staged_diff(folder: str) -> str | None:
    """What is staged, as a diff with a summary first; None without git or repository.

    Blocks: call it in a thread. No program that the repository names is run.
    """
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--unified=1")
    alone = "--ignore-submodules=dirty"
    return _run(folder, "diff", "--cached", "--stat=72", "--patch", *options, alone)


def _commits(folder: str) -> tuple[str, ...]:
    log = _run(folder, "log", f"-{COMMITS_SHOWN}", "--format=%h %s", "--no-show-signature")
    return tuple((log or "").splitlines())


def _run(folder: str, *arguments: str) -> str | None:
    """What git printed without running anything that the repository names; None if it failed."""
    filters = _git(folder, {}, "config", "-z", "--name-only", "--get-regexp", r"^filter\.")
    return _git(folder, _without_filters(filters or ""), *arguments)


def _without_filters(keys: str) -> dict[str, str]:
    """Settings, as git takes them from its environment, that empty each filter in these keys."""
    names = sorted({key.rpartition(".")[0] for key in keys.split("\0") if key})
    pairs = [(f"{name}.{key}", value) for name in names for key, value in NO_FILTER.items()]
    settings = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for index, (key, value) in enumerate(pairs):
        settings |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return settings


def _git(folder: str, settings: Mapping[str, str], *arguments: str) -> str | None:
    """What git printed; None when it failed or is not there."""
    import git  # 35 ms, and folders that are not trusted are never asked about

    command = git.Git(folder)
    command.update_environment(**ALONE, **settings)
    try:
        return str(command.execute(["git", *SAFE, *arguments], kill_after_timeout=SECONDS))
    except (git.GitCommandError, git.GitCommandNotFound, OSError):
        return None
