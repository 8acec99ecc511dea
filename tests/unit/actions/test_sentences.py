"""Every sentence that an action shows has a Chinese text."""

import ast
from pathlib import Path

from sidelight.wire.catalogue import CHINESE

SERVER = Path(__file__).resolve().parents[3] / "server" / "sidelight"
FILES = [*(SERVER / "actions").glob("*.py"), SERVER / "lsp" / "features" / "actions.py"]
SHOWN = {"ActionError", "Done", "say", "_start", "_watched"}


def texts(node: ast.expr, constants: dict[str, str]) -> set[str]:
    found = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
    named = {constants.get(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)}
    return {text for text in found | named if isinstance(text, str) and " " in text}


def shown() -> set[str]:
    """The sentences given to what shows them, by value or by a name of their file."""
    sentences: set[str] = set()
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = {
            ast.unparse(node.targets[0]): node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in SHOWN:
                for argument in node.args:
                    if isinstance(argument, ast.Constant | ast.Name):
                        sentences |= texts(argument, constants)
        sentences |= {text for name, text in constants.items() if name in {"words", "BUG"}}
    return sentences - {"Explained."}


def test_every_sentence_of_an_action_has_a_chinese_text() -> None:
    assert len(shown()) > 25
    assert sorted(shown() - set(CHINESE)) == []
