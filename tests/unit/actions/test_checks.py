"""What a model may have done to a text instead of what it was asked for; none of it passes."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.actions.checks import (
    ActionError,
    require_docstring_only,
    require_name,
    require_rename_only,
)
from sidelight.actions.docstrings import docstring_edit, spot
from sidelight.core.host import TextEdit

BEFORE = """import json  # for load_all


def load(path, deep=False):
    # read it
    with open(path) as file:
        return json.load(file)


def load_all(paths):
    return [load(path, deep=True) for path in paths]
"""


def with_docstring(text: str, line: int, words: str) -> str:
    where = spot(text, line)
    edit = docstring_edit(text, where, words)
    after = text[: edit.start] + edit.new_text + text[edit.end :]
    require_docstring_only(text, after, where.index)
    return after


GOOD = with_docstring(BEFORE, 4, "Read a file.")
LOAD = 0


def test_a_docstring_alone_passes() -> None:
    assert (
        BEFORE.replace("deep=False):\n", 'deep=False):\n    """Read a file."""\n', 1).replace(
            '    """Read a file."""\n    # read it\n', '    # read it\n    """Read a file."""\n'
        )
        == GOOD
    )
    require_docstring_only(BEFORE, GOOD, LOAD)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (GOOD.replace("json.load(file)", "json.loads(file.read())"), "changes more"),
        (GOOD.replace("deep=True", "deep=False"), "changes more"),
        (GOOD.replace("# read it", "# reads"), "changes more"),
        (GOOD.replace("  # for load_all", ""), "changes more"),
        (GOOD.replace("def load_all(paths):\n", 'def load_all(paths):\n    """X."""\n'), "more"),
        (GOOD + "\n\nload('x')\n", "changes more"),
        (GOOD[: GOOD.index("def load_all")], "changes more"),
        (GOOD[: GOOD.index("return [load") + 15], "not valid Python"),
        ("```python\n" + GOOD + "```\n", "not valid Python"),
        ("Here is the function:\n" + GOOD, "not valid Python"),
        ("", "changes more"),
        (BEFORE, "has no docstring"),
    ],
)
def test_anything_else_beside_a_docstring_is_refused(after: str, why: str) -> None:
    assert after != GOOD
    with pytest.raises(ActionError, match=why):
        require_docstring_only(BEFORE, after, LOAD)


def test_a_docstring_at_another_function_is_refused() -> None:
    with pytest.raises(ActionError, match="changes more"):
        require_docstring_only(BEFORE, with_docstring(BEFORE, 10, "All of them."), LOAD)


RENAMED = BEFORE.replace("def load(", "def fetch(").replace("[load(", "[fetch(")


def test_a_rename_of_a_name_alone_passes() -> None:
    require_rename_only(BEFORE, RENAMED, "load", "fetch")


@pytest.mark.parametrize(
    "after",
    [
        RENAMED.replace("def load_all", "def fetch_all"),
        RENAMED.replace("# for load_all", "# for fetch_all"),
        RENAMED.replace("deep", "deeply"),
        RENAMED.replace("return json.load(file)", "return json.load(file) or {}"),
        RENAMED.replace("    # read it\n", ""),
        RENAMED[: RENAMED.index("def load_all")],
        RENAMED[:-20],
        RENAMED.replace("def fetch(", "def retrieve("),
        "```python\n" + RENAMED + "```",
        "",
    ],
)
def test_a_rename_that_does_more_is_refused(after: str) -> None:
    with pytest.raises(ActionError):
        require_rename_only(BEFORE, after, "load", "fetch")


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("load_all", "in use in this file already"),
        ("deep", "in use in this file already"),
        ("json", "in use in this file already"),
        ("load", "the old one"),
        ("print", "would hide a built-in"),
        ("class", "not a name"),
        ("match", "not a name"),
        ("two words", "not a name"),
        ("2nd", "not a name"),
        ("a.b", "not a name"),
        ("", "not a name"),
        ("f(); import os", "not a name"),
    ],
)
def test_a_new_name_that_cannot_stand_there_is_refused(new: str, why: str) -> None:
    with pytest.raises(ActionError, match=why):
        require_name(BEFORE, "load", new)


TRICKY = '''class A:
\t@property
\tdef b(self) -> int:
\t\t"""Old\twords.

\t\tMore.
\t\t"""
\t\treturn 1

\tasync def c(self):
\t\t@d
\t\tdef e(): pass
\t\treturn e
'''


@pytest.mark.parametrize(
    ("line", "name"), [(1, "A"), (2, "b"), (3, "b"), (8, "b"), (10, "c"), (11, "e"), (13, "c")]
)
def test_the_innermost_definition_at_a_line_is_meant(line: int, name: str) -> None:
    assert spot(TRICKY, line).name == name


def test_where_there_is_no_definition_or_no_place_it_is_said() -> None:
    with pytest.raises(ActionError, match="Put the cursor into a function or a class"):
        spot(BEFORE, 1)
    with pytest.raises(ActionError, match="e is written on one line; there is no place"):
        with_docstring(TRICKY, 12, "Words.")


def test_an_older_docstring_is_replaced_and_tabs_and_line_ends_stay() -> None:
    after = with_docstring(TRICKY.replace("\n", "\r\n"), 3, "New.\n\nLonger.")
    wanted = '\t\t"""New.\n\n\t\tLonger.\n\t\t"""\n'
    start, end = TRICKY.index('\t\t"""Old'), TRICKY.index("\t\treturn 1")
    assert after == (TRICKY[:start] + wanted + TRICKY[end:]).replace("\n", "\r\n")


def test_a_docstring_goes_above_the_decorator_of_what_follows() -> None:
    after = with_docstring(TRICKY, 10, "Words.")
    assert '\tasync def c(self):\n\t\t"""Words."""\n\t\t@d\n' in after


def test_columns_are_counted_in_characters_where_python_counts_bytes() -> None:
    text = 'def f(ä="ö"):\n    """ÄÖ "ü" 𝄞."""; return 1\n'
    assert with_docstring(text, 1, "Neu.") == 'def f(ä="ö"):\n    """Neu."""; return 1\n'


@given(st.text(max_size=80), st.sampled_from(["\n", "\r\n"]))
def test_whatever_words_come_the_code_stays_and_the_docstring_holds_them(
    words: str, eol: str
) -> None:
    text = "def f(x):\n    # why\n    return x\n".replace("\n", eol)
    try:
        after = with_docstring(text, 1, words)
    except ActionError:
        return
    function = ast.parse(after).body[0]
    assert isinstance(function, ast.FunctionDef)
    docstring = ast.get_docstring(function)
    assert docstring is not None
    assert "".join(docstring.split()) == "".join(words.split())


def test_an_edit_is_as_small_as_it_can_be() -> None:
    edit = docstring_edit("def f():\n    return 1\n", spot("def f():\n    return 1\n", 1), "One.")
    assert edit == TextEdit(start=13, end=13, new_text='"""One."""\n    ')
