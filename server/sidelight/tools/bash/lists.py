"""Puts lists and pipelines together as bash does; the parser's tree nests some of them wrongly."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sidelight.tools.bash.parse import Node

JOINED = frozenset({"list", "pipeline", "negated_command"})
SIGNS = frozenset({"&&", "||", "|", "|&", "!"})
HEREDOC = frozenset({"heredoc_start", "heredoc_body", "heredoc_end", "comment"})

Token = str | Node


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands joined by `|`; `negated` by a leading `!`; `operator` stands before the whole."""

    operator: str
    negated: bool
    parts: tuple[Node, ...]


def pipes_of(node: Node) -> tuple[Pipe, ...] | None:
    """The pipelines of a statement in order; None where the parts make no sense."""
    pipes: list[Pipe] = []
    operator, negated, parts, waiting = "", False, list[Node](), True
    for token in [*flat(node), "&&"]:
        if isinstance(token, Node):
            if not waiting:
                return None
            parts.append(token)
            waiting = False
        elif token == "!":
            if parts:
                return None
            negated = not negated
        elif waiting:
            return None
        else:
            waiting = True
            if token in {"&&", "||"}:
                pipes.append(Pipe(operator, negated, tuple(parts)))
                operator, negated, parts = token, False, []
    return tuple(pipes)


def flat(node: Node) -> list[Token]:
    """A statement as its commands and the signs between them, in the order of the text."""
    if node.type == "redirected_statement":
        return _redirected(node)
    if node.type not in JOINED:
        return [node]
    tokens: list[Token] = []
    for child in node.children:
        if child.named:
            tokens.extend([] if child.type == "comment" else flat(child))
        else:
            tokens.append(child.text)
    return tokens


def _redirected(node: Node) -> list[Token]:
    """The parser hangs a redirect on a whole list; the shell on the list's last command."""
    body = node.one("body")
    if body is None or body.type not in JOINED:
        return _split_heredoc(node)
    *before, last = flat(body)
    if not isinstance(last, Node):
        return [*before, last]
    text = node.text.encode()[last.start - node.start :].decode()
    redirects = tuple(child for child in node.children if child.field != "body")
    children = (replace(last, field="body"), *redirects)
    inner = replace(node, text=text, start=last.start, field=last.field, children=children)
    return [*before, *_redirected(inner)]


def _split_heredoc(node: Node) -> list[Token]:
    """What follows `<<EOF` on its line goes on behind the command."""
    follow: list[Token] = []
    kept: list[Node] = []
    for child in node.children:
        if child.type != "heredoc_redirect":
            kept.append(child)
            continue
        rest = [part for part in child.children if _goes_on(part)]
        for part in rest:
            follow.extend(flat(part) if part.named else [part.text])
        own = tuple(part for part in child.children if part not in rest)
        kept.append(replace(child, children=own))
    return [replace(node, children=tuple(kept)), *follow]


def _goes_on(part: Node) -> bool:
    if not part.named:
        return part.text in SIGNS
    return part.type not in HEREDOC and part.field not in {"redirect", "argument", "descriptor"}


def arguments_behind(redirects: Sequence[Node]) -> list[Node]:
    """Arguments of the command that stand behind `<<EOF` on its line."""
    return [
        child
        for redirect in redirects
        if redirect.type == "heredoc_redirect"
        for child in redirect.all("argument")
    ]
