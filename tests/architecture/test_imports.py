"""Rules about imports that the import contracts cannot say."""

import ast
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server" / "sidelight"

# Third-party packages that cost more than 30 ms to import, each with the one file that imports it
# at use, inside a function.
LAZY = {
    "charset_normalizer": "files/encoding.py",
    "git": "git/state.py",
    "huggingface_hub": "model/local/download.py",
    "PIL": "files/picture.py",
    "jedi": "actions/names.py",
    "regex": "tools/search/expression.py",
    "pypdf": "files/pdf.py",
    "tree_sitter": "tools/bash/parse.py",
    "tree_sitter_bash": "tools/bash/parse.py",
    "watchfiles": "headless/watch.py",
    "xllamacpp": "model/local/serve.py",
}


def modules() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(SERVER).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(SERVER.rglob("*.py"))
    ]


# Modules that are loaded by name, each with the one file that does it: commands one at a time, the
# application after `initialize`, and the SDK without what is never called.
BY_NAME = {
    "cli/main.py": {"importlib.metadata"},
    "cli/lsp.py": {"sidelight.app.editor"},
    "model/sdk.py": {"anthropic"},
}


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module.split(".")[0]]
    return []


def test_imports_inside_functions_are_those_of_the_lazy_list() -> None:
    wrong: list[str] = []
    for name, tree in modules():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                for package in imported(node):
                    if LAZY.get(package) != name:
                        wrong.append(f"{name}:{node.lineno} {package}")  # pyright: ignore
    assert wrong == []


def test_lazy_packages_are_never_imported_at_module_level() -> None:
    wrong = [
        f"{name}: {package}"
        for name, tree in modules()
        for node in tree.body
        for package in imported(node)
        if package in LAZY
    ]
    assert wrong == []


def test_there_is_no_type_checking_block() -> None:
    wrong = [
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == "TYPE_CHECKING"
    ]
    assert wrong == []


def test_only_three_files_load_modules_by_name() -> None:
    loading = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "import_module"
    }
    assert loading == set(BY_NAME)


def test_each_package_that_the_project_is_built_on_is_used() -> None:
    used = {
        package for _, tree in modules() for node in ast.walk(tree) for package in imported(node)
    }
    constants = {
        node.value
        for name, tree in modules()
        if name == "model/sdk.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
    }
    assert {"pygls", "pydantic", "watchfiles", "git"} <= used
    assert "anthropic" in constants
