"""Which tools a session has: the built-in ones and those of other sources, in a fixed order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sidelight.core.tool import AnyTool

SIMPLE = frozenset({"Bash", "Edit", "Read"})
"""All that simple mode offers."""


class ToolSource(Protocol):
    """Where more tools come from, such as a server of tools."""

    @property
    def label(self) -> str:
        """How people call it."""
        ...

    def tools(self) -> Sequence[AnyTool]:
        """The tools that it has at the moment, in any order."""
        ...


@dataclass(frozen=True, slots=True)
class Pool:
    """The tools in the order in which the model is told of them, and sentences on those left out.

    Built-in tools come first, each part is sorted by name: the same tools make the same bytes.
    """

    tools: tuple[AnyTool, ...]
    notices: tuple[str, ...] = ()


def gather(
    built_in: Iterable[AnyTool],
    sources: Sequence[ToolSource] = (),
    *,
    simple: bool = False,
) -> Pool:
    """Put the pool together. A name that is taken stays with the built-in tool, else with the
    source whose label comes first.

    Simple mode has no sources. What a rule denies outright is in the pool, so that a call of it
    hears of the rule; but the model is not told of it.
    """
    own = {tool.name: tool for tool in built_in if not simple or tool.name in SIMPLE}
    taken = dict.fromkeys(own, "a built-in tool")
    more: dict[str, AnyTool] = {}
    notices: list[str] = []
    for source in sorted(() if simple else sources, key=lambda each: each.label):
        for tool in sorted(source.tools(), key=lambda each: each.name):
            if tool.name in taken:
                notices.append(
                    f"The tool {tool.name} of {source.label} is left out: {taken[tool.name]} has "
                    "this name already."
                )
                continue
            taken[tool.name] = source.label
            more[tool.name] = tool
    parts = [[part[name] for name in sorted(part)] for part in (own, more)]
    return Pool((*parts[0], *parts[1]), tuple(notices))
