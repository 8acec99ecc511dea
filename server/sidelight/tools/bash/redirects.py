"""Redirects of a command: the files they open, the text they feed in, and what hides in them."""

import re

from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.parse import Node
from sidelight.tools.bash.report import DESCRIPTOR, STREAMS, Report
from sidelight.tools.bash.words import Expander

DUPLICATE = re.compile(r"\d*-?")
LIVE = re.compile(r"[$`\\]")
WRITING = frozenset({">", ">>", ">|", "&>", "&>>"})


class Redirects:
    """Reports the files as they are added.

    `stdin` is the text that the command gets, where it is written out; `arguments` are words that
    the parser takes for redirect targets but the shell for arguments; `can_fail` says that the
    command might not run at all.
    """

    def __init__(self, report: Report, expander: Expander, text: str) -> None:
        self.stdin: str | None = None
        self.arguments: list[Node] = []
        self.can_fail = False
        self._report = report
        self._expander = expander
        self._text = text

    @property
    def doubts(self) -> list[str]:
        """What could not be told."""
        return self._expander.doubts

    def add(self, node: Node) -> None:
        """Take in one redirect."""
        if node.type == "file_redirect":
            self._file(node)
        elif node.type == "herestring_redirect":
            words = self._expander.words([child for child in node.children if child.named])
            self.stdin = words[0].text if len(words) == 1 and words[0].known else None
        elif node.type == "heredoc_redirect":
            self._heredoc(node)
        else:
            self.doubts.append("this redirect is not understood")

    def _file(self, node: Node) -> None:
        operator = "".join(child.text for child in node.children if not child.named)
        targets = node.all("destination")
        self.arguments.extend(targets[1:])
        for target in targets[:1]:
            words = self._expander.word(target)
            if len(words) != 1:
                self.doubts.append("a redirect's target is only known when it runs")
                continue
            self._open(operator, words[0])

    def _open(self, operator: str, word: Word) -> None:
        if operator in {">&", "<&"} and DUPLICATE.fullmatch(word.text):
            return
        if word.text not in STREAMS and not DESCRIPTOR.fullmatch(word.text):
            self.can_fail = True
        state = self._expander.state
        if operator == "<":
            self._report.read(word, state, self._text)
        elif operator in WRITING or operator == ">&":
            target = Word("./-") if word.text == "-" else word
            self._report.write(target, state, self._text)
        else:
            self.doubts.append("this redirect is not understood")

    def _heredoc(self, node: Node) -> None:
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        for redirect in node.all("redirect"):
            self.add(redirect)
        if start is None:
            self.doubts.append("a here-document cannot be read")
            return
        if body is None:
            self.stdin = ""
        elif re.search(r"['\"\\]", start.text):
            self.stdin = body.text
        else:
            self._expanded(body)

    def _expanded(self, body: Node) -> None:
        """An unquoted here-document: its substitutions run, the parser leaves backticks out."""
        self.stdin = None if LIVE.search(body.text) else body.text
        bare = re.sub(r"\\.", "  ", body.text.replace("\\\n", ""), flags=re.DOTALL)
        inner = "".join(_substitutions(body))
        if bare.count("`") > inner.count("`"):
            self.doubts.append("a here-document holds backticks")
        if len(re.findall(r"\$[({\[]", bare)) > len(re.findall(r"\$[({\[]", inner)):
            self.doubts.append("a here-document cannot be read")
        for child in body.children:
            if child.type != "heredoc_content":
                self._expander.atoms(child, quoted=True)


def _substitutions(body: Node) -> list[str]:
    return [child.text for child in body.children if child.type != "heredoc_content"]
