"""Puts a docstring where it belongs; the words come from elsewhere, the edit is made here."""

import ast
import inspect
import io
from dataclasses import dataclass

from sidelight.actions.checks import ActionError, Definition, definitions, parse
from sidelight.core.host import TextEdit

NEITHER = "Put the cursor into a function or a class."


@dataclass(frozen=True, slots=True)
class Spot:
    """A definition that a docstring is wanted for; `index` as in `checks.definitions`."""

    index: int
    name: str
    source: str
    node: Definition


def spot(text: str, line: int) -> Spot:
    """The innermost function or class that holds a line (1-based); raises ActionError."""
    tree = parse(text)
    holding = [
        (first_line(node), index, node)
        for index, node in enumerate(definitions(tree))
        if first_line(node) <= line <= (node.end_lineno or node.lineno)
    ]
    if not holding:
        raise ActionError(NEITHER)
    first, index, node = max(holding, key=lambda held: held[:2])
    source = "".join(lines_of(text)[first - 1 : node.end_lineno])
    return Spot(index, node.name, source, node)


def docstring_edit(text: str, where: Spot, words: str) -> TextEdit:
    """The edit that gives a definition these words as its docstring, instead of an older one.

    Raises ActionError when there is no place for it.
    """
    lines, body = lines_of(text), where.node.body
    start = offset(lines, first_line(body[0]), _column(lines, body[0]))
    line = lines[first_line(body[0]) - 1]
    indent = line[: len(line) - len(line.lstrip())]
    if not _begins_its_line(body[0], line):
        raise ActionError("{name} is written on one line; there is no place.", name=where.name)
    literal = _literal(words, indent, "\r\n" if "\r\n" in text else "\n")
    if ast.get_docstring(where.node, clean=False) is not None:
        end_line, end_bytes = body[0].end_lineno or 0, body[0].end_col_offset or 0
        end = offset(lines, end_line, _characters(lines[end_line - 1], end_bytes))
        return TextEdit(start=start, end=end, new_text=literal)
    eol = "\r\n" if "\r\n" in text else "\n"
    return TextEdit(start=start, end=start, new_text=f"{literal}{eol}{indent}")


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them, with their ends."""
    return io.StringIO(text, newline="").readlines()


def offset(lines: list[str], line: int, column: int) -> int:
    """The code point of a line (1-based) and column."""
    return sum(map(len, lines[: line - 1])) + column


def first_line(node: ast.stmt) -> int:
    """Where a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _column(lines: list[str], node: ast.stmt) -> int:
    if first_line(node) != node.lineno or getattr(node, "decorator_list", []):
        line = lines[first_line(node) - 1]
        return len(line) - len(line.lstrip())  # at the sign of the first decorator
    return _characters(lines[node.lineno - 1], node.col_offset)


def _characters(line: str, count: int) -> int:
    """Python counts columns in bytes of UTF-8."""
    return len(line.encode()[:count].decode())


def _begins_its_line(node: ast.stmt, line: str) -> bool:
    return first_line(node) != node.lineno or not line.encode()[: node.col_offset].strip()


def _literal(words: str, indent: str, eol: str) -> str:
    lines = inspect.cleandoc(words).strip().splitlines()
    if not lines:
        raise ActionError("The answer has no docstring.")
    safe = [_escaped(line.rstrip()) for line in lines]
    if len(safe) == 1:
        return f'"""{safe[0]}"""'
    rest = [indent + line if line else "" for line in safe[1:]]
    return eol.join([f'"""{safe[0]}', *rest, f'{indent}"""'])


def _escaped(line: str) -> str:
    line = line.replace("\\", "\\\\")
    return line.replace('"', '\\"') if '"""' in line or line.endswith('"') else line
