"""Reads command text as bash into a plain tree, or says why it cannot tell."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

LONGEST = 10_000
DEEPEST = 60
BLANKS = frozenset(" \t\n")
TEXTUAL = frozenset(
    {"string", "heredoc_body", "heredoc_redirect", "comment", "concatenation", "expansion"}
)
COMMANDS = frozenset({"command", "declaration_command", "unset_command", "file_redirect"})
ONE_LINE = COMMANDS | {"redirected_statement", "variable_assignments", "negated_command"}
METACHARACTERS = frozenset(b"|&;<>()")
GAPLESS = frozenset({"concatenation", "variable_assignment", "simple_expansion", "subscript"})
BLANK = re.compile(r"(?<!\\)(?:\\\\)*[ \t\n]")
SPLIT_SIGN = re.compile(r"[$<>]\\\n")
WORDS = frozenset(
    {"word", "number", "string", "raw_string", "ansi_c_string", "concatenation", "command_name",
     "simple_expansion", "expansion", "command_substitution", "process_substitution",
     "arithmetic_expansion", "brace_expression", "variable_assignment", "$", "extglob_pattern"}
)  # fmt: skip
MASK = bytes(byte if byte < 0x80 else ord(".") for byte in range(256))
"""Bytes of letters outside ASCII become dots: word characters to bash, of the same length, and
no names. The grammar's scanner looks such letters up beyond its table and can crash."""
CASE_ENDS = frozenset({";;", ";&", ";;&"})
INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Cs", "Co"})


@dataclass(frozen=True, slots=True)
class Node:
    """One node: `field` is its part in the parent, `named` is False for bare punctuation.

    `start` and `end` count bytes of the whole text in UTF-8.
    """

    type: str
    text: str
    start: int
    end: int
    named: bool
    field: str
    children: tuple["Node", ...]

    def all(self, field: str) -> tuple["Node", ...]:
        """The children with that part, in order."""
        return tuple(child for child in self.children if child.field == field)

    def one(self, field: str) -> "Node | None":
        """The first child with that part."""
        return next(iter(self.all(field)), None)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why the text cannot be judged; one sentence for people, without a full stop."""

    reason: str


def parse(command: str) -> Node | Unreadable:
    """The tree of a whole command text; never raises."""
    complaint = _complaint(command)
    if complaint:
        return Unreadable(complaint)
    data = command.encode()
    root = _parser().parse(data.translate(MASK)).root_node
    if root.has_error:
        return Unreadable("the command does not parse as bash")
    return _plain(root, data)


def _complaint(command: str) -> str:
    if len(command) > LONGEST:
        return f"the command is longer than {LONGEST:,} characters"
    if SPLIT_SIGN.search(command):
        return "a line is continued inside a sign"
    for character in command:
        if character in BLANKS or character.isascii() and character.isprintable():
            continue
        if unicodedata.category(character) in INVISIBLE or _ignorable(character):
            return f"the command holds the invisible character U+{ord(character):04X}"
    return ""


def _ignorable(character: str) -> bool:
    """Letters that show nothing: Hangul fillers, variation selectors, the Braille blank."""
    code = ord(character)
    if code == 0xFE0F:
        return False
    return (
        code in {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
    )


@lru_cache(maxsize=1)
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _plain(root: Any, data: bytes) -> Node | Unreadable:
    try:
        return _node(root, "", data, 0)
    except _Lost as lost:
        return Unreadable(str(lost))


class _Lost(Exception):
    """The parser's tree leaves something out."""


def _node(raw: Any, field: str, data: bytes, depth: int) -> Node:
    if depth > DEEPEST:
        raise _Lost("the command is nested too deeply")
    children = tuple(
        _node(child, raw.field_name_for_child(index) or "", data, depth + 1)
        for index, child in enumerate(raw.children)
    )
    if children and raw.type not in TEXTUAL:
        _nothing_lost(children, data, one_line=raw.type in ONE_LINE)
    if raw.type != "case_item" and any(child.type in CASE_ENDS for child in children):
        raise _Lost("the command does not parse as bash")
    if raw.type in GAPLESS:
        _no_gap(children)
    if raw.type == "heredoc_redirect":
        _whole_heredoc(children, data)
    text = data[raw.start_byte : raw.end_byte].decode()
    if raw.type in COMMANDS and any(child.type == "comment" for child in children):
        raise _Lost("a comment stands inside a command")
    single = raw.type == "test_command" and not text.startswith("[[")
    if single and "\n" in text.replace("\\\n", ""):
        raise _Lost("a condition goes on over lines")
    if raw.type == "word" and BLANK.search(text):
        raise _Lost("a word of the command cannot be read")
    return Node(raw.type, text, raw.start_byte, raw.end_byte, raw.is_named, field, children)


def _nothing_lost(children: tuple[Node, ...], data: bytes, *, one_line: bool) -> None:
    """Between two children there may be blanks and line continuations, nothing else."""
    for left, right in zip(children, children[1:], strict=False):
        gap = data[left.end : right.start]
        if one_line and b"\n" in gap.replace(b"\\\n", b""):
            raise _Lost("part of the command cannot be placed")
        if gap.replace(b"\\\n", b"").strip(b" \t\n"):
            raise _Lost("part of the command cannot be placed")
        glued = not gap.replace(b"\\\n", b"")
        words = left.type in WORDS and right.type in WORDS
        ends = {data[left.end - 1], data[right.start]}
        if glued and (words or (gap and not ends & METACHARACTERS)):
            raise _Lost("a word of the command cannot be put together")


def _no_gap(children: tuple[Node, ...]) -> None:
    for left, right in zip(children, children[1:], strict=False):
        if left.end != right.start:
            raise _Lost("a word of the command cannot be put together")


def _whole_heredoc(children: tuple[Node, ...], data: bytes) -> None:
    """The body begins on the next line and ends at the first line that is the delimiter."""
    parts = {child.type: child for child in children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    if start is None or end is None:
        raise _Lost("a here-document cannot be read")
    first = data.find(b"\n", start.end) + 1
    dashed = any(child.text == "<<-" for child in children)
    position = first
    for line in data[first:].split(b"\n"):
        plain = line.lstrip(b"\t") if dashed else line
        if plain == end.text.encode():
            position += len(line) - len(plain)
            break
        position += len(line) + 1
    body = parts.get("heredoc_body")
    late = body is not None and data[first : body.start].strip(b"\t")
    if position != end.start or late or (body is not None and body.start < first):
        raise _Lost("a here-document cannot be read")
