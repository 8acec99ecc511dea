"""Expands words as bash would, and doubts aloud where the text alone cannot tell."""

import re
from collections.abc import Callable, Sequence

from sidelight.tools.bash.ansi import decoded
from sidelight.tools.bash.atoms import (
    HOME,
    Atoms,
    Unfolding,
    Word,
    known_value,
    literal,
    unescaped,
    unknown,
    words_of,
)
from sidelight.tools.bash.parse import Node
from sidelight.tools.bash.state import State, Value
from sidelight.tools.bash.variables import dangerous

LIVE_DOLLAR = re.compile(r"\$[A-Za-z_0-9(\[{?#@*!$\-]|`")
LIVE_PIPE = re.compile(r"[<>]\(")
LIVE_QUOTE = re.compile(r"\$['\"]")
NUMBERS = frozenset({"?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID"})
LISTS = frozenset({"@", "*"})
PLAIN_OPERATORS = frozenset(
    {":-", "-", ":+", "+", ":?", "?", "#", "##", "%", "%%", "/", "//", "^", "^^", ",", ",,", ":"}
)
ARITHMETIC_SHELLS = frozenset(
    {"binary_expression", "unary_expression", "postfix_expression", "parenthesized_expression",
     "ternary_expression"}
)  # fmt: skip
ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "++", "--"})
NUMBER = re.compile(r"(?:0[xX])?[0-9a-fA-F]+|\d+")
NAME = re.compile(r"[A-Za-z_]\w*")


class Expander:
    """Expands the words of one command; `state` moves along with assignments in arithmetic.

    `run` is called for each substitution found, `doubts` collects what cannot be told.
    """

    def __init__(self, state: State, run: Callable[[Node, State], None]) -> None:
        self.state = state
        self.doubts: list[str] = []
        self._run = run
        self._handlers: dict[str, Callable[[Node, bool], Atoms]] = {
            "word": self._plain,
            "number": self._plain,
            "brace_expression": self._plain,
            "extglob_pattern": self._plain,
            "regex": self._plain,
            "test_operator": self._plain,
            "variable_name": self._plain,
            "$": self._lone_dollar,
            "raw_string": self._raw,
            "ansi_c_string": self._ansi,
            "string": self._string,
            "concatenation": self._joined,
            "command_name": self._joined,
            "simple_expansion": self._simple,
            "expansion": self._braced,
            "command_substitution": self._substitution,
            "process_substitution": self._pipe,
            "arithmetic_expansion": self._arithmetic_value,
        }

    def words(self, nodes: Sequence[Node]) -> list[Word]:
        """All words that these nodes become, in order."""
        return [word for node in nodes for word in self.word(node)]

    def word(self, node: Node) -> list[Word]:
        """The words that one node becomes: usually one."""
        atoms = self.atoms(node, quoted=False)
        try:
            return words_of(atoms, self.state.folder)
        except Unfolding:
            self._doubt("what a brace expansion becomes cannot be told")
            return [Word("\0", loose=True)]

    def value(self, node: Node | None) -> Value:
        """What a variable holds after being assigned this word (no splitting, no globs)."""
        if node is None:
            return Value("")
        if node.type == "array":
            for child in node.children:
                if child.named:
                    self.word(child)
            return Value()
        numeric = node.type == "arithmetic_expansion"
        text = "".join(character for character, _ in self.atoms(node, quoted=True))
        if "\0" in text or HOME in text or text.startswith("~"):
            return Value(None, numeric)
        return Value(text, bool(NUMBER.fullmatch(text)))

    def scan(self, node: Node) -> None:
        """Look for substitutions in text whose value does not matter."""
        for child in node.children or (node,):
            if child.named and child.type not in {"heredoc_start", "heredoc_end", "comment"}:
                self.atoms(child, quoted=True)

    def atoms(self, node: Node, quoted: bool) -> Atoms:
        """The characters that a node stands for."""
        handler = self._handlers.get(node.type)
        if handler is None:
            return self._doubt(f"this part of the command cannot be read: {node.text[:40]!r}")
        return handler(node, quoted)

    def arithmetic(self, node: Node) -> None:
        """Walk an arithmetic expression; only plain numbers and counters are understood."""
        if node.type in ARITHMETIC_SHELLS:
            self._counted(node)
            for child in node.children:
                if child.named and child.type != "test_operator":
                    self.arithmetic(child)
        elif node.type == "variable_assignment":
            self._counted(node)
            for child in node.all("value"):
                self.arithmetic(child)
        elif node.type in {"variable_name", "word", "number"}:
            self._number(node.text)
        elif node.type in {"simple_expansion", "arithmetic_expansion"}:
            self._expanded_number(node)
        else:
            self._doubt("arithmetic evaluates text that is only known when it runs")
            self._nested(node)

    def _nested(self, node: Node) -> None:
        """Run the substitutions in a part that is not understood: deny rules still see them."""
        if node.type in {"command_substitution", "process_substitution"}:
            self._execute(node)
            return
        for child in node.children:
            self._nested(child)

    def _expanded_number(self, node: Node) -> None:
        for child in node.children:
            if not child.named:
                continue
            if child.type == "special_variable_name" and child.text in NUMBERS:
                continue
            self.arithmetic(child)

    def _counted(self, node: Node) -> None:
        operators = {child.text for child in node.children if not child.named}
        first = next((c for c in node.children if c.named), None)
        if first is None or not operators & ASSIGNING:
            return
        if NAME.fullmatch(first.text) is None:
            self._doubt("arithmetic assigns to something other than a plain variable")
            return
        if dangerous(first.text):
            self._doubt("arithmetic sets a variable that steers later commands")
        known = self.state.variables.get(first.text, Value())
        if operators & {"="} or known.numeric:
            self.state = self.state.with_variable(first.text, Value(None, numeric=True))

    def _number(self, text: str) -> None:
        if NUMBER.fullmatch(text) and text[0].isdigit():
            return
        if not self.state.variables.get(text, Value()).numeric and text not in NUMBERS:
            self._doubt("arithmetic evaluates a variable whose value is not known to be a number")

    def _doubt(self, reason: str) -> Atoms:
        self.doubts.append(reason)
        return unknown(quoted=False)

    def _plain(self, node: Node, quoted: bool) -> Atoms:
        if quoted:
            return [(c, "quoted") for c, _ in self._plain(node, quoted=False)]
        atoms = unescaped(node.text, within_double_quotes=False)
        bare = "".join(c if quoting == "plain" else " " for c, quoting in atoms)
        if LIVE_DOLLAR.search(bare) or LIVE_QUOTE.search(bare) or LIVE_PIPE.search(bare):
            return self._doubt("a $ cannot be placed")
        return atoms

    def _lone_dollar(self, node: Node, quoted: bool) -> Atoms:
        return literal(node.text, "quoted")

    def _raw(self, node: Node, quoted: bool) -> Atoms:
        return literal(node.text[1:-1], "quoted")

    def _ansi(self, node: Node, quoted: bool) -> Atoms:
        text = decoded(node.text[2:-1])
        return (
            self._doubt("a $'...' string cannot be read")
            if text is None
            else literal(text, "quoted")
        )

    def _string(self, node: Node, quoted: bool) -> Atoms:
        """Gaps between the children are text: the parser's tree leaves some of it out."""
        atoms: Atoms = [("", "quoted")]
        data = node.text.encode()
        position = node.start + 1
        for child in (*node.children[1:-1], None):
            end = child.start if child else node.end - 1
            atoms.extend(self._quoted_text(data[position - node.start : end - node.start].decode()))
            if child is None:
                break
            if child.type == "string_content":
                atoms.extend(self._quoted_text(child.text))
            else:
                atoms.extend(self.atoms(child, quoted=True))
            position = child.end
        return atoms

    def _quoted_text(self, text: str) -> Atoms:
        live = re.sub(r"\\.", "  ", text.replace("\\\n", ""), flags=re.DOTALL)
        if LIVE_DOLLAR.search(live) or '"' in live:
            return self._doubt("a quoted string cannot be read")
        return unescaped(text, within_double_quotes=True)

    def _joined(self, node: Node, quoted: bool) -> Atoms:
        return [atom for child in node.children for atom in self.atoms(child, quoted)]

    def _simple(self, node: Node, quoted: bool) -> Atoms:
        return self._variable(node.text[1:], quoted)

    def _variable(self, name: str, quoted: bool) -> Atoms:
        value = self.state.variables.get(name)
        if name in LISTS:
            return unknown(quoted=False)
        if name == "IFS" and not quoted:
            return self._doubt("$IFS splits a word in a way that the text does not show")
        if value is None:
            return self._inherited(name, quoted)
        if value.text is not None:
            return known_value(value.text, quoted)
        if value.pattern and quoted:
            return [(character, "match") for character in value.pattern]
        return unknown(quoted or value.numeric)

    def _inherited(self, name: str, quoted: bool) -> Atoms:
        """A variable that this text does not set."""
        if name == "HOME":
            return [(HOME, "quoted")]
        folder = self.state.folder
        if name == "PWD" and folder is not None and folder.startswith("/"):
            return known_value(folder, quoted=True)
        return unknown(quoted or name in NUMBERS)

    def _braced(self, node: Node, quoted: bool) -> Atoms:
        operators = [c.text for c in node.children if c.field == "operator" and not c.named]
        inner = [child for child in node.children if child.named]
        if not inner or not self._ordinary(node, operators, inner[0]):
            return self._doubt("an expansion evaluates text: " + node.text[:40])
        for child in inner[1:]:
            self.atoms(child, quoted=True)
        if inner[0].type == "subscript":
            return unknown(quoted=False)
        if operators[:1] == ["#"] and node.children[1].text == "#":
            return unknown(quoted=True)
        return unknown(quoted) if operators else self._variable(inner[0].text, quoted)

    def _ordinary(self, node: Node, operators: list[str], first: Node) -> bool:
        """Whether the expansion only looks at a variable."""
        if first.type == "subscript":
            index = first.one("index")
            if index is None or not (index.text in LISTS or index.text.isdigit()):
                return False
        elif first.type not in {"variable_name", "special_variable_name"}:
            return False
        if operators and operators[0] == "@":
            return operators[1:] in (["Q"], ["U"], ["L"], ["u"])
        if operators and operators[0] == ":":
            return bool(re.fullmatch(r"\$\{\w+:\s?-?\d+(:-?\d+)?\}", node.text))
        return all(operator in PLAIN_OPERATORS for operator in operators)

    def _substitution(self, node: Node, quoted: bool) -> Atoms:
        self._execute(node)
        return unknown(quoted)

    def _execute(self, node: Node) -> None:
        """Judge a substitution; backslashes within backticks change the script before it runs."""
        if node.text.startswith("`") and "\\" in node.text:
            self._doubt("backticks hold a backslash")
        self._run(node, self.state)

    def _pipe(self, node: Node, quoted: bool) -> Atoms:
        self._execute(node)
        return literal("/dev/fd/63", "quoted")

    def _arithmetic_value(self, node: Node, quoted: bool) -> Atoms:
        for child in node.children:
            if child.named:
                self.arithmetic(child)
        return unknown(quoted=True)
