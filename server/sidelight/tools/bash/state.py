"""What is known about the shell between two commands: folders, variables, functions, links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sidelight.tools.bash.parse import Node

MOST_FOLDERS = 4


@dataclass(frozen=True, slots=True)
class Value:
    """A variable's value: its text where it is known, else whether it can only be a number.

    `pattern` is a glob of which it holds one match.
    """

    text: str | None = None
    numeric: bool = False
    pattern: str = ""

    def merged(self, other: "Value") -> "Value":
        """What holds for a variable that has one of two values."""
        return self if self == other else Value(None, self.numeric and other.numeric)


UNSET = Value()


@dataclass(frozen=True, slots=True)
class State:
    """One possible situation of the shell; `folders` are the working folders it may stand in.

    No folder means: not known. `aliases` are pairs of a path made by this text and the path that
    it leads to. `functions` maps names to bodies, None where several are possible.
    """

    folders: tuple[str, ...]
    variables: Mapping[str, Value] = field(default_factory=dict[str, Value])
    functions: Mapping[str, Node | None] = field(default_factory=dict[str, "Node | None"])
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def folder(self) -> str | None:
        """The working folder, if there is just one possibility."""
        return self.folders[0] if len(self.folders) == 1 else None

    def with_folders(self, folders: Iterable[str]) -> "State":
        """Standing in one of these folders; too many count as not known."""
        distinct = tuple(dict.fromkeys(folders))
        return replace(self, folders=distinct if len(distinct) <= MOST_FOLDERS else ())

    def with_variable(self, name: str, value: Value) -> "State":
        """After an assignment."""
        return replace(self, variables={**self.variables, name: value})

    def with_function(self, name: str, body: Node) -> "State":
        """After a function's definition."""
        return replace(self, functions={**self.functions, name: body})

    def with_alias(self, new: str, old: str) -> "State":
        """After `new` was made from `old` by a link, a copy or a move."""
        if (new, old) in self.aliases:
            return self
        return replace(self, aliases=(*self.aliases, (new, old)))

    def forgotten(self) -> "State":
        """Nothing known but what has been linked and which names are functions."""
        return State((), {}, dict.fromkeys(self.functions), self.aliases)

    def joined(self, other: "State") -> "State":
        """What holds in either of two situations."""
        if self == other:
            return self
        folders = (*self.folders, *other.folders) if self.folders and other.folders else ()
        names = dict.fromkeys((*self.variables, *other.variables))
        variables = {
            name: self.variables.get(name, UNSET).merged(other.variables.get(name, UNSET))
            for name in names
        }
        functions = {
            name: self.functions.get(name) if _same(self, other, name) else None
            for name in dict.fromkeys((*self.functions, *other.functions))
        }
        aliases = tuple(dict.fromkeys((*self.aliases, *other.aliases)))
        merged = State((), variables, functions, aliases)
        return merged.with_folders(folders)


def _same(one: State, other: State, name: str) -> bool:
    return one.functions.get(name) is other.functions.get(name)
