"""git commands that change something: the files they write, and those that run their words."""

import re
from collections.abc import Callable

from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Arguments, names

CONFIG_READS = names(
    "--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l get list"
)
CONFIG_OPTIONS = names(
    "--global --local --system --worktree --show-origin --show-scope --name-only -z --null "
    "--type --bool --int --path --includes --no-includes --default --all --regexp --value"
)
CONFIG_VERBS = names("set unset get list")
PLAIN_KEYS = re.compile(
    r"(?:user|author|committer|color|advice|pull|push|rebase|log|status|column|i18n|stash|tag)\.\w+"
    r"|color\.\w+\.\w+|branch\..+\.(?:remote|merge|rebase|description|pushremote)"
    r"|init\.defaultbranch|help\.autocorrect|fetch\.(?:prune|prunetags|parallel)"
    r"|core\.(?:autocrlf|eol|safecrlf|filemode|ignorecase|quotepath|longpaths|abbrev|symlinks)"
    r"|commit\.(?:gpgsign|verbose|cleanup)|merge\.(?:conflictstyle|ff|log|renames)"
    r"|diff\.(?:algorithm|renames|context|colormoved|noprefix|mnemonicprefix|submodule)",
    re.IGNORECASE,
)


def config(call: Call, arguments: Arguments) -> None:
    """Reading is on the list; setting a key that may name a program is beyond any prefix rule."""
    given = {option.name for option in arguments.options}
    operands = [word.text for word in arguments.operands]
    reading = bool(given & CONFIG_READS) or operands[:1] in (["get"], ["list"])
    single = len(operands) == 1 and "\0" not in operands[0] and "." in operands[0]
    odd = given - CONFIG_READS - CONFIG_OPTIONS
    call.listed = (reading or single) and not odd
    key = next((text for text in operands if text not in CONFIG_VERBS), "")
    if odd & {"-f", "--file", "--blob"} or not (call.listed or PLAIN_KEYS.fullmatch(key)):
        call.objects()


def _changes(call: Call, arguments: Arguments) -> None:
    for word in arguments.operands:
        call.write(word)


def _removes(call: Call, arguments: Arguments) -> None:
    for word in arguments.operands:
        call.remove(word)


def _moves(call: Call, arguments: Arguments) -> None:
    for word in arguments.operands[:-1]:
        call.remove(word)
    for word in arguments.operands[-1:]:
        call.write(word)


def _runs(call: Call, arguments: Arguments) -> None:
    call.hides()


def _may_run(call: Call, arguments: Arguments) -> None:
    """`submodule foreach`, `bisect run` and the like give their words to a shell."""
    if any(word.text in {"foreach", "run"} or not word.known for word in arguments.operands[:1]):
        call.hides()


def _clones(call: Call, arguments: Arguments) -> None:
    """A clone's target; templates and settings given to it hold programs."""
    if arguments.has("--template", "--config", "-c"):
        call.hides()
    for word in arguments.operands[1:2]:
        call.write(word, below=True)


def _makes(call: Call, arguments: Arguments) -> None:
    if arguments.has("--template", "--separate-git-dir"):
        call.hides()
    for word in arguments.operands[:1]:
        call.write(word, below=True)


def _worktree(call: Call, arguments: Arguments) -> None:
    if arguments.operands[:1] and arguments.operands[0].text in {"add", "move"}:
        for word in arguments.operands[1:]:
            if "/" in word.text or word is arguments.operands[1]:
                call.write(word)


def _bundle(call: Call, arguments: Arguments) -> None:
    if arguments.operands[:1] and arguments.operands[0].text == "create":
        for word in arguments.operands[1:2]:
            call.write(word)


def _patches(call: Call, arguments: Arguments) -> None:
    for word in arguments.values("-o", "--output-directory"):
        call.write(word, implied=False)


def _applies(call: Call, arguments: Arguments) -> None:
    for word in arguments.operands:
        call.read(word)
    if arguments.has("--unsafe-paths", "--directory"):
        call.objects()


Change = Callable[[Call, Arguments], None]
CHANGES: dict[str, Change] = {
    "rm": _removes,
    "mv": _moves,
    "restore": _changes,
    "config": config,
    "clone": _clones,
    "init": _makes,
    "worktree": _worktree,
    "bundle": _bundle,
    "format-patch": _patches,
    "apply": _applies,
    "am": _applies,
    **dict.fromkeys(("filter-branch", "difftool", "mergetool", "instaweb", "daemon"), _runs),
    **dict.fromkeys(("submodule", "bisect", "hook"), _may_run),
}
