"""Pytest fixtures around the double; import them into a conftest.py."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import ExitStack

import pytest

from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import Script

SCRUBBED = ("ANTHROPIC_", "AWS_", "CLOUD_ML_REGION", "VERTEX_", "GOOGLE_", "AZURE_")
RunDouble = Callable[..., Double]


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every variable away that could point the SDK at a real provider or a proxy."""
    for name in list(os.environ):
        if name.startswith(SCRUBBED) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def run_double(no_credentials: None) -> Generator[RunDouble]:
    """Start doubles that are checked and closed when the test ends: `run_double(script)`."""
    with ExitStack() as stack:

        def run(
            script: Script = (), *, strict: bool = True, allow_refusals: bool = False
        ) -> Double:
            running = running_double(script, strict=strict, allow_refusals=allow_refusals)
            return stack.enter_context(running)

        yield run
