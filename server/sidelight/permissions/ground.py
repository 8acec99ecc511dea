"""The ground a decision stands on: which paths are workspace, protected, secret or critical."""

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.permissions.paths import Disk, Place, resolve, within
from sidelight.permissions.patterns import WILD, shell_glob

MOST_MATCHES = 2_000
MOST_WALKED = 20_000
NOT_FILES = ("/proc", "/dev")
PROTECTED_FOLDERS = frozenset(
    {".git", ".vscode", ".idea", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn", ".claude",
     ".cursor", ".zed", ".codex", ".gemini", ".roo"}
)  # fmt: skip
PROTECTED_FILES = frozenset(
    {".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".bash_login", ".bash_aliases",
     ".bash_logout", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".profile", ".envrc",
     ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".npmrc", ".pnp.cjs", ".pnp.loader.mjs",
     ".pnpmfile.cjs", "bunfig.toml", ".bunfig.toml", ".bazelrc", ".bazelversion", ".bazeliskrc",
     ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml",
     "gradle-wrapper.properties", "maven-wrapper.properties", ".devcontainer.json", ".ripgreprc",
     "pyrightconfig.json", ".mcp.json", ".claude.json"}
)  # fmt: skip
PROTECTED_SHAPES = re.compile(r".*\.code-workspace|\.yarnrc.*")
OWN = re.compile(
    r"(?:.*/)?(?:\.claude/(?:settings[^/]*\.json|hooks(?:/.*)?)|\.claude\.json|\.mcp\.json)"
)
SECRET_FOLDERS = (".ssh", ".gnupg", ".aws")
SECRET_EXAMPLE = re.compile(r"\.env\.(?:example|sample|template|dist|defaults?)")
SECRET = re.compile(
    r"\.env(?:\..+)?|.*\.(?:pem|key|p12|pfx|jks|keystore|ppk)|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|\.netrc|_netrc|\.pgpass|\.pypirc|\.git-credentials|\.htpasswd|credentials(?:\.json)?"
    r"|secrets?\.(?:json|ya?ml|toml)|service-account.*\.json|kubeconfig"
)
SECRET_STARTS = frozenset(".i_cskICSK\u212a\u017f")
SECRET_ENDS = frozenset((".pem", ".key", ".p12", ".pfx", ".jks", "tore", ".ppk"))
"""How every name that SECRET knows begins or ends, in any case; for a quick look at many."""
BARE_REPOSITORY = ("HEAD", "objects", "refs")
REPOSITORY_PARTS = frozenset({*BARE_REPOSITORY, "config", "commondir", ".git"})


@dataclass(frozen=True, slots=True)
class Ground:
    """The workspace's folders on a disk. `roots[0]` is where relative patterns start."""

    roots: tuple[str, ...]
    real_roots: tuple[str, ...]
    cwd: str
    home: str
    disk: Disk

    @staticmethod
    def of(roots: tuple[str, ...], cwd: str, home: str, disk: Disk) -> "Ground":
        """The ground with the roots' links followed."""
        places = [resolve(root, disk, home, cwd) for root in roots]
        return Ground(
            tuple(place.path for place in places if not place.problem),
            tuple(place.final for place in places if not place.problem),
            cwd,
            home,
            disk,
        )

    def place(self, target: str) -> Place:
        """A target with its links followed."""
        return resolve(target, self.disk, self.home, self.cwd)

    def bases(self, folder: str) -> tuple[str, ...]:
        """A folder as it is called and as it really is."""
        place = self.place(folder)
        return tuple(dict.fromkeys((place.path, place.final)))

    def is_inside(self, place: Place) -> bool:
        """Whether both the path and its end are files of the workspace."""
        if place.problem or any(within(s, n) for s in place.steps for n in NOT_FILES):
            return False
        return self._below_root(place.final) and self._named_inside(place.path)

    def _below_root(self, path: str) -> bool:
        return any(within(path, root) for root in self.real_roots)

    def _named_inside(self, path: str) -> bool:
        """Below a root by name, or by another name of the root itself."""
        if self._below_root(path) or any(within(path, root) for root in self.roots):
            return True
        parts = path.split("/")
        prefixes = ("/".join(parts[:end]) or "/" for end in range(1, len(parts) + 1))
        return any(self.place(prefix).final in self.real_roots for prefix in prefixes)

    def is_protected(self, place: Place) -> bool:
        """Whether a write there could change what runs later, at any step of the links."""
        return any(self._protected_path(step) for step in place.steps)

    def _protected_path(self, path: str) -> bool:
        names = self._below(path).casefold().split("/")
        for index, name in enumerate(names):
            following = names[index + 1] if index + 1 < len(names) else ""
            if name == ".claude" and following == "worktrees":
                continue
            if name in PROTECTED_FOLDERS or (name == ".config" and following == "git"):
                return True
        return names[-1] in PROTECTED_FILES or bool(PROTECTED_SHAPES.fullmatch(names[-1]))

    def _below(self, path: str) -> str:
        """A path relative to the innermost root that holds it, else as it is."""
        holding = [r for r in (*self.roots, *self.real_roots) if within(path, r)]
        return path[len(max(holding, key=len)) :].lstrip("/") if holding else path

    def is_own(self, place: Place) -> bool:
        """Whether it is one of our own settings, hooks or server lists."""
        return any(OWN.fullmatch(step.casefold()) for step in place.steps)

    def is_secret(self, place: Place) -> bool:
        """Whether the name is that of a file with credentials."""
        return any(is_secret_name(step) for step in place.steps)

    def is_critical(self, place: Place) -> bool:
        """Whether removing it would take the system, the home or the workspace along."""
        if place.problem:
            return False
        homes = self.bases(self.home)
        kept = (*homes, *self.roots, *self.real_roots, *self.bases(self.cwd))
        return any(
            step.count("/") <= 1 or any(within(each, step) for each in kept) for step in place.steps
        )

    def expand(self, access: Access) -> tuple[tuple[Place, ...], bool]:
        """The places that an access means, and whether that is all: globs and copied folders."""
        if not access.pattern:
            places = [self.place(access.target)]
        else:
            matched = self._glob(access.target)
            if matched is None:
                return (), False
            places = [self.place(path) for path in matched]
        if not access.source:
            return tuple(places), True
        below: list[Place] = []
        source = self.place(access.source)
        for count, path in enumerate(self.walk(source.final, hidden=True)):
            if count > MOST_MATCHES:
                return tuple(places), False
            for place in places[:1]:
                below.append(self.place(place.path + path[len(source.final) :]))
        return (*places, *below), True

    def _glob(self, pattern: str) -> list[str] | None:
        """Paths that a shell glob matches, else the pattern as a plain name; None if too many."""
        if pattern.startswith("~"):
            pattern = self.place(pattern.partition("/")[0]).path + "/" + pattern.partition("/")[2]
        found = [""]
        for segment in pattern.split("/"):
            if not WILD.search(segment):
                found = [f"{path}/{segment}" if path or segment else path for path in found]
                continue
            found = [
                f"{path}/{name}"
                for path in found
                for name in (*self.disk.names(self.place(path or "/").final), "..")
                if shell_glob(segment).fullmatch(name)
            ]
            if len(found) > MOST_MATCHES:
                return None
        exact = [path for path in found if path]
        return exact or [re.sub(r"\[([*?\[])\]", r"\1", pattern)]

    def walk(self, folder: str, hidden: bool) -> Iterator[str]:
        """Everything below a real folder, links not followed; stops after MOST_WALKED names."""
        waiting = [folder]
        seen = 0
        while waiting:
            here = waiting.pop()
            for name in self.disk.names(here):
                if not hidden and name.startswith("."):
                    continue
                seen += 1
                if seen > MOST_WALKED:
                    return
                path = posixpath.join(here, name)
                yield path
                if self.disk.link(path) is None:
                    waiting.append(path)

    def nested_repository(self, folder: str) -> str:
        """A repository of its own between a folder and the workspace's root, or an empty text."""
        place = self.place(folder)
        here = place.final
        while self._below_root(here):
            names, is_root = self.disk.names(here), here in self.real_roots
            if ".git" in names:
                return "" if is_root else here
            if all(name in names for name in BARE_REPOSITORY):
                return here
            if is_root:
                break
            here = posixpath.dirname(here)
        return ""

    def planted_repository(self, folder: str, written: Iterable[tuple[Place, bool]]) -> str:
        """A folder above, or the folder itself, that may become a repository by these writes.

        Each is a place, and whether anything may come to be below it. git would find what did not
        exist when the question was asked.
        """
        here = self.place(folder).final
        changed = list(written)
        while self._below_root(here) and ".git" not in self.disk.names(here):
            for place, filled in changed:
                name = place.final[len(here) :].lstrip("/").partition("/")[0]
                inside = within(place.final, here) and name in REPOSITORY_PARTS
                if inside or (filled and within(here, place.final)):
                    return here
            here = posixpath.dirname(here)
        return ""


def secret_names(paths: Sequence[str]) -> list[str]:
    """Those of many paths whose names are those of files with credentials."""
    folded = "\0".join(paths).casefold()
    if any(f"{folder}/" in folded for folder in SECRET_FOLDERS):
        return [path for path in paths if is_secret_name(path)]
    likely: list[str] = []
    for path in paths:
        name = path[path.rfind("/") + 1 :]
        if name[:1] in SECRET_STARTS or name[-4:].casefold() in SECRET_ENDS:
            likely.append(path)
    return [path for path in likely if is_secret_name(path)]


def is_secret_name(path: str) -> bool:
    """Whether the name is that of a file with credentials."""
    folder, _, name = path.casefold().rpartition("/")
    special = folder.endswith(SECRET_FOLDERS) and folder.rpartition("/")[2] in SECRET_FOLDERS
    if special and not name.endswith(".pub"):
        return name not in {"known_hosts", "config"}
    return bool(SECRET.fullmatch(name)) and not SECRET_EXAMPLE.fullmatch(name)


def chosen(path: str, only: tuple[str, ...]) -> bool:
    """Whether a search that names what to include and (with !) to exclude looks into a file."""
    name = posixpath.basename(path)
    included = [each for each in only if not each.startswith("!")]
    excluded = [each[1:] for each in only if each.startswith("!")]
    if any(fnmatch.fnmatchcase(name, each) for each in excluded):
        return False
    return not included or any(fnmatch.fnmatchcase(name, each) for each in included)
