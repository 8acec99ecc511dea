"""An async generator that yields inside a task group or cancel scope loses its cancellation."""

import ast
from collections.abc import Iterator
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server" / "sidelight"
SCOPES = ("create_task_group", "CancelScope", "move_on_after", "fail_after")


def opens_scope(node: ast.AST) -> bool:
    return isinstance(node, ast.With | ast.AsyncWith) and any(
        name in ast.unparse(item.context_expr) for item in node.items for name in SCOPES
    )


def yields(node: ast.AST) -> Iterator[ast.AST]:
    """Yields that belong to the same function as the node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.Yield | ast.YieldFrom):
            yield child
        yield from yields(child)


def is_context_manager(function: ast.AST) -> bool:
    return isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(
        "contextmanager" in ast.unparse(decorator) for decorator in function.decorator_list
    )


def test_no_generator_yields_inside_a_scope() -> None:
    wrong: list[str] = []
    for path in sorted(SERVER.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if is_context_manager(function):
                continue
            for node in ast.walk(function):
                if opens_scope(node) and any(True for _ in yields(node)):
                    wrong.append(f"{path.name}:{function.lineno}")
    assert wrong == []
