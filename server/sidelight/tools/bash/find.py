"""What `find` and `fd` do: they list, but some of their tests run programs or write files."""

from collections.abc import Sequence
from itertools import takewhile

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.programs import apply, program

RUNNERS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
WRITERS = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
READERS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"})
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


def find(call: Call) -> None:
    """Judge a call of `find`."""
    call.listed = True
    words = [w for w in call.arguments if w.text not in {"-H", "-L", "-P"}]
    follows = any(w.text in {"-L", "-follow"} for w in call.arguments)
    roots = list(takewhile(_is_root, words))
    for root in roots or [Word(".")]:
        call.read(root, "follow" if follows else "names")
    rest = words[len(roots) :]
    for index, word in enumerate(rest):
        _test(call, word, rest[index + 1 :], roots or [Word(".")])


def _is_root(word: Word) -> bool:
    return not word.text.startswith("-") and word.text not in {"(", "!", ")", ","}


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
