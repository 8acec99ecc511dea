"""The language of `awk`: whether a program only computes and prints, or runs, reads and writes."""

import re
from collections.abc import Iterator

from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar, names

GRAMMAR = Grammar(short="Fvf", long=names("--field-separator --assign"), stops=True)
KNOWN = names("-F -v --field-separator --assign")
TOKEN = re.compile(
    r"(?P<blank>[ \t]+|\\\n)|(?P<comment>\#[^\n]*)|(?P<text>\"(?:\\.|[^\"\\\n])*\")"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\w.]*|\.\d+)"
    r"|(?P<sign>\+\+|--|>>|>=|\|\||\|&|&&|[-+*%^=!<>|?:,;~$(){}\[\]\n@&])",
    re.DOTALL,
)
REGEX = re.compile(r"/((?:\\.|[^/\\\n])*)/")
BRACKET = re.compile(r"\[\^?(?:\]|[^\]])(?:\[:\w+:\]|[^\]])*\]")
ACTING = names("system getline extension ARGV ARGC @ | |&")
PRINTING = frozenset({"print", "printf"})
KEYWORDS = PRINTING | names("return in case else do while if delete exit")
OPEN, CLOSE = frozenset("(["), frozenset(")]")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Unsure(Exception):
    """The program cannot be read for sure."""


def tokens(program: str) -> Iterator[str]:
    """The names and signs of a program; strings, numbers and patterns are one `0` each.

    Raises Unsure for what not every awk reads alike.
    """
    at, before = 0, ""
    while at < len(program):
        if program[at] == "/":
            at, before = _slash(program, at, before)
            yield before
            continue
        found = TOKEN.match(program, at)
        if found is None:
            raise Unsure
        at = found.end()
        if found.lastgroup in {"blank", "comment"}:
            continue
        before = "0" if found.lastgroup in {"text", "number"} else found[0]
        yield before


def _slash(program: str, at: int, before: str) -> tuple[int, str]:
    """A division behind a value, else a pattern."""
    if before in {"++", "--"}:
        raise Unsure
    value = before in {"0", ")", "]", "$"} or (before[:1].isalpha() or before[:1] == "_")
    if value and before not in KEYWORDS:
        return at + 1, "/"
    found = REGEX.match(program, at)
    if found is None or "[" in BRACKET.sub("", re.sub(r"\\.", "", found[1])):
        raise Unsure
    return found.end(), "0"


def acts(program: str) -> bool:
    """Whether a program may run commands, read other files or write any."""
    printing, depth, before = False, 0, ""
    try:
        for token in tokens(program):
            if token in ACTING:
                return True
            if token in PRINTING:
                printing, depth = True, 0
            elif token in {";", "}"} or (token == "\n" and before != ","):
                printing = False
            depth += (token in OPEN) - (token in CLOSE)
            if printing and depth <= 0 and token in {">", ">>"}:
                return True
            before = token
    except Unsure:
        return True
    return False


def awk(call: Call) -> None:
    """Judge a call of `awk`: never on the list, but some programs are beyond any prefix rule."""
    arguments = call.parsed(GRAMMAR)
    operands = list(arguments.operands)
    given = {option.name for option in arguments.options}
    if given - KNOWN or arguments.doubtful:
        call.hides()
    if "-f" in given:
        for file in arguments.values("-f"):
            call.read(file)
    elif operands:
        if not operands[0].known or acts(operands[0].text):
            call.hides()
        operands = operands[1:]
    for word in operands:
        if not ASSIGNMENT.match(word.text):
            call.read(word)
