"""What a call of `jq` reads: the filter loads nothing else, the options name the files."""

import re
from collections.abc import Sequence

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import names

QUIET = names(
    "--null-input --raw-input --slurp --compact-output --raw-output --raw-output0 --join-output "
    "--ascii-output --sort-keys --color-output --monochrome-output --tab --unbuffered --stream "
    "--stream-errors --seq --exit-status --help --version --args --jsonargs --"
)
SHORT = re.compile(r"-[nRscrajSCMehV]+")
VALUES = {"--arg": 2, "--argjson": 2, "--indent": 1}
FILES = names("--slurpfile --rawfile --argfile")
LOADS = re.compile(r"\b(import|include|input_filename|get_search_list|modulemeta)\b")


def jq(call: Call) -> None:
    """Judge a call of `jq`: the filter, then the files. An option that is not known objects."""
    call.listed = True
    words = list(call.arguments)
    operands: list[Word] = []
    positional = ended = False
    while words:
        word = words.pop(0)
        if word.loose or word.text.startswith(UNKNOWN):
            call.objects()
        if ended or not word.text.startswith("-") or word.text == "-":
            if not (positional and operands):
                operands.append(word)
            continue
        positional = positional or word.text in {"--args", "--jsonargs"}
        ended = word.text == "--"
        del words[: _option(call, word, words)]
    _judge(call, operands)


def _option(call: Call, word: Word, after: Sequence[Word]) -> int:
    """Judge one option; the number of words that it takes."""
    if word.text in FILES:
        for path in after[1:2]:
            call.read(path)
        return 2
    if word.text not in VALUES and word.text not in QUIET and not SHORT.fullmatch(word.text):
        call.objects()
        for path in after[:1]:
            call.read(path)
    return VALUES.get(word.text, 0)


def _judge(call: Call, operands: Sequence[Word]) -> None:
    if operands and (LOADS.search(operands[0].text) or not operands[0].known):
        call.doubt("the filter of jq loads other files")
    for word in operands[1:]:
        call.read(word)
