"""Every kind of bad input is shown by tests that exist."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
KINDS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (TESTS / "bad_input.toml").read_text(encoding="utf-8")
)


def exists(reference: str) -> bool:
    """Whether there is such a test: `file.py::function`, or a file with a name and `run`."""
    path, _, name = reference.partition("::")
    file = TESTS / path
    if not file.is_file():
        return False
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".mjs":
        return all(re.search(f"^export .*{word}", source, re.M) for word in ("name =", "run\\("))
    body = ast.parse(source).body
    functions = {n.name for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    return name.startswith("test_") and name in functions


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_bad_input_has_its_tests(kind: str) -> None:
    references = KINDS[kind]["tests"]
    assert references
    assert [each for each in references if not exists(each)] == []


def test_a_test_that_is_not_there_is_noticed() -> None:
    assert not exists("architecture/test_bad_input.py::test_nothing_of_the_kind")
    assert not exists("architecture/test_bad_input.py::exists")
    assert not exists("e2e/no_such_file.py::test_a")
    assert not exists("clients/vscode/click/panel.mjs")
