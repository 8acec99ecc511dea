"""What `find`, `fd` and `rg` do: they list and search, but some options run programs or write."""

import re
from collections.abc import Sequence
from itertools import takewhile

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import names
from sidelight.tools.bash.programs import apply, program

RUNNERS = names("-exec -execdir -ok -okdir")
WRITERS = names("-fprint -fprint0 -fprintf -fls")
READERS = names("-newer -anewer -cnewer -samefile -files0-from")
ALONE = names(
    "-print -print0 -ls -prune -depth -d -daystart -empty -false -true -follow -mount -xdev "
    "-noleaf -nogroup -nouser -readable -writable -executable -quit -a -and -o -or -not "
    "-ignore_readdir_race -noignore_readdir_race -warn -nowarn -help --help -version --version "
    "-delete ( ) ! , ; +"
)
VALUED = READERS | names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype "
    "-size -mtime -atime -ctime -mmin -amin -cmin -user -group -uid -gid -perm -links -inum "
    "-maxdepth -mindepth -regextype -fstype -used -printf -context"
)
FD = program(
    "pattern",
    takes="-e -t -E -d -c -j -S -o --extension --type --exclude --max-depth --size --owner "
    "--changed-within --changed-before --color --threads --min-depth",
    reads="--ignore-file --base-directory --search-path",
    runs="-x -X --exec --exec-batch",
    base="names",
    deep={"-L": "follow", "--follow": "follow"},
    here=True,
    listed=True,
)
RG = program(
    "pattern",
    takes="-A -B -C -g -t -T -m -j -M -r -E -d --after-context --before-context --context --glob "
    "--iglob --type --type-not --max-count --replace --sort --sortr --max-depth --color --colors "
    "--encoding --engine --threads --type-add --max-columns --max-filesize --pre-glob",
    given="-e --regexp -f --file",
    runs="--pre --hostname-bin -z --search-zip",
    reads="-f --file --ignore-file",
    base="visible",
    here=True,
    listed=True,
    deep={"--hidden": "all", "-.": "all", "-u": "all", "--unrestricted": "all",
          "-L": "follow", "--follow": "follow"},
)  # fmt: skip
CHOICES = re.compile(r"\{([^{}]*)\}")


def find(call: Call) -> None:
    """Judge a call of `find`. A word of its expression that is not known objects."""
    call.listed = True
    words = list(call.arguments)
    links = len(list(takewhile(lambda w: re.fullmatch(r"-[HLP]|-O\d", w.text), words)))
    follows = any(w.text in {"-L", "-follow"} for w in words)
    words = words[links:]
    roots = list(takewhile(_is_root, words)) or [Word(".")]
    for root in roots:
        call.read(root, "follow" if follows else "names")
    rest = list(words[len(list(takewhile(_is_root, words))) :])
    for index, word in enumerate(rest):
        _test(call, word, rest[index + 1 :], roots)
    _all_known(call, rest)


def _is_root(word: Word) -> bool:
    return not word.text.startswith("-") and word.text not in {"(", "!", ")", ","}


def _all_known(call: Call, words: Sequence[Word]) -> None:
    """Go through the expression as `find` does; the words of a command belong to that."""
    waiting = list(words)
    while waiting:
        word = waiting.pop(0).text
        if word in RUNNERS:
            while waiting and waiting.pop(0).text not in {";", "+"}:
                pass
        elif word in VALUED or re.fullmatch(r"-newer[aBcmt]{2}", word):
            del waiting[:1]
        elif word in WRITERS:
            del waiting[: 2 if word == "-fprintf" else 1]
        elif word not in ALONE:
            call.objects()


def _test(call: Call, word: Word, after: Sequence[Word], roots: Sequence[Word]) -> None:
    if word.loose or word.text.startswith(UNKNOWN):
        call.objects()
    if word.text in RUNNERS:
        call.objects()
        words = takewhile(lambda w: w.text not in {";", "+"}, after)
        call.inner(call, [_found_file(w) for w in words], True)
    elif word.text in WRITERS:
        for target in after[:1]:
            call.write(target, implied=False)
    elif word.text == "-files0-from":
        call.objects()
    elif word.text in READERS or word.text.startswith("-newer"):
        for target in after[:1]:
            call.read(target)
    elif word.text == "-delete":
        call.objects()
        for root in roots:
            call.write(root)


def _found_file(word: Word) -> Word:
    return Word(word.text.replace("{}", UNKNOWN), fed=True) if "{}" in word.text else word


def fd(call: Call) -> None:
    """Judge a call of `fd`."""
    apply(FD, call)
    texts = [word.text for word in call.arguments]
    for index, text in enumerate(texts):
        if text in {"-x", "-X", "--exec", "--exec-batch"}:
            words = call.arguments[index + 1 :]
            call.inner(call, [_found_file(w) for w in words], True)
            return


def rg(call: Call) -> None:
    """Judge a call of `rg`: a glob or type that names hidden files brings them in."""
    apply(RG, call)
    arguments = call.parsed(RG.grammar)
    roots = list(arguments.operands)
    if arguments.has("--files", "--type-list"):
        for word in roots[:1]:
            call.read(word, "names")
    elif not arguments.has(*RG.given):
        roots = roots[1:]
    globs = arguments.values("-g", "--glob", "--iglob", "--type-add")
    chosen = [word for word in globs if not word.text.startswith("!")]
    if not chosen:
        return
    cased = not arguments.has("--iglob", "--type-add", "--glob-case-insensitive")
    only = _names([word.text for word in chosen]) if cased else ()
    for root in roots or [Word(".")]:
        call.report.read(root, call.state, call.text, "all", only)


def _names(globs: Sequence[str]) -> tuple[str, ...]:
    """The file names that globs let in, as patterns; none where that does not show."""
    found: list[str] = []
    for glob in globs:
        name = glob.rpartition("/")[2]
        choices = CHOICES.search(name)
        each = choices[1].split(",") if choices else [""]
        for choice in each:
            found.append(CHOICES.sub(lambda _, text=choice: text, name, count=1))
    plain = all(re.fullmatch(r"[\w.*?-]+", name) and name != "**" for name in found)
    return tuple(found) if plain else ()
