"""The real server with the tests' weights in the place of the pinned ones.

The argument is how many seconds the small model may be idle.
"""

import importlib
import sys
from typing import cast

from sidelight.lsp.server import Door
from sidelight.lsp.start import serve
from tests.fakes.small_model import smollm2


def load(server: object) -> Door:
    application = importlib.import_module("sidelight.app.editor")
    return cast("Door", application.open_door(server, smollm2(), idle_s=float(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(serve("0.1.0", load))
