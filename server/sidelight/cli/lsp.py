"""`sidelight lsp`: the language server on standard input and output.

Nothing heavy is imported here: the application comes in a thread, after `initialize`.
"""

import importlib
import logging
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import cast

from sidelight.lsp.server import Door, Load
from sidelight.lsp.start import serve

USAGE = """\
usage: sidelight lsp

The language server on standard input and output; an editor starts it. It takes no options:
settings come from the editor and from the .claude files. SIDELIGHT_LOG=DEBUG says more on
standard error.
"""


def main(arguments: Sequence[str]) -> int:
    """Serve one client; `--stdio` is accepted because clients add it."""
    if any(argument in {"-h", "--help"} for argument in arguments):
        print(USAGE, end="")
        return 0
    unknown = [argument for argument in arguments if argument != "--stdio"]
    if unknown:
        print(f"sidelight lsp: unknown argument {unknown[0]}", file=sys.stderr)
        return 2
    level = os.environ.get("SIDELIGHT_LOG", "WARNING").upper()
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s %(message)s")

    def load(server: object) -> Door:
        application = importlib.import_module("sidelight.app.editor")
        return cast("Door", application.open_door(server))

    return serve(version("sidelight"), cast("Load", load))
