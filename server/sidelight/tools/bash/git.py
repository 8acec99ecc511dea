"""Which git commands only look, and which options make even those run programs or write."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sidelight.core.access import Depth
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.git_changes import CHANGES
from sidelight.tools.bash.options import Arguments, Grammar, names, read_arguments

QUIET_GLOBALS = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs",
     "--noglob-pathspecs", "--icase-pathspecs", "--no-replace-objects", "--no-advice"}
)  # fmt: skip
VALUED_GLOBALS = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix",
     "--exec-path", "--attr-source", "--list-cmds"}
)  # fmt: skip
READERS = names(
    "status log diff show blame annotate ls-files ls-tree rev-parse rev-list describe "
    "shortlog cat-file grep merge-base name-rev for-each-ref count-objects check-ignore "
    "whatchanged diff-tree diff-files diff-index show-ref cherry range-diff version"
)
RUNS = names(
    "--ext-diff --textconv --filters --upload-pack --receive-pack --exec "
    "--open-files-in-pager --extcmd --tool --show-signature --batch-command --parseopt "
    "--tool-help"
)
WRITES = frozenset({"--output"})
READS = names("--contents --ignore-revs-file --exclude-from --resolve-git-dir --pathspec-from-file")
VALUES = names(
    "--message --author --date --file --grep --since --until --after --before --committer "
    "--max-count --skip --output-directory"
)
NOTABLE = RUNS | WRITES | READS | names("--no-index --untracked --template --config")
SHORT_READS: Mapping[str, str] = {
    "diff": "O", "log": "O", "show": "O", "whatchanged": "O", "blame": "S", "annotate": "S",
    "ls-files": "X", "grep": "f", "commit": "Ft", "tag": "F", "diff-tree": "O", "diff-files": "O",
    "diff-index": "O",
}  # fmt: skip
SHORT_RUNS: Mapping[str, str] = {
    "grep": "O", "ls-remote": "u", "clone": "uc", "rebase": "x", "difftool": "xt",
    "mergetool": "t", "fetch": "", "archive": "o", "bisect": "",
}  # fmt: skip
SHORT_VALUES: Mapping[str, str] = {
    "log": "nLSGU", "show": "nLSGU", "diff": "SGUl", "blame": "L", "grep": "eABCm",
    "commit": "mCc", "tag": "mu", "ls-files": "x", "format-patch": "o", "init": "b",
    "clone": "bo",
}  # fmt: skip
MAGIC = re.compile(r":(?:[0-3]:|\([a-z,:=]*\)|[/!^]+)?")


@dataclass(frozen=True, slots=True)
class Listing:
    """When a subcommand only lists: with these options, `words` as first operand, or any operands
    after an option of `opening`; `bare` when it does so without operands."""

    options: frozenset[str]
    opening: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    bare: bool = True


def _listing(options: str, opening: str = "", words: str = "", *, bare: bool = True) -> Listing:
    return Listing(names(f"{options} {opening}"), names(opening), names(words), bare)


COMMON = "--sort --format --column --no-column --color --no-color -i --ignore-case"
LISTINGS: dict[str, Listing] = {
    "branch": _listing(
        f"{COMMON} -a --all -r --remotes -v -vv --verbose --show-current --abbrev --no-abbrev -q",
        "-l --list --contains --no-contains --merged --no-merged --points-at",
    ),
    "tag": _listing(
        COMMON, "-l --list -n --contains --no-contains --merged --no-merged --points-at"
    ),
    "remote": _listing("-v --verbose", words="get-url"),
    "stash": _listing("--oneline -n -p --patch --stat", words="list show", bare=False),
    "worktree": _listing("--porcelain -v -z", words="list", bare=False),
    "reflog": _listing("-n --oneline --all --format", words="show exists"),
    "submodule": _listing("--cached", words=""),
    "notes": _listing("", words="list show"),
}


def git(call: Call) -> None:
    """Judge a call of git; the folder in which it will run is left in `call.state`."""
    words = list(call.arguments)
    while words and words[0].text.startswith("-"):
        words = words[_global(call, words) :]
    if not words:
        call.listed = all(w.text in {"--version", "-v"} for w in call.arguments)
        return
    name = words[0].text
    if not words[0].known or words[0].loose:
        call.objects()
        return
    arguments = _arguments(name, words[1:])
    _options(call, name, arguments)
    if name in READERS:
        call.listed = True
        _operands(call, name, arguments)
    elif name in LISTINGS:
        call.listed = _lists(LISTINGS[name], arguments)
    if name in CHANGES and not call.listed:
        CHANGES[name](call, arguments)


def _global(call: Call, words: Sequence[Word]) -> int:
    """One option before the subcommand; gives the number of words it takes."""
    name, equals, _ = words[0].text.partition("=")
    if name == "-C" and len(words) > 1:
        _moved(call, words[1])
        return 2
    if name not in QUIET_GLOBALS and name not in {"--version", "-v"}:
        call.hides()
    return 2 if name in VALUED_GLOBALS and not equals and name != "--exec-path" else 1


def _moved(call: Call, folder: Word) -> None:
    call.read(folder)
    call.state = call.state.with_folders(call.report.absolute(folder, call.state))


def _arguments(name: str, words: Sequence[Word]) -> Arguments:
    short = SHORT_READS.get(name, "") + SHORT_RUNS.get(name, "") + SHORT_VALUES.get(name, "")
    grammar = Grammar(short=short, long=WRITES | READS | VALUES, notable=NOTABLE)
    return read_arguments(words, grammar)


def _options(call: Call, name: str, arguments: Arguments) -> None:
    runs = RUNS | {f"-{letter}" for letter in SHORT_RUNS.get(name, "")}
    if arguments.has(*runs):
        call.hides()
    for word in arguments.values(*WRITES):
        call.write(word, implied=False)
    for word in arguments.values("-L"):
        call.read(Word(word.text.partition(":")[2].rpartition(":")[2]))
    reads = READS | {f"-{letter}" for letter in SHORT_READS.get(name, "")}
    for word in arguments.values(*reads):
        call.read(word)
    if arguments.doubtful:
        call.hides()


def _operands(call: Call, name: str, arguments: Arguments) -> None:
    """Operands are revisions or paths; both are held against the rules for paths."""
    operands = list(arguments.operands)
    depth: Depth = "all" if arguments.has("--no-index", "--untracked") else ""
    if name == "grep":
        depth = depth or "visible"
        operands = operands if arguments.has("-e", "-f") else operands[1:]
        if not any(word.text == "--" for word in call.arguments):
            call.here(depth)
    if name in {"rev-parse", "for-each-ref", "show-ref", "version", "merge-base", "check-ignore"}:
        return
    for word in operands:
        if not word.known:
            continue
        for path in _paths(word):
            call.read(path, depth)
    if any(not word.known for word in operands) and name in {"diff", "cat-file"}:
        call.objects()


def _paths(word: Word) -> list[Word]:
    """The paths that an operand may mean: itself, and what stands after `revision:`."""
    text = word.text
    if text.startswith(":"):
        rest = MAGIC.sub("", text, count=1)
        return [Word(rest)] if rest else []
    revision, colon, path = text.partition(":")
    if colon and revision and path:
        return [Word(path)]
    return [word]


def _lists(listing: Listing, arguments: Arguments) -> bool:
    given = [option.name for option in arguments.options]
    if any(not _allowed(name, listing) for name in given):
        return False
    operands = [word.text for word in arguments.operands]
    if any("\0" in text for text in operands):
        return False
    if not operands:
        return listing.bare
    if operands[0] in listing.words:
        return True
    return any(_allowed(name, Listing(listing.opening)) for name in given)


def _allowed(name: str, listing: Listing) -> bool:
    return name in listing.options or (name[1:].isdigit() and "-n" in listing.options)
