"""Branch, changed files and last commits of a repository, bounded in size and time."""

from dataclasses import dataclass

CHANGED_SHOWN = 40
COMMITS_SHOWN = 5
SECONDS = 2
# A repository's own configuration must not make our probe run programs of its choice.
SAFE = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "diff.external=",
    "-c", "core.pager=cat",
)  # fmt: skip


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
    status = _run(folder, "status", "--porcelain=v1", "--branch", "--untracked-files=normal")
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
    return _run(folder, "diff", "--cached", "--stat=72", "--patch", *options)


def _commits(folder: str) -> tuple[str, ...]:
    log = _run(folder, "log", f"-{COMMITS_SHOWN}", "--format=%h %s", "--no-show-signature")
    return tuple((log or "").splitlines())


def _run(folder: str, *arguments: str) -> str | None:
    """What git printed; None when it failed or is not there."""
    import git  # 35 ms, and folders that are not trusted are never asked about

    command = git.Git(folder)
    command.update_environment(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0")
    try:
        return str(command.execute(["git", *SAFE, *arguments], kill_after_timeout=SECONDS))
    except (git.GitCommandError, git.GitCommandNotFound, OSError):
        return None
