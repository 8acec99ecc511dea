"""Glob and Grep: the same answers with ripgrep and without."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from sidelight.core.content import Json
from sidelight.core.errors import ToolError
from sidelight.core.ledger import FileLedger
from sidelight.core.tool import AnyTool, Shell, ToolContext, ToolOutput
from sidelight.headless.host import DiskHost
from sidelight.tools.glob import GlobTool
from sidelight.tools.grep import GrepTool
from sidelight.tools.registry import parse_input
from sidelight.tools.search.found import best_engine
from sidelight.tools.search.plain import PlainSearch
from sidelight.tools.search.query import Engine
from sidelight.tools.search.ripgrep import Ripgrep, find_ripgrep
from tests.unit.tools.conftest import silent, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-06")]

TREE = {
    ".gitignore": b"*.log\nbuild/\n/only-here.txt\n!keep.log\n",
    ".git/config": b"needle\n",
    ".github/ci.yml": b"needle: 1\n",
    "src/.gitignore": b"generated.py\n",
    "src/app.py": b"import os\n\n\ndef needle():\n    return 1\n\n\nneedle()\n",
    "src/generated.py": b"needle\n",
    "src/deep/only-here.txt": b"needle\n",
    "src/deep/page.tsx": b"const needle = 1\n",
    "src/deep/page.ts": b"NEEDLE\n",
    "only-here.txt": b"needle\n",
    "build/out.py": b"needle\n",
    "debug.log": b"needle\n",
    "keep.log": b"needle\n",
    "secret.ignored": b"needle\n",
    ".ignore": b"*.ignored\n",
    "windows.txt": b"first\r\nthe needle\r\nlast\r\n",
    "wide.txt": "the needle\r\n".encode("utf-16"),
    "data.bin": b"needle\0needle\n",
    "latin.txt": b"caf\xe9 needle\n",
    "empty.txt": b"",
}
IN_VIEW = [
    ".github/ci.yml",
    "keep.log",
    "latin.txt",
    "src/app.py",
    "src/deep/only-here.txt",
    "src/deep/page.tsx",
    "wide.txt",
    "windows.txt",
]


def ripgrep() -> Engine:
    program = find_ripgrep()
    assert program is not None, "the package brings ripgrep along"
    return Ripgrep(program)


@pytest.fixture(params=[ripgrep, PlainSearch], ids=["ripgrep", "plain"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of TREE, each a second older than the next by name; and links that loop."""
    for age, name in enumerate(sorted(TREE)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(TREE[name])
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    (tmp_path / "src/loop").symlink_to("..")
    (tmp_path / "src/alias.py").symlink_to("app.py")
    return tmp_path


async def call(tool: AnyTool, root: Path, **input: object) -> ToolOutput:
    context = ToolContext(
        "s", "t", DiskHost(silent), FileLedger(), Shell(str(root), [str(root)]), str(root)
    )
    with anyio.fail_after(20):
        *_, output = [i async for i in tool.run(parse_input(tool, dict(input)), context)]
    assert isinstance(output, ToolOutput)
    return output


async def grep(engine: Engine, root: Path, pattern: str, **more: object) -> str:
    return text_of(await call(GrepTool(engine), root, pattern=pattern, **more))


async def glob(engine: Engine, root: Path, pattern: str, **more: object) -> list[str]:
    output = await call(GlobTool(engine), root, pattern=pattern, **more)
    return [str(Path(name).relative_to(root)) for name in output.data["filenames"]]


async def test_ignored_binary_and_linked_files_are_not_searched(engine: Engine, tree: Path) -> None:
    output = await call(GrepTool(engine), tree, pattern="needle")
    assert text_of(output).split("\n") == sorted(IN_VIEW, reverse=True)
    assert output.data == {
        "mode": "files_with_matches",
        "numFiles": 8,
        "filenames": [str(tree / name) for name in sorted(IN_VIEW, reverse=True)],
        "totalFiles": 8,
    }


async def test_lines_come_with_numbers_and_without_line_ends(engine: Engine, tree: Path) -> None:
    output = await call(
        GrepTool(engine), tree, pattern="needle", output_mode="content", glob="*.{py,txt}"
    )
    assert text_of(output).split("\n") == [
        "windows.txt:2:the needle",
        "wide.txt:1:the needle",
        "src/deep/only-here.txt:1:needle",
        "src/app.py:4:def needle():",
        "src/app.py:8:needle()",
        "latin.txt:1:caf\ufffd needle",
        "",
        "(6 matching lines in 5 files.)",
    ]
    assert output.data["numMatches"] == 6
    assert output.data["numLines"] == 6


async def test_context_is_marked_and_gaps_are_shown(engine: Engine, tree: Path) -> None:
    text = await grep(
        engine, tree, "needle", path="src/app.py", output_mode="content", **{"-A": 1, "-B": 1}
    )
    assert text.split("\n\n(")[0].split("\n") == [
        "src/app.py-3-",
        "src/app.py:4:def needle():",
        "src/app.py-5-    return 1",
        "--",
        "src/app.py-7-",
        "src/app.py:8:needle()",
    ]
    assert await grep(
        engine, tree, "def", path="src/app.py", output_mode="content", context=1, **{"-n": False}
    ) == (
        "src/app.py-\nsrc/app.py:def needle():\nsrc/app.py-    return 1\n\n"
        "(1 matching line in 1 file.)"
    )


async def test_counts_are_by_file_and_in_all(engine: Engine, tree: Path) -> None:
    text = await grep(engine, tree, "needle", output_mode="count", path="src", head_limit=2)
    assert text == (
        "src/deep/page.tsx:1\nsrc/deep/only-here.txt:1\n\n(4 matching lines in 3 files.)\n\n"
        "(Entries 1-2 of 3; head_limit is 2. Go on with offset=2, or narrow the search.)"
    )


async def test_case_type_and_only_the_match(engine: Engine, tree: Path) -> None:
    assert await grep(engine, tree, "needle", type="ts", **{"-i": True}) == (
        "src/deep/page.tsx\nsrc/deep/page.ts"
    )
    text = await grep(engine, tree, r"n\w+\(", output_mode="content", type="py", **{"-o": True})
    assert text.split("\n")[:2] == ["src/app.py:4:needle(", "src/app.py:8:needle("]


async def test_a_match_over_lines_needs_multiline(engine: Engine, tree: Path) -> None:
    with pytest.raises(ToolError, match="multiline"):
        await grep(engine, tree, r"needle\(\):\n")
    text = await grep(
        engine, tree, r"needle\(\):.*?return", multiline=True, output_mode="content", type="py"
    )
    assert text == ("src/app.py:4:def needle():\nsrc/app.py:5:    return 1\n\n(1 match in 1 file.)")


async def test_the_end_of_a_line_is_before_cr_lf(engine: Engine, tree: Path) -> None:
    assert await grep(engine, tree, "needle$", glob="windows.txt") == "windows.txt"


async def test_offset_goes_on_and_past_the_end_is_a_notice(engine: Engine, tree: Path) -> None:
    first = await call(GrepTool(engine), tree, pattern="needle", head_limit=3)
    assert first.data["appliedLimit"] == 3
    rest = await call(GrepTool(engine), tree, pattern="needle", head_limit=0, offset=3)
    assert [*first.data["filenames"], *rest.data["filenames"]] == [
        str(tree / name) for name in sorted(IN_VIEW, reverse=True)
    ]
    beyond = await call(GrepTool(engine), tree, pattern="needle", offset=100)
    assert text_of(beyond) == "No entries at this offset"
    assert (beyond.data["numFiles"], beyond.data["appliedOffset"]) == (0, 100)


async def test_a_named_file_is_searched_though_ignored(engine: Engine, tree: Path) -> None:
    text = await grep(engine, tree, "needle", path="build/out.py", output_mode="content")
    assert text.startswith("build/out.py:1:needle")
    assert await grep(engine, tree, "needle", path="build") == "build/out.py"


async def test_nothing_found_says_where(engine: Engine, tree: Path) -> None:
    assert await grep(engine, tree, "no such thing") == (
        f"No matches for 'no such thing' in {tree}."
    )


@pytest.mark.parametrize(
    ("input", "complaint"),
    [
        ({"pattern": "(unclosed"}, "The search failed: regex parse error"),
        ({"pattern": "x", "type": "nonsense"}, "nonsense"),
        ({"pattern": "x", "path": "none"}, "does not exist"),
    ],
)
async def test_a_bad_search_is_an_error_with_the_cause(
    engine: Engine, tree: Path, input: Json, complaint: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await call(GrepTool(engine), tree, **input)
    assert complaint in caught.value.message


async def test_a_huge_line_is_cut_around_the_match(engine: Engine, tmp_path: Path) -> None:
    """B011: at a character."""
    (tmp_path / "min.js").write_text("é" * 3_000_000 + "needle" + "é" * 3_000_000)
    text = await grep(engine, tmp_path, "needle", output_mode="content")
    assert text == (
        "min.js:1:…" + "é" * 100 + "needle" + "é" * 394 + "… (cut; the line has 6,000,006 "
        "characters)\n\n(1 matching line in 1 file.)"
    )


async def test_a_result_is_bounded_even_without_a_limit(engine: Engine, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("needle in a line of some length\n" * 5000)
    output = await call(
        GrepTool(engine), tmp_path, pattern="needle", output_mode="content", head_limit=0
    )
    assert len(text_of(output)) < 101_000
    assert "the result would be too long. Go on with offset=" in text_of(output)


async def test_what_must_not_be_seen_is_left_out_and_said(engine: Engine, tree: Path) -> None:
    """B077."""
    hidden = {
        str((tree / "keep.log").resolve()): "they may hold secrets",
        str((tree / "src/app.py").resolve()): "a rule denies reading them",
    }

    def conceals(paths: Sequence[str]) -> dict[str, str]:
        return {path: reason for path, reason in hidden.items() if path in paths}

    tool = GrepTool(engine, conceals=conceals)
    output = await call(tool, tree, pattern="needle", output_mode="content")
    assert "keep.log" not in text_of(output)
    assert "app.py" not in text_of(output)
    said = ["(Not looked into: 1 file; they may hold secrets.)"]
    said.append("(Not looked into: 1 file; a rule denies reading them.)")
    assert all(remark in text_of(output) for remark in said)
    none = await call(tool, tree, pattern="matches nowhere at all")
    assert all(remark in text_of(none) for remark in said), "the count tells nothing of the text"
    names = await call(GlobTool(engine, conceals=conceals), tree, pattern="**/a*.py")
    assert names.data["filenames"] == []
    assert said[1] in text_of(names)
    named = await call(tool, tree, pattern="needle", path=str(tree / "src/app.py"))
    assert "src/app.py" in text_of(named), "a file that was named was judged before"


async def test_a_pattern_without_slash_matches_at_any_depth(engine: Engine, tree: Path) -> None:
    assert await glob(engine, tree, "*.py") == ["src/generated.py", "src/app.py", "build/out.py"]
    assert await glob(engine, tree, "src/*.py") == ["src/generated.py", "src/app.py"]
    assert await glob(engine, tree, "**/*.{ts,tsx}") == ["src/deep/page.tsx", "src/deep/page.ts"]
    assert await glob(engine, tree, "./*.txt") == [
        "windows.txt",
        "wide.txt",
        "only-here.txt",
        "latin.txt",
        "empty.txt",
    ]
    assert await glob(engine, tree, "*.yml", path=".github") == [".github/ci.yml"]
    assert await glob(engine, tree, "config") == []


async def test_an_absolute_pattern_and_one_with_dots_move_the_folder(
    engine: Engine, tree: Path
) -> None:
    assert await glob(engine, tree, f"{tree}/src/**/*.tsx") == ["src/deep/page.tsx"]
    assert await glob(engine, tree, f"{tree}/src/app.py") == ["src/app.py"]
    assert await glob(engine, tree, "../*.bin", path="src") == ["data.bin"]


async def test_gitignore_can_be_respected_by_glob(engine: Engine, tree: Path) -> None:
    tool = GlobTool(engine, respect_ignore=True)
    output = await call(tool, tree, pattern="**")
    names = {str(Path(name).relative_to(tree)) for name in output.data["filenames"]}
    ignored = {".git/config", "build/out.py", "debug.log", "only-here.txt", "secret.ignored"}
    assert names == set(TREE) - ignored - {"src/generated.py"}


async def test_glob_shows_the_newest_hundred(engine: Engine, tmp_path: Path) -> None:
    for number in range(120):
        path = tmp_path / f"{number:03}.txt"
        path.touch()
        os.utime(path, (number, number))
    output = await call(GlobTool(engine), tmp_path, pattern="*.txt")
    assert output.data["filenames"][0] == str(tmp_path / "119.txt")
    assert text_of(output).endswith("(The newest 100 of 120 files. Narrow the pattern.)")
    data = {key: value for key, value in output.data.items() if key != "filenames"}
    assert data.pop("durationMs") >= 0
    assert data == {
        "numFiles": 100,
        "truncated": True,
        "totalMatches": 120,
        "countIsComplete": True,
    }


async def test_no_file_and_no_folder_are_said(engine: Engine, tree: Path) -> None:
    output = await call(GlobTool(engine), tree, pattern="*.zig")
    assert text_of(output) == f"No file matches *.zig in {tree}."
    with pytest.raises(ToolError, match="does not exist"):
        await call(GlobTool(engine), tree, pattern="*", path="none")
    with pytest.raises(ToolError, match="is not a folder"):
        await call(GlobTool(engine), tree, pattern="*", path="src/app.py")


async def test_ignore_rules_of_a_repository_above_count_and_end_there(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / ".gitignore").write_text("inner.txt\n")
    repository = tmp_path / "repository"
    (repository / ".git/info").mkdir(parents=True)
    (repository / ".git/info/exclude").write_text("private.txt\n")
    (repository / ".gitignore").write_text("skipped.txt\n")
    (repository / "sub").mkdir()
    for name in ("inner.txt", "skipped.txt", "private.txt"):
        (repository / "sub" / name).write_text("needle\n")
    assert await grep(engine, repository / "sub", "needle") == "inner.txt"


async def test_outside_of_a_repository_ignore_files_count_too(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "sub/nested/.git").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    for name in ("a.txt", "a.tmp", "sub/nested/b.txt", "sub/nested/b.tmp"):
        (tmp_path / name).write_text("needle\n")
    output = await call(GrepTool(engine), tmp_path, pattern="needle")
    assert sorted(output.data["filenames"]) == [
        str(tmp_path / "a.txt"),
        str(tmp_path / "sub/nested/b.txt"),
    ]


async def test_the_users_own_ignore_file_counts(engine: Engine, tmp_path: Path, home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.swp\n")
    (tmp_path / "a.swp").write_text("needle\n")
    (tmp_path / "a.txt").write_text("needle\n")
    assert await grep(engine, tmp_path, "needle") == "a.txt"


@contextmanager
def without_privileges() -> Generator[Path]:
    """A folder of a user for whom modes count; root reads everything otherwise."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        (root / "open").mkdir()
        (root / "open/a.txt").write_text("needle\n")
        (root / "closed").mkdir()
        (root / "closed/b.txt").write_text("needle\n")
        (root / "closed").chmod(0o000)
        privileged = os.geteuid() == 0
        if privileged:
            os.seteuid(65534)
        try:
            yield root
        finally:
            if privileged:
                os.seteuid(0)
            (root / "closed").chmod(0o755)


async def test_a_folder_that_cannot_be_read_is_said(engine: Engine) -> None:
    with without_privileges() as root:
        found = await call(GrepTool(engine), root, pattern="needle")
        listed = await call(GlobTool(engine), root, pattern="*.txt")
    for output in (found, listed):
        assert output.data["filenames"] == [str(root / "open/a.txt")]
        assert "(Could not be read: " in text_of(output)
        assert "closed: Permission denied" in text_of(output)


async def test_a_search_out_of_time_says_so(tree: Path) -> None:
    program = find_ripgrep()
    assert program is not None
    for engine in (Ripgrep(program, timeout=0.0), PlainSearch(timeout=-1.0)):
        output = await call(GrepTool(engine), tree, pattern="needle")
        assert "The search ran out of time: results are incomplete." in text_of(output)
        assert output.data["timedOut"] is True


async def test_unsafe_words_are_patterns_and_names(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "--files").write_text("-v\n")
    (tmp_path / "$(touch x)").write_text("-e\n")
    assert await grep(engine, tmp_path, "-v") == "--files"
    assert await grep(engine, tmp_path, "^-e$", path="$(touch x)") == "$(touch x)"
    names = [entry.name for entry in os.scandir(tmp_path)]
    assert sorted(names) == ["$(touch x)", "--files"]


async def test_a_line_of_80_mb_is_shown_around_its_match(tmp_path: Path) -> None:
    (tmp_path / "wide.js").write_text("x" * (80 << 20) + "needle", encoding="utf-8")
    tool = GrepTool(best_engine())
    output = await call(tool, tmp_path, pattern="needle", output_mode="content")
    assert text_of(output).startswith("wide.js:1:…xxx")
    assert "xneedle (cut; the line has 83,886,086 characters)" in text_of(output)
