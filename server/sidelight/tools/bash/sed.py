"""The language of `sed`: which files a script reads and writes; the rest is doubted."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar, names

GRAMMAR = Grammar(
    short="efl",
    long=names("--expression --file --line-length"),
    notable=names("--in-place --sandbox --follow-symlinks"),
    optional="i",
)
KNOWN = names(
    "-n --quiet --silent --debug -e --expression -E -r --regexp-extended -l --line-length -s "
    "--separate -u --unbuffered -z --null-data --zero-terminated -b --binary --posix --sandbox "
    "--follow-symlinks --help --version -i --in-place -f --file"
)
BRACKET = re.compile(r"\[\^?(?:\]|[^\]])(?:\[:\w+:\]|[^\]])*\]")
NUMBER = re.compile(r"\d+(?:~\d+)?|\$")
DISTANCE = re.compile(r"[+~]\d+")
LABEL = re.compile(r"[\w.-]*")
FLAGS = re.compile(r"[gpiImM0-9]*")
BARE = frozenset("dDgGhHnNpPxzF=")
NUMBERED = frozenset("qQl")
ENDS = frozenset({"", "\n", ";", "}", "#"})


class Unsure(Exception):
    """The script runs a command, or is not one that every sed would read alike."""


@dataclass(slots=True)
class Script:
    """A script that is read from left to right; `effects` are files read ('r') and written."""

    text: str
    at: int = 0
    effects: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def read(self) -> None:
        """Read all commands; raises Unsure."""
        while self._skip("; \t\n"):
            self._addresses()
            letter = self._take()
            self._command(letter)

    def _command(self, letter: str) -> None:
        if letter == "{":
            return
        if letter == "}" or letter in BARE:
            self._end()
        elif letter in NUMBERED:
            self._skip(" \t")
            self._match(re.compile(r"\d*"))
            self._end()
        else:
            handler = HANDLERS.get(letter)
            if handler is None:
                raise Unsure
            handler(self)

    def _addresses(self) -> None:
        if self._address(first=True):
            self._skip(" \t")
            if self._peek() == ",":
                self.at += 1
                self._skip(" \t")
                if not self._address(first=False):
                    raise Unsure
        self._skip(" \t")
        if self._peek() == "!":
            self.at += 1
            self._skip(" \t")

    def _address(self, *, first: bool) -> bool:
        if self._match(NUMBER) or (not first and self._match(DISTANCE)):
            return True
        if self._peek() != "/":
            return False
        self.at += 1
        self._pattern("/")
        self._match(re.compile(r"[IM]*"))
        return True

    def substitute(self) -> None:
        """`s`: its flag `e` runs the result, `w` writes to a file."""
        self._two_parts()
        self._match(FLAGS)
        if self._peek() == "w":
            self.at += 1
            self.file("w")
        else:
            self._end()

    def transliterate(self) -> None:
        """`y`."""
        self._two_parts()
        self._end()

    def comment(self) -> None:
        """A comment ends with its line, whatever stands before the end."""
        self._line()

    def insert(self) -> None:
        """The text of `a`, `i` and `c` ends at the first line end without a backslash."""
        if re.compile(r"[ \t]*\\[ \t]+(?:\n|$)").match(self.text, self.at):
            raise Unsure
        self._skip(" \t")
        while self.at < len(self.text):
            character = self._take()
            if character == "\\":
                self.at += 1
            elif character == "\n":
                return

    def label(self) -> None:
        """A label: seds differ in where it ends, so it has to be a plain word."""
        self._skip(" \t")
        self._match(LABEL)
        if self._peek() not in ENDS | {" ", "\t"}:
            raise Unsure

    def file(self, kind: str) -> None:
        """A file's name goes to the end of the line."""
        self._skip(" \t")
        name = self._line()
        if not name.strip():
            raise Unsure
        self.effects.append((kind, name))

    def _two_parts(self) -> None:
        delimiter = self._take()
        if not delimiter.isascii() or delimiter in {"", "\\", "\n"}:
            raise Unsure
        self._pattern(delimiter)
        self._until(delimiter)

    def _pattern(self, delimiter: str) -> None:
        """A regular expression. In some seds brackets hide the delimiter, in others not."""
        pattern = self._until(delimiter)
        if "[" in BRACKET.sub("", re.sub(r"\\.", "", pattern, flags=re.DOTALL)):
            raise Unsure

    def _until(self, delimiter: str) -> str:
        start = self.at
        while self.at < len(self.text):
            character = self._take()
            if character == delimiter:
                return self.text[start : self.at - 1]
            if character == "\n":
                break
            if character == "\\":
                self.at += 1
        raise Unsure

    def _end(self) -> None:
        """A command is over here."""
        self._skip(" \t")
        if self._peek() not in ENDS:
            raise Unsure

    def _line(self) -> str:
        line = self.text[self.at :].partition("\n")[0]
        self.at += len(line) + 1
        return line

    def _skip(self, characters: str) -> bool:
        """Go past these characters; whether anything is left."""
        while self._peek() and self._peek() in characters:
            self.at += 1
        return self.at < len(self.text)

    def _match(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.at)
        if found is None:
            return False
        self.at = found.end()
        return True

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        self.at += 1
        return self.text[self.at - 1 : self.at]


def _reading(script: Script) -> None:
    script.file("r")


def _writing(script: Script) -> None:
    script.file("w")


HANDLERS: dict[str, Callable[[Script], None]] = {
    "s": Script.substitute,
    "y": Script.transliterate,
    "#": Script.comment,
    **dict.fromkeys("aic", Script.insert),
    **dict.fromkeys(":btT", Script.label),
    **dict.fromkeys("rR", _reading),
    **dict.fromkeys("wW", _writing),
}


def effects_of(text: str) -> list[tuple[str, str]] | None:
    """Files that a script reads ('r') and writes ('w'); None if it runs a command or is odd."""
    script = Script(text)
    try:
        script.read()
    except Unsure:
        return None
    return script.effects


def sed(call: Call) -> None:
    """Judge a call of `sed`: its script, then the files it reads or, with -i, edits."""
    call.listed = True
    arguments = call.parsed(GRAMMAR)
    widths = arguments.values("-l", "--line-length")
    odd = any(option.name not in KNOWN for option in arguments.options)
    if odd or not all(word.text.isdigit() for word in widths):
        call.doubt("an option of sed is not known")
    if any(word.loose or word.text.startswith(UNKNOWN) for word in call.arguments):
        call.objects()
    scripts = list(arguments.values("-e", "--expression"))
    files = list(arguments.operands)
    if arguments.has("-f", "--file"):
        call.doubt("the script of sed is in a file")
    elif not scripts:
        scripts, files = files[:1], files[1:]
    if scripts:
        _judge(call, scripts)
    if any(re.search(r"[*/\0]", suffix.text) for suffix in arguments.values("-i", "--in-place")):
        call.doubt("the suffix puts the copy of the old file elsewhere")
    for file in files:
        call.read(file)
        if arguments.has("-i", "--in-place"):
            call.write(file, implied=False)


def _judge(call: Call, scripts: list[Word]) -> None:
    if not all(script.known for script in scripts):
        call.doubt("the script of sed is only known when it runs")
        return
    found = effects_of("\n".join(script.text for script in scripts))
    if found is None:
        call.doubt("the script of sed runs a command or cannot be read")
        return
    for kind, path in found:
        if kind == "r":
            call.read(Word(path))
        else:
            call.write(Word(path), implied=False)
