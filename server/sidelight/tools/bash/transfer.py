"""Programs that pack, send and fetch: which files they take along and which they make."""

import re
from collections.abc import Sequence

from sidelight.core.access import Access
from sidelight.tools.bash.actions import ACTIONS
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar, read_arguments
from sidelight.tools.bash.programs import apply

REMOTE = re.compile(r"[^/]*:|\w+://")
DATA = frozenset(
    {"-d", "-F", "--data", "--data-binary", "--data-urlencode", "--data-ascii", "--form", "--json"}
)
TAR = Grammar(
    short="fCTXbgKLV",
    long=frozenset({"--file", "--directory", "--files-from", "--exclude-from", "--exclude"}),
)
SEND = Grammar(short="eiPFSoclTfB", long=frozenset({"--exclude", "--include", "--rsh"}))
ZIP = Grammar(short="bntxi")


def tar(call: Call) -> None:
    """Judge `tar`: creating reads its operands, extracting writes where it stands."""
    apply(ACTIONS["tar"], call)
    words = list(call.arguments)
    if words and re.fullmatch(r"[A-Za-z]+", words[0].text):
        words[0] = Word("-" + words[0].text)
    arguments = read_arguments(words, TAR)
    creates = arguments.has("-c", "-r", "-u", "-A", "--create", "--append", "--update")
    for word in arguments.values("-f", "--file"):
        if creates:
            call.write(word)
        else:
            call.read(word)
    for word in arguments.values("-T", "-X", "--files-from", "--exclude-from"):
        call.read(word)
    for word in arguments.values("-C", "--directory"):
        call.read(word)
    if creates:
        _take(call, arguments.operands)
    elif arguments.has("-x", "--extract", "--get"):
        call.write(next(iter(arguments.values("-C", "--directory")), Word(".")))


def pack(call: Call) -> None:
    """Judge `zip`: the first operand is the archive, the others are read."""
    apply(ACTIONS["zip"], call)
    operands = call.parsed(ZIP).operands
    for word in operands[:1]:
        call.write(word)
    _take(call, operands[1:])


def send(call: Call) -> None:
    """Judge `rsync` and `scp`: local sources are read, a local target is written."""
    apply(ACTIONS[call.name], call)
    operands = [w for w in call.parsed(SEND).operands if not REMOTE.match(w.text)]
    last = call.parsed(SEND).operands[-1:]
    _take(call, [word for word in operands if word not in last])
    for word in operands:
        if word in last:
            call.write(word)


def curl(call: Call) -> None:
    """Judge `curl`: beyond its files, `@file` in data is read, and addresses are contacted."""
    apply(ACTIONS["curl"], call)
    arguments = call.parsed(ACTIONS["curl"].grammar)
    for option in arguments.options:
        if option.value is not None and option.name in DATA:
            found = re.search(r"(?:^|=|^\w+)[@<](.+)", option.value.text)
            if found:
                call.read(Word(found[1].partition(";")[0]))
    fetch(call, [*arguments.operands, *arguments.values("--url")])


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


def _take(call: Call, words: Sequence[Word]) -> None:
    for word in words:
        call.read(word, "all")
