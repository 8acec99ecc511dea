"""Ripgrep's regular expressions without ripgrep."""

import re
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from sidelight.tools.search.query import Query, failure

LOOKAROUND = "look-around, including look-ahead and look-behind, is not supported"
FOREIGN = (
    (re.compile(r"\(\?<?[=!]"), LOOKAROUND),
    (re.compile(r"\\[1-9]|\(\?P[=>]"), "backreferences are not supported"),
    (re.compile(r"\(\?[>|(&#R]"), "unrecognized flag"),
    (re.compile(r"\\(?![abBdDfnrsStvwWAzxuUpP])[a-zA-Z]"), "unrecognized escape sequence"),
    (re.compile(r"\{(?!\d+(?:,\d*)?\})"), "repetition quantifier expects a valid decimal"),
)
"""What the library knows and ripgrep does not, by the beginning of a token."""
TOKEN = re.compile(
    r"\\[pPxuU]\{[^}]*\}|\\b\{[a-z-]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]"
    r"|\(\?P?<\w+>|\(\?.?.?|\{[^}]*\}?|.",
    re.DOTALL,
)
TIMES = re.compile(r"[*+?]|\{\d+(?:,\d*)?\}")
OWN_WAY = {
    r"\<": r"\m",
    r"\>": r"\M",
    r"\b{start}": r"\m",
    r"\b{end}": r"\M",
    r"\z": r"\Z",
}
WORDS = {
    "missing )": "unclosed group",
    "unbalanced parenthesis": "unopened group",
    "nothing to repeat": "repetition operator missing expression",
    "unterminated character set": "unclosed character class",
}


class Expression:
    """A compiled pattern. Searching lets other threads run, and ends at a deadline."""

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def spans(self, text: str, deadline: float) -> Iterator[tuple[int, int]]:
        """Where matches begin and end; raises TimeoutError after `deadline`, a monotonic time."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        for match in self._pattern.finditer(text, concurrent=True, timeout=left):
            yield match.span()


def compile_query(query: Query) -> Expression:
    """The query's pattern; raises ToolError in ripgrep's words where it would."""
    import regex

    if not query.multiline and re.search(r"(?<!\\)(?:\\\\)*\\n|\n", query.pattern):
        raise failure('the literal "\\n" is not allowed in a regex')
    tokens = TOKEN.findall(query.pattern)
    if any(token == "+" and TIMES.fullmatch(before) for before, token in pairwise(tokens)):
        raise failure("regex parse error: a repetition of a repetition; set the inner one in (?:)")
    pattern = "".join(_translated(token) for token in tokens)
    flags = regex.VERSION1 | regex.MULTILINE
    flags |= regex.IGNORECASE if query.ignore_case else 0
    flags |= regex.DOTALL if query.multiline else 0
    simple = f"(?-f:{pattern})" if query.ignore_case else pattern
    try:
        return Expression(regex.compile(simple, flags))
    except regex.error as error:
        message = str(error).partition(" at position")[0]
        said = WORDS.get(message, message)
        raise failure(f"regex parse error: {said}: {query.pattern}") from error


def _translated(token: str) -> str:
    """A token as the library writes it; raises ToolError for one that ripgrep does not know."""
    for foreign, complaint in FOREIGN:
        if foreign.match(token):
            raise failure(f"regex parse error: {complaint}: {token}")
    code = re.fullmatch(r"\\[xuU]\{([0-9A-Fa-f]{1,6})\}", token)
    if code and int(code[1], 16) <= sys.maxunicode:
        return re.escape(chr(int(code[1], 16)))
    return OWN_WAY.get(token, token)
