"""Which files gitignore rules and glob patterns leave in, as ripgrep decides it."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pathspec import GitIgnoreSpec

from sidelight.tools.search.kinds import KINDS
from sidelight.tools.search.query import VERSION_CONTROL, Scope, failure

# In order of weight: all files of one name are asked, deepest folder first, before the next name.
IGNORE_FILES = (".rgignore", ".ignore", ".gitignore", ".git/info/exclude")
GIT_ONLY = IGNORE_FILES[2:]
OPEN_GROUP = "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"
BRACES = re.compile(r"\{([^{}]*)\}")


class Globs:
    """Patterns as of `--glob`: the last that matches decides, a plain one makes it a choice.

    Raises ToolError for a pattern that is not closed.
    """

    def __init__(self, globs: Iterable[str]) -> None:
        lines = [line for glob in globs for line in expand_braces(_closed(glob))]
        self._choosing = any(not line.startswith("!") for line in lines)
        self._spec = GitIgnoreSpec.from_lines(lines)

    def wants(self, path: str, *, folder: bool) -> bool | None:
        """True: take it, ignored or not. False: leave it. None: ignore files decide."""
        verdict = self._spec.check_file(path + "/" if folder else path).include
        if verdict is not None:
            return verdict
        return False if self._choosing and not folder else None


def _closed(glob: str) -> str:
    """The glob itself if its brackets and braces are closed."""
    bare = re.sub(r"\\.|\[[!^]?\]?[^\]]*\]", "", glob)
    for sign, what in (("[", "unclosed character class; missing ']'"), ("{", OPEN_GROUP)):
        if bare.count(sign) > bare.count({"[": "]", "{": "}"}[sign]):
            raise failure(f"error parsing glob '{glob}': {what}")
    return glob


def kind_globs(kind: str) -> list[str]:
    """The names of a file type's files; raises ToolError for a type that ripgrep has not."""
    if kind not in KINDS:
        raise failure(f"unrecognized file type: {kind}")
    return KINDS[kind].split()


def selects(scope: Scope, path: str) -> bool:
    """Whether a walk through the scope would come to a file of this path, if it is there."""
    root = Path(scope.root)
    if Path(path) == root:
        return True
    if not Path(path).is_relative_to(root) or root.is_file():
        return False
    globs, common = Globs(scope.globs), user_rules() if scope.respect_ignore else None
    kinds = Globs(kind_globs(scope.kind)) if scope.kind else None
    folder = Folder.at(root)
    *above, _ = parts = Path(path).relative_to(root).parts
    for depth, name in enumerate(parts):
        is_folder = depth < len(above)
        relative = "/".join(parts[: depth + 1])
        if not folder.shows(name, relative, globs, scope, common, folder=is_folder):
            return False
        folder = folder.inside(folder.path / name)
    return kinds is None or bool(kinds.wants("/".join(parts), folder=False))


def expand_braces(glob: str) -> list[str]:
    """The patterns that `{a,b}` in a pattern stands for."""
    match = BRACES.search(glob)
    if match is None:
        return [glob]
    parts = match[1].split(",")
    return [
        line
        for part in parts
        for line in expand_braces(glob[: match.start()] + part + glob[match.end() :])
    ]


@dataclass
class Folder:
    """A folder on the way down from the file system's root, with its rules read once.

    `top` is the folder in which the search begins.
    """

    path: Path
    parent: "Folder | None"
    top: Path
    versioned: bool

    @cached_property
    def ends_git_rules(self) -> bool:
        """Whether git's rules from above end here: at a repository's root, in a repository."""
        return self.versioned and (self.path / ".git").exists()

    @cached_property
    def rules(self) -> dict[str, GitIgnoreSpec]:
        """The rules by file name; unreadable files count as empty, as in git."""
        found = ((name, _spec(self.path / name)) for name in IGNORE_FILES)
        return {name: spec for name, spec in found if spec is not None}

    @staticmethod
    def at(path: Path) -> "Folder":
        """The folder with all its parents."""
        above: Folder | None = None
        versioned = in_repository(path)
        for folder in (*reversed(path.parents), path):
            above = Folder(folder, above, path, versioned)
        assert above is not None, "the loop has at least the path itself"
        return above

    def inside(self, path: Path) -> "Folder":
        """A folder in this one."""
        return Folder(path, self, self.top, self.versioned)

    def shows(
        self,
        name: str,
        relative: str,
        globs: Globs,
        scope: Scope,
        common: GitIgnoreSpec | None,
        *,
        folder: bool,
    ) -> bool:
        """Whether a search goes on to the entry `name`, which is `relative` to its beginning."""
        if name in VERSION_CONTROL:
            return False
        wanted = globs.wants(relative, folder=folder)
        if wanted is None and scope.respect_ignore:
            return not self.ignores(name, folder=folder, common=common)
        return wanted is not False

    def ignores(self, name: str, *, folder: bool, common: GitIgnoreSpec | None) -> bool:
        """Whether the entry `name` of this folder is left out; `common` are the user's rules."""
        full = self.path / name
        for kind in IGNORE_FILES:
            verdict = self._verdict(kind, full, folder)
            if verdict is not None:
                return verdict
        relative = str(full).lstrip("/") + ("/" if folder else "")
        return bool(common and common.check_file(relative).include)

    def _verdict(self, kind: str, full: Path, folder: bool) -> bool | None:
        above: Folder | None = self
        while above is not None:
            spec = above.rules.get(kind)
            if spec is not None:
                verdict = above._own_verdict(spec, full, folder)
                if verdict is not None:
                    return verdict
            if kind in GIT_ONLY and above.ends_git_rules:
                return None
            above = above.parent
        return None

    def _own_verdict(self, spec: GitIgnoreSpec, full: Path, folder: bool) -> bool | None:
        """The verdict on an entry, not on the folder in which the search was told to begin.

        A pattern that ignores a folder ignores what is in it; who names such a folder wants it.
        """
        result = spec.check_file(full.relative_to(self.path).as_posix() + ("/" if folder else ""))
        if result.include and self.top != self.path and self.top.is_relative_to(self.path):
            above = spec.check_file(self.top.relative_to(self.path).as_posix() + "/")
            if above.index == result.index:
                return None
        return result.include


def user_rules() -> GitIgnoreSpec | None:
    """The user's own git ignore file at its default place; `core.excludesFile` is not asked."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return _spec(Path(base) / "git" / "ignore")


def in_repository(path: Path) -> bool:
    """Whether a folder lies in a git repository."""
    return any((folder / ".git").exists() for folder in (path, *path.parents))


def _spec(path: Path) -> GitIgnoreSpec | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return GitIgnoreSpec.from_lines(lines)
