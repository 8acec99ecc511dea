"""`sidelight local`: get, look at and remove the small model that runs on this computer."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from sidelight.core.errors import AgentError
from sidelight.model.local.download import address, fetch
from sidelight.model.local.engine import LocalModel, Question
from sidelight.model.local.serve import main as serve
from sidelight.model.local.weights import QWEN, Store, Weights

ABOUT = (
    "It explains code, writes docstrings and commit messages, and renames. "
    "It cannot work as an agent."
)


def main(arguments: Sequence[str], weights: Weights = QWEN) -> int:
    """Do what is asked; 0 when it was done, 1 when it could not be, 2 for wrong words."""
    if list(arguments) == ["serve"]:
        return serve()
    options = _parse(arguments)
    store = Store(weights)
    try:
        if options.what == "install":
            return _install(store, options)
        if options.what == "remove":
            return _remove(store)
        return _status(store)
    except (AgentError, OSError) as error:
        print(f"sidelight local: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What was fetched is kept; run the same again.", file=sys.stderr)
        return 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sidelight local", description=f"{__doc__} {ABOUT}")
    commands = parser.add_subparsers(dest="what", required=True)
    install = commands.add_parser("install", help="fetch the model's weights and check them")
    install.add_argument("--yes", action="store_true", help="do not ask; the licence is accepted")
    install.add_argument(
        "--from", dest="source", metavar="FILE", type=Path, help="a file that is here already"
    )
    commands.add_parser("status", help="what is there, and whether it runs")
    commands.add_parser("remove", help="free the disk")
    return parser.parse_args(list(arguments))


def _install(store: Store, options: argparse.Namespace) -> int:
    weights = store.weights
    if store.ready:
        print(f"{weights.title} is there already: {store.path}")
        return _missing(store)
    print(store.licence_text())
    print(
        f"\nModel:    {weights.title}\n          {ABOUT}\n"
        f"Size:     {weights.megabytes} MB on disk\n"
        f"Licence:  {weights.licence} (the text above)\n"
        f"From:     {options.source or address(store)}\nPlace:    {store.folder}"
    )
    if not options.yes and not _agreed():
        print("Nothing was fetched.")
        return 1
    if options.source:
        store.take(options.source)
    else:
        fetch(store)
        store.accept()
    print(f"Checked (SHA-256) and ready: {store.path}")
    return _missing(store)


def _agreed() -> bool:
    try:
        return input("Fetch it? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        print("\nNobody can answer here; --yes says yes.")
        return False


def _missing(store: Store) -> int:
    problem = store.problem()
    if problem:
        print(f"It cannot run yet: {problem}")
    return 1 if problem else 0


def _status(store: Store) -> int:
    kept = store.kept_bytes
    print(f"Model:    {store.weights.title}\nPlace:    {store.folder}")
    if store.ready:
        print(f"Weights:  {kept // 1_000_000} MB, checked\nLicence:  {store.licence_path}")
    else:
        print(f"Weights:  not there ({kept // 1_000_000} MB of an unfinished download)")
    problem = store.problem()
    if problem:
        print(f"Runs:     no: {problem}")
        return 1
    anyio.run(_try, store)
    print("Runs:     yes")
    return 0


async def _try(store: Store) -> None:
    model = LocalModel(store, os.environ)
    try:
        await model.ask(Question(system="Answer in one word.", user="Say yes.", most_tokens=4))
    finally:
        with anyio.CancelScope(shield=True):
            await model.stop()


def _remove(store: Store) -> int:
    freed = store.remove()
    print(f"{freed // 1_000_000} MB freed." if freed else "Nothing was there.")
    return 0
