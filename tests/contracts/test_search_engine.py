"""Ripgrep and the search without it give the same answers."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.errors import ToolError
from sidelight.tools.search.ignore import selects
from sidelight.tools.search.kinds import KINDS
from sidelight.tools.search.plain import MAX_FILE_BYTES, PlainSearch
from sidelight.tools.search.query import Engine, Listing, Query, Row, Scope, Shown
from sidelight.tools.search.ripgrep import Ripgrep, find_ripgrep

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-06")]

PROGRAM = find_ripgrep() or "rg"
ENGINES: dict[str, Engine] = {"ripgrep": Ripgrep(PROGRAM), "plain": PlainSearch()}
TEXT = (
    "def needle(x):\n\treturn x + 1\n\n# Needle, NEEDLE: straße, naïve, 中文\r\n"
    "needle(needle)\n\n\nlast line without end of line: a{1} [b] (c) $d ^e"
)
TREE = {
    ".gitignore": "*.log\n/build/\n!keep.log\n",
    ".git/config": "needle\n",
    ".hidden/a.py": "needle\n",
    "a.py": "needle\n",
    "b.ts": "needle\n",
    "keep.log": "needle\n",
    "x.log": "needle\n",
    "build/c.py": "needle\n",
    "src/.ignore": "secret*\n",
    "src/secret.py": "needle\n",
    "src/deep/d.py": "needle\n",
    "src/deep/Makefile": "needle\n",
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return root


async def listed(engine: Engine, root: Path, pattern: str, **more: bool) -> Listing:
    with anyio.fail_after(60):
        return await engine.matching(Scope(str(root)), Query(pattern, **more))


async def rows_of(engine: Engine, path: Path, query: Query, most: int = 1000) -> list[Row]:
    with anyio.fail_after(60):
        shown = await engine.rows([str(path)], query, most)
    assert (shown.problems, shown.timed_out) == ([], False)
    return shown.rows[str(path)]


async def refusal(engine: Engine, pattern: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await listed(engine, Path(__file__), pattern)
    assert caught.value.kind == "invalid_input"
    return caught.value


ATOMS = st.sampled_from(
    ["needle", "NEEDLE", "x", ".", r"\w", r"\s", r"\d", "[a-n]", "[^x]", r"\(", "ß", "中", r"\b",
     "$", "^", "(?:ne|l)", "[[:upper:]]", r"\p{Lu}", "(?i)d", r"\x41", r"\{", "(?:é?)"]
)  # fmt: skip
PATTERNS = st.lists(
    st.tuples(ATOMS, st.sampled_from(["", "", "", "*", "+?", "{1,2}"])), min_size=1, max_size=5
).map(
    lambda parts: "".join(
        atom + ("" if atom in {r"\b", "$", "^", "(?i)d"} else times) for atom, times in parts
    )
)


@given(PATTERNS, st.tuples(st.booleans(), st.booleans(), st.booleans()), st.integers(0, 2))
def test_any_pattern_finds_the_same_lines(
    tmp_path: Path, pattern: str, flags: tuple[bool, bool, bool], around: int
) -> None:
    ignore_case, multiline, only = flags
    # In multiline `.` takes a carriage return to ripgrep; in the other search no line has one.
    text = TEXT.replace("\r", "") if multiline else TEXT
    path = put(tmp_path, {"a.txt": text}) / "a.txt"
    query = Query(pattern, ignore_case, multiline, around, around, only)

    async def ask(engine: Engine) -> tuple[dict[str, int], Sequence[Row]]:
        listing = await engine.matching(Scope(str(tmp_path)), query)
        rows = await rows_of(engine, path, query) if listing.files else ()
        # How often nothing is found in a text, byte by byte, is nobody's question.
        counts = dict.fromkeys(listing.files, 1) if multiline else listing.files
        return counts, rows

    async def both() -> None:
        assert await ask(ENGINES["plain"]) == await ask(ENGINES["ripgrep"])

    anyio.run(both)


@pytest.mark.parametrize(
    ("pattern", "cause", "advice"),
    [
        ("(open", "unclosed group", r"`\(`"),
        ("close)", "unopened group", r"`\)`"),
        ("[a", "unclosed character class", r"`\[`"),
        ("*a", "repetition operator missing expression", "backslash"),
        ("interface{}", "repetition quantifier expects a valid decimal", r"`\{`"),
        ("a(?=b)", "look-around", "rg -P"),
        (r"(a)\1", "backreferences are not supported", "rg -P"),
        (r"\Qa", "unrecognized escape sequence", "no backslash"),
        (r"a\nb", r'"\n" is not allowed', "multiline"),
    ],
)
async def test_a_bad_pattern_is_explained(
    engine: Engine, pattern: str, cause: str, advice: str
) -> None:
    said = (await refusal(engine, pattern)).message
    assert cause in said
    assert advice in said.splitlines()[-1]
    assert "--" not in said, "a call has no such switches"


@pytest.mark.parametrize("pattern", ["a\0b", "\ud800", "x" * 60_000])
async def test_what_no_program_can_be_given_is_explained(engine: Engine, pattern: str) -> None:
    assert (await refusal(engine, pattern)).message.startswith("The search failed: the pattern ")


@pytest.mark.parametrize("glob", ["[a", "{a,b", "x/{a"])
async def test_a_bad_glob_is_explained(engine: Engine, tmp_path: Path, glob: str) -> None:
    with pytest.raises(ToolError, match="error parsing glob .*unclosed") as caught:
        await engine.files(Scope(str(tmp_path), (glob,)))
    assert caught.value.kind == "invalid_input"


async def test_an_unknown_type_is_an_error(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="unrecognized file type: nonsense\nUse glob"):
        await engine.files(Scope(str(tmp_path), kind="nonsense"))


def test_the_types_are_those_of_ripgrep() -> None:
    told = subprocess.run([PROGRAM, "--type-list"], capture_output=True, text=True, check=True)
    rows = (line.partition(": ") for line in told.stdout.splitlines())
    assert {name: globs.split() for name, globs in KINDS.items()} == {
        name: globs.split(", ") for name, _, globs in rows
    }


SCOPES = [
    Scope(""),
    Scope("", ("*.py",)),
    Scope("", ("!*.py",)),
    Scope("", ("src/**/*.py", "!**/secret*")),
    Scope("", (), "py"),
    Scope("", (), "make"),
    Scope("", ("*.{ts,log}",), respect_ignore=False),
    Scope("", (), respect_ignore=False),
    Scope("src"),
    Scope("build"),
    Scope("x.log"),
]


@pytest.mark.parametrize("scope", SCOPES, ids=str)
async def test_a_walk_comes_to_the_files_that_the_scope_selects(
    engine: Engine, tmp_path: Path, scope: Scope
) -> None:
    root = put(tmp_path, TREE)
    scope = Scope(str(root / scope.root), scope.globs, scope.kind, scope.respect_ignore)
    with anyio.fail_after(20):
        listing = await engine.files(scope)
    every = {str(root / name) for name in TREE}
    assert set(listing.files) == {path for path in every if selects(scope, path)}
    assert listing.problems == []


async def test_a_line_of_fifty_megabytes_is_searched_and_cut(
    engine: Engine, tmp_path: Path
) -> None:
    """B011: at a character."""
    path = tmp_path / "bundle.js"
    path.write_bytes(
        "é".encode() * 12_500_000 + b"needle" + "中".encode() * 9_000_000 + b"\nneedle"
    )
    assert (await listed(engine, tmp_path, "needle")).files == {str(path): 2}
    assert await rows_of(engine, path, Query("needle")) == [
        Row(
            1,
            f"…{'é' * 100}needle{'中' * 394}… (cut; the line has 21,500,006 characters)",
            match=True,
        ),
        Row(2, "needle", match=True),
    ]


async def test_a_file_too_large_for_the_search_without_ripgrep_is_said(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    listing = await listed(ENGINES["plain"], tmp_path, "needle")
    assert listing.problems == [f"{path}: larger than 64 MB, which takes ripgrep"]


async def test_names_of_any_bytes_are_found(engine: Engine, tmp_path: Path) -> None:
    names = [b"caf\xe9.txt", b"two\nlines.txt", "中文.txt".encode(), b"  blanks .txt", b"-e.txt"]
    paths = [os.fsencode(tmp_path) + b"/" + name for name in names]
    for path in paths:
        await anyio.Path(os.fsdecode(path)).write_bytes(b"needle\n")
    every = {os.fsdecode(path): 1 for path in paths}
    assert (await listed(engine, tmp_path, "needle")).files == every
    with anyio.fail_after(20):
        assert set((await engine.files(Scope(str(tmp_path)))).files) == set(every)
        shown = await engine.rows(list(every), Query("needle"), 10)
    row = Row(1, "needle", match=True)
    assert shown == Shown({path: [row] for path in every})


async def test_pipes_loops_and_late_zero_bytes_are_passed_over(
    engine: Engine, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "late.bin").write_bytes(b"needle\n" * 100_000 + b"\0")
    (tmp_path / "a.txt").write_bytes(b"needle\n")
    listing = await listed(engine, tmp_path, "needle")
    assert listing == Listing({str(tmp_path / "a.txt"): 1})


async def test_only_so_many_matching_lines_are_read_of_a_file(
    engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "many.txt"
    path.write_bytes(b"needle\nhay\n" * 50_000)
    rows = await rows_of(engine, path, Query("needle", after=1), most=2)
    assert [(row.number, row.match) for row in rows] == [
        (1, True), (2, False), (3, True), (4, False)
    ]  # fmt: skip


async def test_a_pattern_that_explodes_ends_in_time_and_blocks_nobody(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 5_000 + "b")
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tick)
            engine = PlainSearch(timeout=0.5)
            listing = await engine.matching(Scope(str(tmp_path)), Query("(?:a|a|aa)+$"))
            assert listing == Listing(timed_out=True)
            tasks.cancel_scope.cancel()
    assert ticks > 1


async def test_all_kinds_of_signs_mean_the_same(tmp_path: Path) -> None:
    pattern = (
        r"\<a\>|[\]z[:digit:]]|\{|(?P<n>x)|(?i:y)|\x{41}|\u{4e2d}|\p{Lu}{2,}|[]]|,$|\b{end}q\z"
    )
    path = put(tmp_path, {"a.txt": "a\nab\n]\nz9\n{\nxY\nA\n中\nABC\nAb\n-,\n-q\n"}) / "a.txt"
    found = [await rows_of(engine, path, Query(pattern)) for engine in ENGINES.values()]
    assert found[0] == found[1]
    assert [row.number for row in found[0]] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]


async def test_what_the_search_without_ripgrep_would_read_otherwise_it_refuses() -> None:
    with pytest.raises(ToolError, match="a repetition of a repetition"):
        await listed(ENGINES["plain"], Path(__file__), "a++")
