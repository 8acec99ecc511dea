"""Collects the accesses of a command text; turns words into paths for every possible folder."""

import re
from dataclasses import dataclass, field

from sidelight.core.access import UNKNOWN, Access, Depth
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.state import State

STREAMS = frozenset({"-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
DESCRIPTOR = re.compile(r"/dev/fd/\d+")
RUN_TIME = "which path it means is only known when it runs"


@dataclass(slots=True)
class Report:
    """What was found so far; `start` is the folder in which the call begins."""

    start: str
    found: list[Access] = field(default_factory=list[Access])

    def path(self, access: Access, word: Word, state: State) -> None:
        """Add a read or write of the path that `word` names; `access` says all but the target."""
        if word.text in STREAMS or DESCRIPTOR.fullmatch(word.text) or not word.text:
            return
        if not (word.known or word.matched) or word.loose:
            guard = access.guard or (word.fed and access.kind == "read")
            update = {"target": word.text, "unsure": RUN_TIME, "guard": guard}
            self.found.append(access.model_copy(update=update))
            return
        if not _rooted(word) and not state.folders:
            reason = "the folder in which it runs is only known when it runs"
            self.found.append(access.model_copy(update={"target": word.text, "unsure": reason}))
            return
        for target in self._targets(word, state):
            pattern = bool(word.pattern)
            self.found.append(access.model_copy(update={"target": target, "pattern": pattern}))

    def _targets(self, word: Word, state: State) -> tuple[str, ...]:
        text = word.pattern or word.text
        if _rooted(word):
            targets = [text]
        elif word.pattern:
            targets = [f"{escaped(folder)}/{text}" for folder in state.folders]
        else:
            targets = [f"{folder}/{text}" for folder in state.folders]
        for target in targets:
            for old in _through(target, state.aliases):
                if old not in targets and len(targets) < 20:
                    targets.append(old)
        return tuple(dict.fromkeys(targets))

    def absolute(self, word: Word, state: State) -> tuple[str, ...]:
        """The paths that a word may name; none when that cannot be told."""
        if not word.known or word.loose or word.pattern:
            return ()
        if _rooted(word):
            return (word.text,)
        return tuple(f"{folder}/{word.text}" for folder in state.folders)

    def hidden(self, command: str, reason: str = "what it runs does not show in its words") -> None:
        """Add a program that nobody sees, for deny and ask rules."""
        self.found.append(
            Access(
                kind="execute",
                target=command,
                command=command,
                words=(UNKNOWN,),
                mutates=True,
                unsure=reason,
                guard=True,
            )
        )

    def read(
        self,
        word: Word,
        state: State,
        command: str,
        depth: Depth = "",
        only: tuple[str, ...] = (),
    ) -> None:
        """Add a read; `only` are patterns of the file names that it looks into."""
        access = Access(kind="read", target=UNKNOWN, command=command, depth=depth, only=only)
        self.path(access, word, state)

    def write(
        self,
        word: Word,
        state: State,
        command: str,
        *,
        implied: bool = False,
        depth: Depth = "",
    ) -> None:
        """Add a write; `implied` when it is what the command is for."""
        access = Access(
            kind="write",
            target=UNKNOWN,
            mutates=True,
            command=command,
            implied=implied,
            depth=depth,
        )
        self.path(access, word, state)


def escaped(path: str) -> str:
    """A path as a glob that matches only itself."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _rooted(word: Word) -> bool:
    return word.home or word.text.startswith("/")


def _through(path: str, aliases: tuple[tuple[str, str], ...]) -> list[str]:
    """Where a path leads by links and copies that the same text made."""
    return [
        old + path[len(new) :] for new, old in aliases if path == new or path.startswith(new + "/")
    ]
