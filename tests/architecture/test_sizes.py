"""Files stay small enough to be read in one go, and functions smaller."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = sorted(path for path in (ROOT / "server").rglob("*.py") if "sample" not in path.parts)
TESTS = sorted((ROOT / "tests").rglob("*.py"))
CLIENT = sorted(
    path
    for kind in ("ts", "css", "mjs")
    for path in (ROOT / "client-vscode").rglob(f"*.{kind}")
    if not {"node_modules", "out", "dist", "test"} & set(path.parts)
)


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def function_lengths(path: Path) -> list[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{path.name}:{node.lineno}")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_product_file_is_longer_than_400_lines() -> None:
    assert [str(path) for path in (*PRODUCT, *CLIENT) if length(path) > 400] == []


def test_no_test_file_is_longer_than_600_lines() -> None:
    assert [str(path) for path in TESTS if length(path) > 600] == []


def test_functions_are_short() -> None:
    lengths = sorted(found for path in PRODUCT for found in function_lengths(path))
    assert [name for lines, name in lengths if lines > 80] == []
    assert lengths[int(len(lengths) * 0.95)][0] <= 40


@pytest.mark.parametrize("package", sorted({path.parent for path in PRODUCT}), ids=str)
def test_an_init_file_holds_one_docstring_and_nothing_else(package: Path) -> None:
    body = ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body
    assert len(body) == 1
    assert isinstance(body[0], ast.Expr)


def test_no_module_is_named_for_nothing() -> None:
    empty_names = {"utils", "util", "common", "helpers", "misc", "types", "base"}
    assert [str(path) for path in PRODUCT if {path.stem, *path.parts} & empty_names] == []
