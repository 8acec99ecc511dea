"""The tools of one session, and what the model is told of them when it begins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sidelight.core.model import ToolSpec
from sidelight.core.tool import AnyTool
from sidelight.model.catalog import card
from sidelight.permissions.pipeline import denied_outright
from sidelight.permissions.policy import Policy
from sidelight.settings.schema import Own
from sidelight.tools.pool import Offer, ToolSource, deferred, gather, share_of
from sidelight.tools.registry import spec
from sidelight.tools.tool_search import ToolSearchTool

VARIABLE = "ENABLE_TOOL_SEARCH"


@dataclass(frozen=True, slots=True)
class Toolbox:
    """`tools` by name for the calls; `specs` in their order for the prefix of a conversation."""

    tools: dict[str, AnyTool]
    specs: tuple[ToolSpec, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a toolbox depends on: `denied` says of a name whether a rule denies the whole tool,
    `describe` gives what the model is told of a built-in one, `window` is in tokens."""

    denied: Callable[[str], bool]
    describe: Callable[[str], str]
    window: int
    simple: bool = False
    tool_search: str = "auto"

    @staticmethod
    def of(own: Own, policy: Policy, model: str, describe: Callable[[str], str]) -> "Terms":
        """The terms that settings, rules and the model of the session make."""
        return Terms(
            denied=lambda name: denied_outright(name, policy) is not None,
            describe=describe,
            window=card(model).window,
            simple=own.simple_tools,
            tool_search=own.tool_search,
        )


def open_toolbox(
    built_in: Sequence[AnyTool],
    sources: Sequence[ToolSource],
    terms: Terms,
    environ: Mapping[str, str],
) -> Toolbox:
    """Put it together; the variable ENABLE_TOOL_SEARCH beats the setting."""
    pool = gather(built_in, sources, simple=terms.simple)
    setting, notices = _setting(terms, environ)
    later = deferred(pool.offers, setting, terms.window, terms.denied)
    own = list(pool.built_in)
    if later:
        loaded = [tool.name for tool in own]
        loaded += [offer.spec.name for offer in pool.offers if offer not in later]
        own.append(ToolSearchTool(later, [n for n in loaded if not terms.denied(n)]))
        own.sort(key=lambda tool: tool.name)
    specs = [spec(tool, terms.describe) for tool in own]
    specs += [_told(offer, later) for offer in pool.offers]
    tools = {tool.name: tool for tool in own}
    tools |= {offer.spec.name: offer.tool for offer in pool.offers}
    told = tuple(each for each in specs if not terms.denied(each.name))
    return Toolbox(tools, told, (*pool.notices, *notices))


def _told(offer: Offer, later: Sequence[Offer]) -> ToolSpec:
    return offer.spec.model_copy(update={"deferred": offer in later})


def _setting(terms: Terms, environ: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """What holds, and a sentence when a value does not count."""
    given = ((VARIABLE, environ.get(VARIABLE)), ("sidelight.toolSearch", terms.tool_search))
    notices: list[str] = []
    for name, value in given:
        if value:
            try:
                share_of(value)
            except ValueError as error:
                notices.append(f"{name}: {error}; it is ignored.")
            else:
                return value, tuple(notices)
    return "auto", tuple(notices)
