"""Prints the figures that the product is held to: `python -m tests.bench`."""

import compileall
import os
import sys
import tempfile
from pathlib import Path

import anyio

from tests.bench.decode import decode
from tests.bench.files import file_tools
from tests.bench.search import search
from tests.bench.start import first_request, initialize_ratio
from tests.bench.stop import stubborn_child
from tests.bench.table import head
from tests.bench.work import long_session, many_deltas, ten_calls, warm_prompt
from tests.e2e.conftest import ROOT


async def main() -> None:
    """The whole table."""
    compileall.compile_dir(str(ROOT / "server"), quiet=2)
    load = os.getloadavg()[0]
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load:.1f}\n")
    head()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await initialize_ratio(folder)
        await anyio.to_thread.run_sync(first_request, folder)
        await warm_prompt(folder)
        await many_deltas(folder, pause=0.0)
        await many_deltas(folder, pause=0.004)
        await decode(folder)
        await ten_calls(folder)
        await long_session(folder)
        await stubborn_child(folder)
        await search(folder)
        await file_tools(folder)


if __name__ == "__main__":
    anyio.run(main)
