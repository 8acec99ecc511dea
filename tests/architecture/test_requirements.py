"""A requirement that is called done is shown by a test that names it."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROWS: dict[str, str] = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))[
    "rows"
]


def named(expression: ast.expr) -> Iterator[str]:
    """The rows of every `pytest.mark.req(...)` within an expression."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req":
            yield from (ast.literal_eval(argument) for argument in node.args)


def marked(source: str) -> set[str]:
    """The rows that tests of a file name, by a decorator or for the whole file."""
    of_tests: set[str] = set()
    of_file: set[str] = set()
    tests = 0
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test_"):
                tests += 1
                of_tests.update(row for mark in node.decorator_list for row in named(mark))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            of_file.update(named(node.value))
    return of_tests | of_file if tests else set()


def all_marked() -> set[str]:
    files = TESTS.rglob("test_*.py")
    return {row for path in files for row in marked(path.read_text(encoding="utf-8"))}


def test_every_row_is_done_or_open() -> None:
    assert set(ROWS.values()) == {"done", "open"}


def test_every_row_that_is_done_has_a_test() -> None:
    done = {row for row, state in ROWS.items() if state == "done"}
    assert sorted(done - all_marked()) == []


def test_every_mark_names_a_row() -> None:
    assert sorted(all_marked() - set(ROWS)) == []


def test_only_marks_of_tests_count() -> None:
    source = """
import pytest
pytestmark = [pytest.mark.anyio, pytest.mark.req("A-01")]
# @pytest.mark.req("A-02")
@pytest.mark.req("A-03")
def helper(): '''@pytest.mark.req("A-04")'''
@pytest.mark.req("A-05")
async def test_it(): ...
"""
    assert marked(source) == {"A-01", "A-05"}
    assert marked('import pytest\npytestmark = pytest.mark.req("A-01")\n') == set()
