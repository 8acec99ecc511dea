"""Which tools a session has: the built-in ones and those of other sources, in a fixed order."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sidelight.core.model import ToolSpec
from sidelight.core.tokens import estimate
from sidelight.core.tool import AnyTool

SIMPLE = frozenset({"Bash", "Edit", "Read"})
"""All that simple mode offers."""
AUTO_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool of another source, and what the model is told of it.

    `hint` has words by which it is found, besides those of its name and description. One that is
    `always_loaded` is told from the start, however many there are.
    """

    tool: AnyTool
    spec: ToolSpec
    hint: str = ""
    always_loaded: bool = False


class ToolSource(Protocol):
    """Where more tools come from, such as a server of tools."""

    @property
    def label(self) -> str:
        """How people call it."""
        ...

    def offers(self) -> Sequence[Offer]:
        """The tools that it has at the moment, in any order."""
        ...


@dataclass(frozen=True, slots=True)
class Pool:
    """The tools in the order in which the model is told of them, and sentences on those left out.

    Built-in tools come first, each part is sorted by name: the same tools make the same bytes.
    """

    built_in: tuple[AnyTool, ...]
    offers: tuple[Offer, ...] = ()
    notices: tuple[str, ...] = ()


def gather(
    built_in: Iterable[AnyTool], sources: Sequence[ToolSource] = (), *, simple: bool = False
) -> Pool:
    """Put the pool together. A name that is taken stays with the built-in tool, else with the
    source whose label comes first.

    Simple mode has no sources. What a rule denies outright is in the pool, so that a call of it
    hears of the rule; but the model is not told of it.
    """
    own = {tool.name: tool for tool in built_in if not simple or tool.name in SIMPLE}
    taken = dict.fromkeys(own, "a built-in tool")
    more: dict[str, Offer] = {}
    notices: list[str] = []
    for source in sorted(() if simple else sources, key=lambda each: each.label):
        for offer in sorted(source.offers(), key=lambda each: each.spec.name):
            name = offer.spec.name
            if name in taken:
                notices.append(
                    f"The tool {name} of {source.label} is left out: {taken[name]} has this name "
                    "already."
                )
                continue
            taken[name] = source.label
            more[name] = offer
    return Pool(
        tuple(own[name] for name in sorted(own)),
        tuple(more[name] for name in sorted(more)),
        tuple(notices),
    )


def deferred(
    offers: Sequence[Offer], setting: str, window: int, denied: Callable[[str], bool]
) -> tuple[Offer, ...]:
    """Those offers of which the model is told the names only, until it searches for them.

    `setting` is `always`, `never`, `auto` or `auto:N`: only when all definitions take a tenth, or
    N percent, of a window of so many tokens. Nothing is deferred where ToolSearch is denied.
    """
    share = share_of(setting)
    if share is None or denied("ToolSearch"):
        return ()
    later = tuple(each for each in offers if not (each.always_loaded or denied(each.spec.name)))
    size = sum(estimate(json.dumps(each.spec.to_wire(), ensure_ascii=False)) for each in later)
    return later if size >= share * window else ()


def share_of(setting: str) -> float | None:
    """The share of the window from which on tools are deferred, None for never.

    Also in the published words `true` and `false`; raises ValueError for others.
    """
    known = {"always": 0.0, "true": 0.0, "never": None, "false": None, "auto": AUTO_SHARE}
    if setting in known:
        return known[setting]
    word, _, percent = setting.partition(":")
    if word != "auto" or not percent.isdecimal() or int(percent) > 100:
        raise ValueError(f"{setting!r} is none of always, never, auto and auto:N (percent)")
    return int(percent) / 100
