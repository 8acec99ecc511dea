"""What must hold of an edit before it may touch a file, worked out from the two texts alone.

Nothing here knows how the edit came about; a model's answer gets no benefit of the doubt.
"""

import ast
import builtins
import io
import keyword
import tokenize
import warnings
from collections.abc import Iterator
from typing import cast

from sidelight.core.content import as_list
from sidelight.core.errors import AgentError

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class ActionError(AgentError):
    """An action did not succeed and changed nothing; read by the user.

    `words` is the sentence with gaps, as the catalogue has it, `fields` what fills them.
    """

    def __init__(self, words: str, **fields: object) -> None:
        super().__init__(words.format(**fields) if fields else words)
        self.words = words
        self.fields = fields


def parse(text: str) -> ast.Module:
    """The tree of a Python file; raises ActionError when it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the user's code, and known there
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or "?"
        raise ActionError(
            "This is not valid Python (line {line}): {error}", line=line, error=_message(error)
        ) from error


def definitions(tree: ast.Module) -> list[Definition]:
    """All functions and classes, in the order of `ast.walk`."""
    return [node for node in ast.walk(tree) if isinstance(node, Definition)]


def require_docstring_only(before: str, after: str, index: int) -> None:
    """Only the docstring of the definition with that index differs: same tree, same comments.

    Raises ActionError.
    """
    trees = parse(before), parse(after)
    for tree in trees:
        found = definitions(tree)
        if index >= len(found):
            raise ActionError("The answer changes more than the docstring.")
        strip_docstring(found[index])
    if _dump(trees[0]) != _dump(trees[1]) or comments(before) != comments(after):
        raise ActionError("The answer changes more than the docstring.")
    if not ast.get_docstring(definitions(parse(after))[index]):
        raise ActionError("The answer has no docstring.")


def require_rename_only(before: str, after: str, old: str, new: str) -> None:
    """`after` is `before` with some of the names `old` written `new`, and nothing else.

    Raises ActionError.
    """
    back = parse(after)
    for node in ast.walk(back):
        for field, value in () if isinstance(node, ast.Constant) else ast.iter_fields(node):
            setattr(node, field, _renamed(value, new, old))
    forth = parse(before)
    if _dump(forth) != _dump(back) or comments(before) != comments(after):
        raise ActionError("The rename would change more than the name {old}.", old=old)


def require_name(text: str, old: str, new: str) -> None:
    """`new` may stand for `old` in this text; raises ActionError with the reason if not."""
    if not new.isidentifier() or keyword.iskeyword(new) or keyword.issoftkeyword(new):
        raise ActionError("{new} is not a name in Python.", new=repr(new))
    if new == old:
        raise ActionError("The new name is the old one: {old}.", old=old)
    if hasattr(builtins, new):
        raise ActionError("{new} would hide a built-in name.", new=new)
    if new in names(parse(text)):
        raise ActionError("{new} is in use in this file already.", new=new)


def names(tree: ast.AST) -> set[str]:
    """Every identifier of a tree: variables, attributes, arguments, keywords, imports."""
    return {
        part
        for node in ast.walk(tree)
        for field, value in ast.iter_fields(node)
        if not isinstance(node, ast.Constant) and field not in {"type_comment", "kind"}
        for part in _identifiers(value)
    }


def comments(text: str) -> list[str]:
    """The comments of a Python text, in order; raises ActionError when it cannot be read."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError) as error:
        raise ActionError(
            "This is not valid Python (line {line}): {error}", line="?", error=_message(error)
        ) from error


def strip_docstring(node: Definition) -> None:
    """Take the docstring out of a definition, if it has one."""
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:]


def _dump(tree: ast.AST) -> str:
    try:
        return ast.dump(tree)
    except RecursionError as error:
        raise ActionError("This file is nested too deeply.") from error


def _renamed(value: object, new: str, old: str) -> object:
    if isinstance(value, str):
        return ".".join(old if part == new else part for part in value.split("."))
    if isinstance(value, list):
        return [_renamed(item, new, old) for item in as_list(cast("object", value))]
    return value


def _identifiers(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from value.split(".")
    elif isinstance(value, list):
        for item in as_list(cast("object", value)):
            if isinstance(item, str):
                yield item


def _message(error: BaseException) -> str:
    return str(getattr(error, "msg", None) or error)
