"""Renames a name of a Python file: jedi says where the same thing is meant, code edits there."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from sidelight.actions.checks import (
    ActionError,
    parse,
    require_name,
    require_rename_only,
)
from sidelight.actions.docstrings import lines_of, offset

MOST_NAMES = 60


@dataclass(frozen=True, slots=True)
class Renaming:
    """A rename as it would be: the text after it, where, and lines that still say the old name."""

    old: str
    new: str
    after: str
    places: tuple[int, ...]
    left: tuple[int, ...]
    wide: bool
    """Whether other files may use the name too."""


class Names:
    """What a Python file defines. Blocks; raises ActionError when the file is no Python."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self._tree = parse(text)
        self._lines = lines_of(text)
        self._script = _script(text, path)
        found: list[Any] = self._script.get_names(all_scopes=True, definitions=True)
        imported = _imported(self._tree)
        self._definitions = [one for one in found if one.name not in imported]

    def candidates(self, words: str, start: int, end: int) -> tuple[str, ...]:
        """Names that a wish can be about: the one at the place, else those that the words name,
        else those that the selection defines, else all."""
        here = self._word_at(start, end)
        if here:
            return (here,)
        known = dict.fromkeys(one.name for one in self._definitions)
        said = tuple(name for name in known if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words))
        inside = [one.name for one in self._definitions if start <= self._at(one) < end]
        return (said or tuple(dict.fromkeys(inside)) or tuple(known))[:MOST_NAMES]

    def rename(self, old: str, new: str, start: int, end: int) -> Renaming:
        """The rename of one thing; the place decides where a name means several.

        Raises ActionError when it cannot be done without doubt.
        """
        require_name(self.text, old, new)
        first = self._chosen(old, start, end)
        places = self._places(first)
        if any(self.text[place : place + len(old)] != old for place in places):
            raise ActionError("{old} cannot be told apart from other names here.", old=old)
        after = self.text
        for place in reversed(places):
            after = after[:place] + new + after[place + len(old) :]
        require_rename_only(self.text, after, old, new)
        return Renaming(old, new, after, places, self._left(old, places), self._is_wide(first))

    def _word_at(self, start: int, end: int) -> str:
        """The name that is selected, or that the cursor is in; empty when it is no definition."""
        for match in re.finditer(r"\w+", self.text):
            if match.start() <= start and end <= match.end():
                known = any(one.name == match[0] for one in self._definitions)
                return match[0] if known else ""
        return ""

    def _chosen(self, old: str, start: int, end: int) -> Any:
        """The definition that is meant."""
        definitions = [one for one in self._definitions if one.name == old]
        if not definitions:
            raise ActionError("{old} is not defined in this file.", old=old)
        if self._word_at(start, end) == old:
            place = self._script_at(start)
            found: list[Any] = self._script.goto(*place)
            here = [one for one in found if one.name == old and one.line is not None]
            return here[0] if here else definitions[0]
        chosen = [one for one in definitions if start <= self._at(one) < end] or definitions
        same = set(self._places(chosen[0]))
        if any(self._at(one) not in same for one in chosen):
            raise ActionError("{old} means several things here; put the cursor on one.", old=old)
        return chosen[0]

    def _script_at(self, place: int) -> tuple[int, int]:
        line, column = 1, place
        for text in self._lines:
            if column < len(text):
                break
            line, column = line + 1, column - len(text)
        return line, column

    def _places(self, name: Any) -> tuple[int, ...]:
        found: list[Any] = self._script.get_references(name.line, name.column, scope="file")
        return tuple(sorted({self._at(one) for one in found if one.line is not None}))

    def _at(self, name: Any) -> int:
        return offset(self._lines, name.line, name.column)

    def _left(self, old: str, places: tuple[int, ...]) -> tuple[int, ...]:
        """Lines that say the old name elsewhere: another thing, a text or a comment."""
        found = re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", self.text)
        rest = [match.start() for match in found if match.start() not in places]
        return tuple(sorted({self._script_at(place)[0] for place in rest}))

    def _is_wide(self, name: Any) -> bool:
        """Whether the name can be seen from outside: all but what lives inside a function."""
        parent: Any = name.parent()
        attribute = self.text[: self._at(name)].endswith(".")
        return attribute or name.type == "param" or parent is None or parent.type != "function"


def _script(text: str, path: str) -> Any:
    import jedi  # 40 ms, and few sessions rename

    library: Any = jedi
    library.settings.cache_directory = str(user_cache_path("sidelight", appauthor=False) / "jedi")
    # Nothing of the folder runs or is read: no environment of its own, no path, this file alone.
    project = library.Project(Path(path).parent, sys_path=[], smart_sys_path=False)
    return library.Script(
        text, path=path, project=project, environment=library.InterpreterEnvironment()
    )


def _imported(tree: ast.Module) -> set[str]:
    """Names that other modules gave; a new one here would not be found there."""
    return {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if alias.asname is None
        for part in alias.name.split(".")
    }
