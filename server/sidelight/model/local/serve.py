"""The small model's own process: the model server of the runtime on a free port of the loopback.

Its standard input is the leash. The first line says what to serve; after that `+` begins a use
and `-` ends one. It ends when nobody used it for so long, and when the input closes: that is when
its parent has ended, however that happened.
"""

import json
import os
import queue
import threading
from typing import Any

NICE = 10


def main() -> int:
    """Serve until let go; prints one line with the address when it is ready."""
    order = json.loads(_first_line() or "{}")
    if not order:
        print("sidelight local serve is started by the editor's server, not by hand.")
        return 2
    signs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(signs,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICE)
    server = _server(order)
    print(json.dumps({"address": server.listening_address}), flush=True)
    _be_silent()
    _until_idle(signs, float(order["idle_s"]))
    os._exit(0)  # the native threads need not be waited for: there is nothing to be kept


def threads(cores: int, load: float) -> int:
    """One fewer than cores; one when they are busy, since the threads wait for each other."""
    return 1 if load >= cores / 2 else max(1, cores - 1)


def _first_line() -> bytes:
    """Byte by byte: what follows the line is for `_listen`."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


def _listen(signs: "queue.SimpleQueue[bytes]") -> None:
    while sign := os.read(0, 1):
        signs.put(sign)
    os._exit(0)  # the parent is gone: also in the middle of an answer


def _until_idle(signs: "queue.SimpleQueue[bytes]", idle_s: float) -> None:
    uses = 0
    while True:
        try:
            sign = signs.get(timeout=None if uses else idle_s)
        except queue.Empty:
            return
        uses = max(0, uses + (1 if sign == b"+" else -1))


def _be_silent() -> None:
    """From here on nobody reads what the runtime says."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _server(order: dict[str, Any]) -> Any:
    import xllamacpp  # native code: it never enters another process of ours

    library: Any = xllamacpp
    count = threads(_cores(), _load())
    params = library.CommonParams()
    params.model.path = order["path"]
    params.n_ctx = order["window"]
    params.n_parallel = 1
    params.warmup = False  # the first answer is as soon there without it
    params.cpuparams.n_threads = count
    params.cpuparams_batch.n_threads = count
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    return library.Server(params)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
