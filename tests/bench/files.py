"""What Read and Edit cost on large files, and the memory for many files that were read."""

import gc
import statistics
import time
import tracemalloc
from pathlib import Path

from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Shell, ToolContext, ToolOutput
from sidelight.headless.host import DiskHost
from sidelight.tools.edit import EditTool
from sidelight.tools.read import ReadTool
from sidelight.tools.registry import parse_input
from tests.bench.table import row

HUGE = 100_000_000
LARGE = 130_000
"""Lines of 40 characters, about 5 MB."""
MANY = 1_000
TRIES = 7


def context_in(folder: Path) -> ToolContext:
    """A session's desk on the bare disk."""
    host = DiskHost(lambda severity, text: None)
    shell = Shell(str(folder), [str(folder)])
    return ToolContext("s", "t", host, FileLedger(), shell, str(folder))


async def call(tool: AnyTool, context: ToolContext, **given: object) -> float:
    """One call; its CPU seconds, those of its threads included."""
    parsed = parse_input(tool, given)
    begin = time.process_time()
    items = [item async for item in tool.run(parsed, context)]
    spent = time.process_time() - begin
    assert isinstance(items[-1], ToolOutput)
    return spent


async def file_tools(folder: Path) -> None:
    """A range of 100 MB, an edit in 5 MB, a thousand files."""
    context = context_in(folder)
    huge, line = folder / "huge.log", b"a line of a very long log, about so\n"
    huge.write_bytes(line * (HUGE // len(line)))
    read: AnyTool = ReadTool()
    for name, offset in (("beginning", 100), ("middle", HUGE // len(line) // 2)):
        tracemalloc.start()
        await call(read, context, file_path=str(huge), offset=offset, limit=50)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        spent = await call(read, context, file_path=str(huge), offset=offset, limit=50)
        figure = f"{spent * 1000:.1f} ms CPU, {peak / 1e6:.1f} MB"
        row(f"50 lines of a 100 MB file, at its {name}", figure, "not read whole")
    large = folder / "large.py"
    large.write_text("".join(f"line {n} of a file that is rather long\n" for n in range(LARGE)))
    context.ledger.note_read(str(large.resolve()), large.read_text("utf-8"), whole=True)
    spent_on: list[float] = []
    edit: AnyTool = EditTool()
    for number in range(TRIES):
        old, new = (f"{word} {number + LARGE // 2} of" for word in ("line", "LINE"))
        spent = await call(edit, context, file_path=str(large), old_string=old, new_string=new)
        spent_on.append(spent)
    figure = f"{statistics.median(spent_on) * 1000:.0f} ms"
    row("an Edit of a 5 MB file, CPU", figure, "under 50 ms")
    await many_files(folder)


async def many_files(folder: Path) -> None:
    """The memory that a session keeps for the files that it has read."""
    paths = [folder / f"{number}.py" for number in range(MANY)]
    for number, path in enumerate(paths):
        lines = (f"value_{number}_{n} = compute({n * number}, 'text')\n" for n in range(1_000))
        path.write_text("".join(lines), encoding="utf-8")
    context = context_in(folder)
    read: AnyTool = ReadTool()
    gc.collect()
    tracemalloc.start()
    for path in paths:
        await call(read, context, file_path=str(path))
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    size = sum(path.stat().st_size for path in paths)
    figure = f"{kept / 1e6:.1f} MB for {size / 1e6:.0f} MB of text"
    row(f"ledger of {MANY} files that were read", figure, "under 50 MB")
