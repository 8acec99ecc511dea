"""Reads prompt modules: Markdown files with a header, put in order by a manifest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

BOUNDARY = "--- cache boundary ---"
_LINK = re.compile(r"^- \[[^\]]+\]\(([^)]+)\)$")
_HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_VARIABLE = re.compile(r"\{([a-z_]+)\}")


class PromptError(Exception):
    """A prompt file is wrong; names file and fault. A fault of ours, not of the user."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The modules above and below the cache boundary, in order, as paths below the folder."""

    stable: tuple[str, ...]
    dynamic: tuple[str, ...]


class PromptLibrary:
    """The prompt files of one folder; each is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=None)(self._read_file)

    def manifest(self) -> Manifest:
        """The order of the system prompt; raises PromptError when the boundary is missing."""
        text = self._read("system.md")
        above, found, below = text.partition(BOUNDARY)
        if not found:
            raise PromptError(f"system.md has no line {BOUNDARY!r}")
        return Manifest(_links(above), _links(below))

    def module(self, name: str, variables: Mapping[str, str] | None = None) -> str:
        """A module's text without its header, variables filled in.

        Raises PromptError when the file is missing or a variable has no value.
        """
        text = _HEADER.sub("", self._read(name), count=1).strip()
        if variables is None:
            return text

        def value(match: re.Match[str]) -> str:
            if match[1] not in variables:
                raise PromptError(f"{name}: the variable {match[1]!r} has no value")
            return variables[match[1]]

        return _VARIABLE.sub(value, text)

    def tool(self, name: str) -> str:
        """The description of a tool, by the tool's name."""
        return self.module(f"tools/{name.lower()}.md")

    def _read_file(self, name: str) -> str:
        try:
            return (self._folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise PromptError(f"{name} cannot be read: {error}") from error


def _links(text: str) -> tuple[str, ...]:
    return tuple(match[1] for line in text.splitlines() if (match := _LINK.match(line)))
