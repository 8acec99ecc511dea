"""What every test gets: asyncio for anyio, a home of its own, no credentials from outside."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# One variable says how much is tried, and the same things are tried each time.
SCALE = os.environ.get("SIDELIGHT_TEST_SCALE", "small")
EXAMPLES = {"small": 100, "full": 2_000}
settings.register_profile(
    "sidelight",
    max_examples=EXAMPLES[SCALE],
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("sidelight")

SCRUBBED = ("ANTHROPIC_", "CLAUDE_", "SIDELIGHT_", "AWS_", "CLOUD_ML_", "GOOGLE_")
KEPT = {"SIDELIGHT_REQUIRE", "SIDELIGHT_CACHE", "SIDELIGHT_TEST_SCALE"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home folder; nothing of the real one is read or written."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(SCRUBBED) and name not in KEPT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("SIDELIGHT_HOME", str(folder / "sidelight"))
    return folder
