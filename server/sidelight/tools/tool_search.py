"""ToolSearch: tools of which only the names were told."""

import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.content import Text, ToolReference
from sidelight.core.errors import ToolError
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.pool import Offer

WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+|[^\W\d_a-zA-Z]+")
IN_NAME, IN_HINT, IN_TEXT = 8, 4, 1
NAMED = 100


class ToolSearchInput(PlainRecord):
    """What the tool should be able to do, or its name."""

    query: str = Field(
        min_length=1, description="Keywords, or `select:A,B` for exactly these tools"
    )
    max_results: int = Field(5, ge=1, le=50, description="How many tools to load at most")


class ToolSearchTool:
    """Finds among `offers`; names of tools that are told anyway are in `loaded`."""

    name = "ToolSearch"
    input_type = ToolSearchInput

    def __init__(self, offers: Sequence[Offer], loaded: Sequence[str] = ()) -> None:
        self._offers = {offer.spec.name: offer for offer in offers}
        self._loaded = frozenset(loaded)

    def summary(self, input: ToolSearchInput) -> str:
        """What is searched for."""
        return " ".join(input.query.split())

    def touches(self, input: ToolSearchInput, shell: Shell) -> Sequence[Access]:
        """Nothing but what the session knows."""
        return (Access(kind="session", target=self.name),)

    async def preview(self, input: ToolSearchInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: searching edits nothing."""
        return ()

    async def run(
        self, input: ToolSearchInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """References to the tools, the best first; raises ToolError when there are none."""
        names = self._named(input.query) or self._ranked(input)
        references = tuple(ToolReference(tool_name=name) for name in names if name in self._offers)
        known = [name for name in names if name not in self._offers]
        told = f"Loaded, can be called from now on: {', '.join(names)}." if references else ""
        if known:
            told = f"{told} Needs no loading: {', '.join(known)}.".strip()
        yield ToolOutput(content=(*references, Text(text=told)), data={"matches": list(names)})

    def _named(self, query: str) -> list[str]:
        """The tools that are named outright, as they were named."""
        word, _, listed = query.partition(":")
        select = word == "select" and bool(listed)
        wanted = [n.strip() for n in listed.split(",") if n.strip()] if select else [query.strip()]
        there = [name for name in wanted if name in self._offers or name in self._loaded]
        missing = [name for name in wanted if name not in there]
        if select and missing:
            raise ToolError(
                f"There is no tool {', '.join(missing)}. {self._all()} Search by keywords, or go "
                "on without it.",
                "not_found",
            )
        return list(dict.fromkeys(there))

    def _ranked(self, input: ToolSearchInput) -> list[str]:
        words = set(_words(input.query))
        scores = {name: _score(offer, words) for name, offer in self._offers.items()}
        best = sorted((name for name in scores if scores[name]), key=lambda n: (-scores[n], n))
        if not best:
            raise ToolError(
                f"No tool fits {input.query!r}. {self._all()} Go on without it if none of these "
                "will do.",
                "not_found",
            )
        return best[: input.max_results]

    def _all(self) -> str:
        names = sorted(self._offers)
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"To be loaded are: {', '.join(names[:NAMED])}{more}."


def _score(offer: Offer, words: set[str]) -> int:
    parts = (
        (offer.spec.name, IN_NAME),
        (offer.hint, IN_HINT),
        (offer.spec.description, IN_TEXT),
    )
    total: Counter[str] = Counter()
    for text, weight in parts:
        for word in words & set(_words(text)):
            total[word] += weight
    return total.total()


def _words(text: str) -> list[str]:
    return [word.casefold() for word in WORD.findall(text)]
