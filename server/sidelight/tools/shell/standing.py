"""Where the session's shell stands after a command."""

from collections.abc import Sequence
from pathlib import Path

from sidelight.core.tool import Shell


def settle(
    shell: Shell, begun_in: str, reported: str, keep_cwd: bool, notes: list[str]
) -> str | None:
    """Let `cd` carry over inside the workspace; gives back the folder if it is another.

    `begun_in` is where the command began, `reported` where it ended (empty if nobody knows).
    """
    before, now = shell.cwd, reported or begun_in
    if Path(now).resolve() == Path(begun_in).resolve():
        now = begun_in
    elif not keep_cwd or not _is_inside(now, shell.roots):
        now = shell.home
        notes.append(f"Shell cwd was reset to {now}")
    shell.cwd = now
    return now if now != before else None


def _is_inside(folder: str, roots: Sequence[str]) -> bool:
    real = Path(folder).resolve()
    return any(real.is_relative_to(Path(root).resolve()) for root in roots)
