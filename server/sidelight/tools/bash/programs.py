"""What known programs read and write, as a table, and how an entry is applied."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sidelight.core.access import Depth
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Arguments, Grammar

Operands = Literal["none", "reads", "pattern", "writes", "edits", "removes", "mode", "script"]
DEPTHS: tuple[Depth, ...] = ("", "names", "visible", "all", "follow")


@dataclass(frozen=True, slots=True)
class Program:
    """A program's entry. `runs` are options that run a program or script or are never to be
    covered for another reason, `+` and `@` for words that begin so; `writes` and `reads` are
    options whose value is such a file.

    `operands`: nothing to check; files read; a pattern and then files; files written; read and
    written; removed; a mode and then files changed; a script file and then its arguments. `here`:
    without operands it reads the working folder. `deep` maps options to how far down it goes.
    """

    grammar: Grammar
    operands: Operands = "reads"
    listed: bool = False
    runs: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    base: Depth = ""
    deep: Mapping[str, Depth] = field(default_factory=dict[str, Depth])
    here: bool = False


def program(
    operands: Operands = "reads",
    *,
    takes: str = "",
    runs: str = "",
    writes: str = "",
    reads: str = "",
    given: str = "",
    flags: str = "",
    base: Depth = "",
    deep: Mapping[str, Depth] | None = None,
    here: bool = False,
    listed: bool = False,
) -> Program:
    """An entry from option names separated by blanks.

    `takes` are options with a value; those of `writes` and `reads` have one too. `given` are the
    options that bring the pattern, so that all operands are files. `flags` are options that only
    look like abbreviations of these.
    """
    valued = f"{takes} {writes} {reads} {given}".split()
    grammar = Grammar(
        short="".join(name[1] for name in valued if len(name) == 2),
        long=frozenset(name for name in valued if name.startswith("--")),
        notable=frozenset(
            n for n in (*f"{runs} {flags}".split(), *(deep or {})) if n.startswith("--")
        ),
    )
    return Program(
        grammar,
        operands,
        listed,
        frozenset(runs.split()),
        frozenset(writes.split()),
        frozenset(reads.split()),
        frozenset(given.split()),
        base,
        deep or {},
        here,
    )


def apply(entry: Program, call: Call, arguments: Arguments | None = None) -> None:
    """Report what the call reads and writes; mark it where no rule may cover it.

    `arguments` where they are written in a way of the program's own.
    """
    arguments = arguments or call.parsed(entry.grammar)
    call.listed = entry.listed
    signs = tuple(entry.runs & {"+", "@"})
    signed = bool(signs) and any(word.text.startswith(signs) for word in call.arguments)
    special = entry.runs or entry.writes or entry.reads
    if arguments.has(*entry.runs) or signed or (special and arguments.doubtful):
        call.hides()
    for word in arguments.values(*entry.writes):
        call.write(word, implied=False)
    for word in arguments.values(*entry.reads):
        call.read(word)
    _operands(entry, call, arguments)


def _operands(entry: Program, call: Call, arguments: Arguments) -> None:
    words = list(arguments.operands)
    if entry.operands in {"pattern", "mode"} and not arguments.has(*entry.given):
        words = words[1:]
    depth = depth_of(entry, arguments)
    if not words and (entry.here or (depth and entry.operands == "pattern")):
        call.here(depth)
    for word in words[:1] if entry.operands == "script" else words:
        _operand(entry, call, word, depth)


def _operand(entry: Program, call: Call, word: Word, depth: Depth) -> None:
    if entry.operands in {"reads", "pattern", "script", "edits"}:
        call.read(word, depth)
    if entry.operands in {"writes", "edits", "mode"}:
        call.write(word)
    if entry.operands == "removes":
        call.remove(word)


def depth_of(entry: Program, arguments: Arguments) -> Depth:
    """How far down the call reads: the deepest of what its options say."""
    deepest: Depth = entry.base
    for option in arguments.options:
        found = entry.deep.get(option.name, "")
        if DEPTHS.index(found) > DEPTHS.index(deepest):
            deepest = found
    return deepest
