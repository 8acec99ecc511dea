"""The real server with conversations that need no model, for tests of the door."""

import logging
import os
import sys

from sidelight.lsp.door import EditorDoor
from sidelight.lsp.server import AgentServer
from sidelight.lsp.start import serve
from tests.fakes.application import FakeApplication


def load(server: AgentServer) -> EditorDoor:
    return EditorDoor(server, FakeApplication(os.environ["SIDELIGHT_HOME"]))


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    sys.exit(serve("0.0.0", load))
