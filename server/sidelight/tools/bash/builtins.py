"""Commands of the shell itself that move it, set its variables or leave a loop."""

import posixpath
import re
from collections.abc import Callable, Sequence

from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar
from sidelight.tools.bash.state import State, Value
from sidelight.tools.bash.variables import dangerous

ASSIGNED = re.compile(r"([A-Za-z_]\w*)(?:\+?=(.*))?", re.DOTALL)
QUIET_SET = re.compile(r"[-+][euxv]+|[-+][euxv]*o|pipefail|errexit|nounset|xtrace|verbose")


def change_folder(call: Call) -> None:
    """`cd`: later relative paths start at the new folder, or still at the old if it fails."""
    call.listed = True
    arguments = call.parsed(Grammar())
    operands = arguments.operands
    target = operands[0] if operands else Word("~", home=True)
    if target.text == "-":
        call.doubt("where cd - goes is only known when it runs")
        call.after = call.state.with_folders(())
        return
    call.read(target)
    folders = call.report.absolute(target, call.state)
    if target.text == "":
        folders = call.state.folders
    physical = any(option.name != "-L" for option in arguments.options)
    call.after = call.state.with_folders(() if physical else map(_logical, folders))
    call.failed = call.state


def _logical(folder: str) -> str:
    """The shell's own idea of a folder: `..` takes away a name, links or not."""
    return folder if folder.startswith("~") else posixpath.normpath(folder)


def lose_folder(call: Call) -> None:
    """`pushd` and `popd` move the shell in ways that are not followed."""
    for word in call.arguments[:1]:
        call.read(word)
    call.after = call.state.with_folders(())
    call.failed = call.state


def declare(call: Call) -> None:
    """`export`, `declare` and their kin set variables; some attributes evaluate the value."""
    state = call.state
    for word in call.arguments:
        if word.text.startswith(("-", "+")):
            if re.search(r"[ina]", word.text):
                call.doubt("the attribute makes bash evaluate the value")
            continue
        state = _declared(call, word, state)
    call.after = call.failed = state


def _declared(call: Call, word: Word, state: State) -> State:
    found = ASSIGNED.fullmatch(word.text)
    if found is None:
        call.doubt("a declaration sets something other than an ordinary variable")
        return state
    if dangerous(found[1]):
        call.objects()
    if found[2] is None or not word.known or word.loose:
        return state.with_variable(found[1], Value())
    return state.with_variable(found[1], Value(found[2]))


def fill_variables(call: Call) -> None:
    """`mapfile`, `getopts`, `let` and `unset` leave variables that nobody knows."""
    if call.name == "let" or any(re.match(r"-\w*C", word.text) for word in call.arguments):
        call.doubt("it evaluates its words")
    state = call.state
    for word in call.arguments:
        if ASSIGNED.fullmatch(word.text):
            state = state.with_variable(word.text.partition("=")[0], Value())
            if dangerous(word.text):
                call.objects()
    call.after = call.failed = state


def quiet_set(call: Call) -> None:
    """`set -euo pipefail` and the like; anything else that `set` does needs a rule."""
    words: Sequence[Word] = call.arguments
    call.listed = bool(words) and all(QUIET_SET.fullmatch(word.text) for word in words)
    if not call.listed:
        call.objects()


def rename(call: Call) -> None:
    """`alias`, `hash`, `enable` and the like decide what later names mean."""
    call.objects()
    call.doubt("it changes what later names mean")


def leave(call: Call) -> None:
    """`exit`, `return`, `wait`: nothing happens outside the shell."""
    call.listed = True
    if call.name == "wait" and any(
        not re.fullmatch(r"-[fn]+|%?\d+", w.text) for w in call.arguments
    ):
        call.objects()
        call.doubt("wait may evaluate a variable's name")


HANDLERS: dict[str, Callable[[Call], None]] = {
    "cd": change_folder,
    "pushd": lose_folder,
    "popd": lose_folder,
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), declare),
    **dict.fromkeys(("mapfile", "readarray", "getopts", "let", "unset"), fill_variables),
    "set": quiet_set,
    **dict.fromkeys(("alias", "unalias", "shopt", "hash", "enable", "bind", "complete"), rename),
    **dict.fromkeys(("exit", "return", "break", "continue", "wait"), leave),
}
