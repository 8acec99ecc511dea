"""One simple command under judgement: its words, its shell, and what is found out about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidelight.core.access import UNKNOWN, Access, Depth
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.options import Arguments, Grammar, read_arguments
from sidelight.tools.bash.report import Report
from sidelight.tools.bash.state import State

Inner = Callable[["Call", Sequence[Word], bool], None]
Script = Callable[["Call", str], None]


@dataclass(slots=True)
class Call:
    """A simple command while its effects are worked out; handlers change the fields below.

    `listed`: it does nothing beyond the reads and writes that are reported. `coverable`: False
    when it runs a program or a script by an option or so. `skip`: the words are a transparent
    wrapper and need no rule. `after` and `failed` are the shell after success and failure.
    `inner` judges words as a command of its own, `script` a text as a script; `stdin` is the text
    that it gets on standard input, where the command says it.
    """

    name: str
    words: Sequence[Word]
    text: str
    state: State
    report: Report
    inner: Inner
    script: Script
    stdin: str | None = None
    listed: bool = False
    coverable: bool = True
    unsure: str = ""
    named: int = 0
    skip: bool = False
    guard: bool = False
    after: State | None = None
    failed: State | None = None

    @property
    def arguments(self) -> Sequence[Word]:
        """The words after the program's name."""
        return self.words[1:]

    def parsed(self, grammar: Grammar) -> Arguments:
        """The arguments sorted into options and operands; options that are cut short object."""
        arguments = read_arguments(self.arguments, grammar)
        if arguments.abbreviated:
            self.objects()
        return arguments

    def read(self, word: Word, depth: Depth = "") -> None:
        """It reads this path."""
        self.report.read(word, self.state, self.text, depth)

    def write(self, word: Word, *, implied: bool = True, below: bool = False) -> None:
        """It writes this path, or anything `below` it; `implied` when it is there for that."""
        depth: Depth = "all" if below else ""
        self.report.write(word, self.state, self.text, implied=implied, depth=depth)

    def remove(self, word: Word) -> None:
        """It deletes this path or moves it away."""
        access = Access(
            kind="write",
            target=UNKNOWN,
            mutates=True,
            command=self.text,
            implied=True,
            removes=True,
            depth="all",
        )
        self.report.path(access, word, self.state)

    def fill(self, target: Word, source: Word) -> None:
        """It writes `target` with the contents of `source`, a file or a whole folder."""
        sources = self.report.absolute(source, self.state)
        access = Access(
            kind="write",
            target=UNKNOWN,
            mutates=True,
            command=self.text,
            implied=True,
            source=sources[0] if len(sources) == 1 else "",
        )
        self.report.path(access, target, self.state)

    def here(self, depth: Depth) -> None:
        """It reads the folder in which it runs."""
        self.read(Word("."), depth)

    def objects(self) -> None:
        """It has an effect that no list, prefix or wildcard covers."""
        self.coverable = False

    def hides(self) -> None:
        """It may run programs that its words do not show as such."""
        self.coverable = False
        self.report.hidden(self.text)

    def doubt(self, reason: str) -> None:
        """Its effects cannot be told."""
        self.unsure = self.unsure or reason
