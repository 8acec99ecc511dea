"""`sidelight models`: who answers, by which way, and what may be asked of each model."""

import argparse
import os
import sys
from collections.abc import Sequence

import anyio

from sidelight.app.models import main_roles
from sidelight.app.world import Choices, World, make_world
from sidelight.model.catalog import AS_OF, MODELS, ModelCard
from sidelight.model.link import Linked, ModelLink

PLACE = "on the command line"


def main(arguments: Sequence[str]) -> int:
    """Print the models; the exit code is 1 when no model is set up."""
    parser = argparse.ArgumentParser(prog="sidelight models", description=__doc__)
    parser.add_argument("--model", help="a model's id or alias, as it would be asked")
    options = parser.parse_args(list(arguments))
    choices = Choices(model=options.model)
    return anyio.run(show, make_world(os.environ, PLACE, lambda: choices))


async def show(world: World) -> int:
    """Ask the provider for its models, and print what is known."""
    link = world.link
    try:
        found = await link.connect()
        if not isinstance(found, Linked):
            print(f"sidelight: {found}", file=sys.stderr)
            return 1
        if problem := await link.learn():
            print(f"sidelight: {problem}", file=sys.stderr)
        cards, as_of = await link.known()
        print(f"Answers:   {found.source}")
        print(f"Reached:   {found.way or 'directly'}")
        if found.warning:
            print(f"Mind:      {found.warning}")
        roles = main_roles(world.home, world.environ, world.choices().model)
        for title, names in (
            ("Main:", (roles.main,)), ("Small:", (roles.small,)), ("Fallback:", roles.fallbacks),
        ):  # fmt: skip
            print(f"{title:<10} {', '.join(map(found.model, names)) or 'none'}")
        print(f"Known:     {f'told by the provider on {as_of}' if as_of else f'as of {AS_OF}'}")
        for card in cards or _shipped(link, found):
            print(f"  {_line(card)}")
    finally:
        with anyio.CancelScope(shield=True):
            await link.aclose()
    return 0


def _shipped(link: ModelLink, found: Linked) -> list[ModelCard]:
    names = found.offered or tuple(MODELS)
    return [link.card(name) for name in names]


def _line(card: ModelCard) -> str:
    price = card.prices[0] if card.prices else None
    parts = (
        f"{card.id:<36} {card.window:>9} tokens, {card.output_cap} out",
        f"thinking {card.thinking}",
        f"effort {'/'.join(card.efforts) or 'none'}",
        ", ".join(sorted(card.features)).replace("_", " ") or "text and tools only",
        f"${price.input:g}/${price.output:g} per million" if price else "price unknown",
    )
    return "; ".join(parts)
