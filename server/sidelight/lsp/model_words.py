"""A model in words for people who pick one: its name, how much it holds, what it costs."""

import re

from sidelight.model.catalog import ModelCard
from sidelight.wire.catalogue import say
from sidelight.wire.connection import ModelInfo

_VERSION = re.compile(r"^claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-(\d{8}))?$")


def model_info(card: ModelCard, locale: str) -> ModelInfo:
    """Window and price as of the first tier; a price that is not known is not mentioned."""
    price = card.prices[0] if card.prices else None
    words = say(locale, "{window} tokens", window=_short(card.window))
    if price:
        cost = say(
            locale,
            "${input} in, ${output} out per million",
            input=f"{price.input:g}",
            output=f"{price.output:g}",
        )
        words = f"{words}, {cost}"
    return ModelInfo(model_id=card.id, name=_name(card.id), description=words)


def _name(model: str) -> str:
    """`claude-opus-5-5` as people say it; any other id stays as it is."""
    match = _VERSION.match(model)
    if match is None:
        return model
    family, major, minor, date = match.groups()
    version = f"{major}.{minor}" if minor else major
    return " ".join(filter(None, (family.capitalize(), version, date)))


def _short(tokens: int) -> str:
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:g}M"
    return f"{round(tokens / 1000)}k" if tokens >= 1000 else str(tokens)
