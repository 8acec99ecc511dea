"""Programs that pack, send, fetch and convert: which files they take along and which they make."""

import re
from collections.abc import Sequence

from sidelight.core.access import Access
from sidelight.tools.bash.actions import ACTIONS
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar, names, read_arguments
from sidelight.tools.bash.programs import apply

REMOTE = re.compile(r"[^/]*:|\w+://")
WEB = re.compile(r"https?://|[\w.-]+:\d|[\w.-]+(?:[/?#]|$)", re.IGNORECASE)
DATA = names(
    "-d -F --data --data-binary --data-urlencode --data-ascii --form --json --url-query -H "
    "--header --proxy-header -w --write-out"
)
OLD_STYLE = re.compile(r"[A-Za-z]+")
SEND = Grammar(short="eiPFSoclTfB", long=names("--exclude --include --rsh"))
UNZIP = Grammar(short="dxP")
SPLIT = Grammar(
    short="blnaCt", long=names("--bytes --lines --number --suffix-length --line-bytes"),
    notable=names("--filter"),
)  # fmt: skip
CSPLIT = Grammar(short="fbn", long=names("--prefix --suffix-format --digits"))
DUMP = Grammar(short="cglnoRs")


def tar(call: Call) -> None:
    """Judge `tar`: creating reads its operands, extracting writes where it stands."""
    entry = ACTIONS["tar"]
    arguments = read_arguments(_new_style(call.arguments, entry.grammar), entry.grammar)
    apply(entry, call, arguments)
    if arguments.abbreviated:
        call.objects()
    creates = arguments.has("-c", "-r", "-u", "-A", "--create", "--append", "--update")
    for word in arguments.values("-f", "--file"):
        if creates:
            call.write(word)
        else:
            call.read(word)
    for word in arguments.values("-C", "--directory"):
        call.read(word)
    if creates:
        _take(call, arguments.operands)
    elif arguments.has("-x", "--extract", "--get"):
        _unpack(call, arguments.values("-C", "--directory"))


def _new_style(words: Sequence[Word], grammar: Grammar) -> list[Word]:
    """`tar cIf program archive`: letters without a dash, their values behind them in order."""
    if not words or not OLD_STYLE.fullmatch(words[0].text):
        return list(words)
    letters, rest, found = words[0].text, list(words[1:]), list[Word]()
    for letter in letters:
        found.append(Word(f"-{letter}"))
        if letter in grammar.short:
            found.extend(rest[:1])
            del rest[:1]
    return [*found, *rest]


def _unpack(call: Call, folders: Sequence[Word]) -> None:
    call.write(next(iter(folders), Word(".")), below=True)


def pack(call: Call) -> None:
    """Judge `zip`: the first operand is the archive, the others are read."""
    entry = ACTIONS["zip"]
    apply(entry, call)
    operands = call.parsed(entry.grammar).operands
    for word in operands[:1]:
        call.write(word)
    _take(call, operands[1:])


def unzip(call: Call) -> None:
    """Judge `unzip`: it fills the working folder, or that of -d."""
    arguments = call.parsed(UNZIP)
    for word in arguments.operands[:1]:
        call.read(word)
    if not arguments.has("-l", "-t", "-p", "-v", "-Z"):
        _unpack(call, arguments.values("-d"))


def send(call: Call) -> None:
    """Judge `rsync` and `scp`: local sources are read, a local target is written."""
    apply(ACTIONS[call.name], call)
    operands = [w for w in call.parsed(SEND).operands if not REMOTE.match(w.text)]
    last = call.parsed(SEND).operands[-1:]
    _take(call, [word for word in operands if word not in last])
    for word in operands:
        if word in last:
            call.write(word, below=True)


def curl(call: Call) -> None:
    """Judge `curl`: beyond its files, `@file` in data is read, and addresses are contacted."""
    apply(ACTIONS["curl"], call)
    arguments = call.parsed(ACTIONS["curl"].grammar)
    for option in arguments.options:
        if option.value is not None and option.name in DATA:
            _data(call, option.value)
    addresses = [*arguments.operands, *arguments.values("--url")]
    if not all(WEB.match(word.text) for word in addresses):
        call.objects()
    fetch(call, addresses)


def _data(call: Call, value: Word) -> None:
    found = re.search(r"(?:^|=|^\w+)[@<](.+)", value.text)
    if found:
        call.read(Word(found[1].partition(";")[0]))
    if "%output{" in value.text:
        call.objects()


def wget(call: Call) -> None:
    """Judge `wget`: it writes what it fetches into the working folder."""
    apply(ACTIONS["wget"], call)
    arguments = call.parsed(ACTIONS["wget"].grammar)
    if not arguments.has("-O", "--output-document", "--spider", "-P", "--directory-prefix"):
        call.write(Word("."))
    fetch(call, arguments.operands)


def fetch(call: Call, words: Sequence[Word]) -> None:
    """Let deny and ask rules for addresses see what is contacted."""
    for word in words:
        if word.known and "." in word.text:
            url = word.text if "://" in word.text else f"https://{word.text}"
            call.report.found.append(
                Access(kind="fetch", target=url, command=call.text, guard=True)
            )


def dump(call: Call) -> None:
    """Judge `xxd`: its second operand is written."""
    operands = call.parsed(DUMP).operands
    for word in operands[:1]:
        call.read(word)
    for word in operands[1:]:
        call.write(word)


def split(call: Call) -> None:
    """Judge `split` and `csplit`: the pieces begin with a prefix."""
    first = call.name == "split"
    arguments = call.parsed(SPLIT if first else CSPLIT)
    if arguments.has("--filter"):
        call.hides()
    for word in arguments.operands[:1]:
        call.read(word)
    prefixes = arguments.operands[1:2] if first else arguments.values("-f", "--prefix")
    for word in prefixes or (Word("x" if first else "xx"),):
        call.write(word)


def _take(call: Call, words: Sequence[Word]) -> None:
    for word in words:
        call.read(word, "all")
