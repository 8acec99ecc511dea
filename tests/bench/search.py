"""What Grep and Glob cost beside the program that they run, on a tree of 50,000 files."""

import random
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Shell, ToolContext
from sidelight.headless.host import DiskHost
from sidelight.permissions.conceal import concealed
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.rule import Source
from sidelight.tools.glob import GlobTool
from sidelight.tools.grep import GrepTool
from sidelight.tools.registry import parse_input
from sidelight.tools.search.ripgrep import find_ripgrep
from tests.bench.table import row

ROUNDS = 9
FOLDERS, FILES = 1_000, 50
ENDINGS = ("py", "ts", "md", "json", "txt")


def make_tree(root: Path) -> None:
    """50,000 files of 40 lines; a hundred hold the needle."""
    chance = random.Random(1)
    words = [f"word{number}" for number in range(2_000)]
    for folder in range(FOLDERS):
        place = root / f"package{folder // 20:02}" / f"module{folder % 20:02}"
        place.mkdir(parents=True)
        for number in range(FILES):
            lines = [" ".join(chance.choices(words, k=8)) for _ in range(40)]
            if (folder * FILES + number) % 500 == 0:
                lines[20] = "the needle is here"
            name = f"file{number:02}.{ENDINGS[number % len(ENDINGS)]}"
            (place / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / ".gitignore").write_text("*.log\nbuild/\n", encoding="utf-8")


async def search(folder: Path) -> None:
    """Medians of runs in turn, so that both meet the same load; with rules and secrets minded."""
    root = folder / "tree"
    make_tree(root)
    rules = RuleSource(Source("user"), deny=("Read(./private/**)", "Read(**/*.secret)"))
    policy = Policy.from_settings([rules], [str(root)], str(folder))

    def conceals(paths: object) -> object:
        return concealed(paths, policy)  # pyright: ignore[reportArgumentType]

    grep = GrepTool(conceals=conceals)  # pyright: ignore[reportArgumentType]
    glob = GlobTool(conceals=conceals)  # pyright: ignore[reportArgumentType]
    shell = Shell(str(root), [str(root)])
    host = DiskHost(lambda severity, text: None)
    context = ToolContext("s", "t", host, FileLedger(), shell, str(folder / "scratch"))

    def call(tool: AnyTool, **input: object) -> Callable[[], Awaitable[object]]:
        async def run() -> object:
            return [item async for item in tool.run(parse_input(tool, dict(input)), context)]

        return run

    by_lines = ["-n", "needle"]
    await compare("Grep, beside rg", call(grep, pattern="needle"), by_lines, root, "under 1.3 x")
    content = call(grep, pattern="needle", output_mode="content")
    await compare("Grep with lines, beside rg", content, by_lines, root, "under 1.3 x")
    typed = call(grep, pattern="needle", glob="*.py")
    await compare("Grep in *.py, beside rg", typed, [*by_lines, "--glob=*.py"], root, "")
    every = ["--files"]
    await compare(
        "Glob of *.py, beside rg --files", call(glob, pattern="**/*.py"), every, root, "under 2 x"
    )
    await compare(
        "Glob of all, beside rg --files", call(glob, pattern="**"), every, root, "under 2 x"
    )


async def compare(
    what: str, ours: Callable[[], Awaitable[object]], words: list[str], root: Path, aim: str
) -> None:
    """One line: our time, theirs, and the ratio of the medians."""
    command = [find_ripgrep() or "rg", "--hidden", *words, "."]
    mine: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        await ours()
        mine.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        await anyio.run_process(command, cwd=root)
        theirs.append(time.perf_counter() - begin)
    one, other = statistics.median(mine), statistics.median(theirs)
    figure = f"{one / other:.2f} x ({one * 1000:.0f}, {other * 1000:.0f} ms)"
    row(f"{what}, 50,000 files", figure, aim)
