"""Commands whose arguments need more than the table: tests, dates, copies, variables."""

import re
from collections.abc import Sequence

from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar, names
from sidelight.tools.bash.programs import apply, program
from sidelight.tools.bash.state import Value
from sidelight.tools.bash.variables import dangerous

FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprstuwxLNOGS")
PAIR_TESTS = frozenset({"-nt", "-ot", "-ef"})
BETWEEN = PAIR_TESTS | names("= == != < > -eq -ne -lt -le -gt -ge -a -o ) ]")
VARIABLE = re.compile(r"[A-Za-z_]\w*")
DATE = program(
    "none",
    takes="-d --date",
    reads="-f --file -r --reference",
    runs="-s --set -f --file",
    listed=True,
)
UNIQ = Grammar(short="fsw", long=frozenset({"--skip-fields", "--skip-chars", "--check-chars"}))
COPY = Grammar(
    short="tSmog",
    long=frozenset({"--target-directory", "--suffix", "--mode", "--owner", "--group"}),
    notable=frozenset({"--target-directory", "--recursive", "--archive", "--symbolic"}),
)
DEEP = ("-r", "-R", "-a", "--recursive", "--archive")


def test(call: Call) -> None:
    """Judge `test` and `[`: operands of file tests are looked at; -v evaluates text."""
    call.listed = True
    words = [w for w in call.arguments if not (call.name == "[" and w.text == "]")]
    if any(word.loose for word in words):
        call.doubt("an unquoted word of the test may turn into several")
    if any(word.text in {"-v", "-R"} or _may_evaluate(words, i) for i, word in enumerate(words)):
        call.doubt("the test evaluates a variable's name")
    for index, word in enumerate(words):
        if word.text in FILE_TESTS:
            _look(call, words[index + 1 : index + 2])
        elif word.text in PAIR_TESTS:
            _look(call, [*words[max(0, index - 1) : index], *words[index + 1 : index + 2]])


def _may_evaluate(words: Sequence[Word], index: int) -> bool:
    """Whether an unknown word could be -v, with a name behind it that bash evaluates."""
    if words[index].known or index + 1 == len(words):
        return False
    following = words[index + 1]
    return following.text not in BETWEEN and (not following.known or "[" in following.text)


def _look(call: Call, words: Sequence[Word]) -> None:
    for word in words:
        if word.text not in {"=", "!=", "==", "-a", "-o", ")"}:
            call.read(word, "names")


def date(call: Call) -> None:
    """Judge `date`: printing only; an operand without + sets the clock."""
    apply(DATE, call)
    if any(not word.text.startswith("+") for word in call.parsed(DATE.grammar).operands):
        call.objects()


def uniq(call: Call) -> None:
    """Judge `uniq`: its second operand is written."""
    call.listed = True
    arguments = call.parsed(UNIQ)
    operands = arguments.operands
    if arguments.doubtful:
        call.objects()
    for word in operands[:1]:
        call.read(word)
    for word in operands[1:]:
        call.write(word, implied=False)


def hostname(call: Call) -> None:
    """Judge `hostname`: with an operand it sets the name."""
    call.listed = True
    if call.arguments:
        call.objects()


def printf(call: Call) -> None:
    """Judge `printf`: -v evaluates the subscript of its variable and can set any."""
    call.listed = True
    first = call.arguments[0] if call.arguments else None
    if first is not None and (first.text.startswith("-v") or not first.known):
        call.doubt("printf may set a variable")


def read(call: Call) -> None:
    """Judge `read`: it sets variables, to text that nobody knows yet."""
    call.listed = True
    arguments = call.parsed(Grammar(short="adinNptu"))
    names = [*arguments.operands, *arguments.values("-a")]
    state = call.state
    for word in names:
        if VARIABLE.fullmatch(word.text) is None or dangerous(word.text):
            call.doubt("read sets something other than an ordinary variable")
        else:
            state = state.with_variable(word.text, Value())
    call.after = call.failed = state


def dd(call: Call) -> None:
    """Judge `dd` by its `if=` and `of=`."""
    for word in call.arguments:
        key, _, path = word.text.partition("=")
        if key == "if":
            call.read(Word(path))
        elif key == "of":
            call.write(Word(path))
        elif not word.known:
            call.objects()


def go(call: Call) -> None:
    """Judge `go`: some options replace the programs that it runs."""
    for word in call.arguments:
        if re.match(r"--?(exec|toolexec|vettool|overlay|modfile|C)\b", word.text) or word.loose:
            call.hides()
        if re.match(r"--?(o|coverprofile|cpuprofile|memprofile|outputdir|trace)\b", word.text):
            call.objects()


def copy(call: Call) -> None:
    """Judge `cp`, `mv` and `install`: sources are read or moved away, the target is written."""
    call.listed = call.name in {"cp", "mv"}
    arguments = call.parsed(COPY)
    if arguments.doubtful:
        call.objects()
    folders = arguments.values("-t", "--target-directory")
    sources = list(arguments.operands)
    targets = list(folders) if folders else sources[-1:]
    if not folders:
        sources = sources[:-1]
    deep = arguments.has(*DEEP) or call.name == "mv"
    for source in sources:
        call.read(source, "all" if deep else "")
        if call.name == "mv":
            call.remove(source)
    exactly = arguments.has("-T", "--no-target-directory")
    for target in targets:
        _arrivals(call, sources, target, deep, inside=bool(folders), exactly=exactly)


def _arrivals(
    call: Call, sources: Sequence[Word], target: Word, deep: bool, *, inside: bool, exactly: bool
) -> None:
    """What comes to be at the target: itself, or a name below it if it is a folder."""
    inside = inside or target.text.endswith(("/", "/.", "/..")) or target.text in {".", ".."}
    for source in sources:
        child = _child(target, source)
        arriving = [child] if inside else [target, child]
        if exactly or (source.text.endswith((".", "/")) and deep):
            arriving = [target, child]
        for word in arriving:
            if deep:
                call.fill(word, source)
            else:
                call.write(word)
            _remember(call, word, source)


def _child(target: Word, source: Word) -> Word:
    """The name of `source` below `target`."""
    if not source.known or not target.known or source.loose or target.loose:
        return Word("\0", loose=True)
    name = source.text.rstrip("/").rpartition("/")[2]
    pattern = (source.pattern or "").rstrip("/").rpartition("/")[2]
    base = target.text.rstrip("/") or ("/" if target.text.startswith("/") else ".")
    glob = f"{base}/{pattern}" if pattern else ""
    return Word(f"{base}/{name}", glob if source.pattern else "", home=target.home)


def _remember(call: Call, new: Word, old: Word) -> None:
    state = call.after or call.state
    for made in call.report.absolute(new, call.state):
        for source in call.report.absolute(old, call.state):
            state = state.with_alias(made, source)
    call.after = call.failed = state


def link(call: Call) -> None:
    """Judge `ln`: it makes a name; a hard link also opens its source to writing."""
    arguments = call.parsed(COPY)
    operands = list(arguments.operands)
    folders = arguments.values("-t", "--target-directory")
    symbolic = arguments.has("-s", "--symbolic")
    sources = operands if folders or len(operands) == 1 else operands[:-1]
    targets = list(folders) or (operands[-1:] if len(operands) > 1 else [Word(".")])
    for source in sources:
        if not symbolic:
            call.read(source)
            call.write(source)
        for target in targets:
            for word in (target, _child(target, source)):
                call.write(word)
                _link_leads(call, word, source, symbolic)


def _link_leads(call: Call, new: Word, source: Word, symbolic: bool) -> None:
    """A symbolic link's relative text starts at the link's own folder."""
    if not symbolic or source.home or source.text.startswith("/"):
        _remember(call, new, source)
        return
    folder = new.text.rpartition("/")[0]
    _remember(call, new, Word(f"{folder}/{source.text}" if folder else source.text, home=new.home))
