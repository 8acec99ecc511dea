"""The facts of a session's surroundings that the model is told once."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sidelight.core.ids import new_id
from sidelight.core.messages import Attachment
from sidelight.git.state import GitState
from sidelight.resources.prompts import PromptLibrary


@dataclass(frozen=True, slots=True)
class Environment:
    """Fixed for a session; `place` is as in "inside the user's editor"."""

    cwd: str
    directories: Sequence[str]
    model: str
    scratch: str
    place: str

    def variables(self) -> Mapping[str, str]:
        """The values of the environment module."""
        return {
            "cwd": self.cwd,
            "directories": ", ".join(self.directories) or "none",
            "platform": f"{platform.system()} {platform.release()}",
            "shell": os.environ.get("SHELL", "sh"),
            "model": self.model,
            "scratch": self.scratch,
            "place": self.place,
        }


def opening_reminder(prompts: PromptLibrary, today: date, git: GitState | None) -> Attachment:
    """What goes ahead of the first prompt: the date and the state of the repository."""
    facts = "This folder is not in a git repository." if git is None else describe(git)
    text = prompts.module("reminders/opening.md", {"date": today.isoformat(), "git": facts})
    return Attachment(id=new_id(), kind="opening", text=text)


def describe(git: GitState) -> str:
    """A repository's state in a few lines."""
    lines = [f"The git branch is {git.branch}."]
    if git.changed:
        lines.append("Changed files, as git status shows them:\n" + "\n".join(git.changed))
    if git.more_changed:
        lines.append(f"({git.more_changed} more)")
    if git.commits:
        lines.append("Last commits:\n" + "\n".join(git.commits))
    return "\n".join(lines)
