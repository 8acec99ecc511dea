"""Programs that run their arguments: found, looked through, and never covered by a prefix rule."""

import re
import shlex
from collections.abc import Callable, Sequence

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar, read_arguments

TRANSPARENT = frozenset({"timeout", "time", "nice", "nohup", "stdbuf", "command"})
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "busybox"})
MOST_STARTS = 6
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
GRAMMARS: dict[str, Grammar] = {
    "timeout": Grammar("ks", frozenset({"--kill-after", "--signal"}), stops=True),
    "time": Grammar("fo", frozenset({"--format", "--output"}), stops=True),
    "nice": Grammar("n", frozenset({"--adjustment"}), stops=True),
    "stdbuf": Grammar("ioe", frozenset({"--input", "--output", "--error"}), stops=True),
    "exec": Grammar("a", stops=True),
    "env": Grammar(
        "uCSP", frozenset({"--unset", "--chdir", "--split-string"}),
        notable=frozenset({"--split-string", "--chdir", "--unset"}), stops=True,
    ),
    "sudo": Grammar(
        "ugpCrthDRTU", frozenset({"--user", "--group", "--prompt", "--chdir", "--host", "--role"}),
        stops=True,
    ),
    "doas": Grammar("uC", stops=True),
    "xargs": Grammar(
        "aEdILnPs", frozenset({"--arg-file", "--delimiter", "--max-args", "--max-procs",
                               "--max-lines", "--max-chars", "--replace", "--process-slot-var"}),
        stops=True, optional="eil",
    ),
    "watch": Grammar("nq", frozenset({"--interval", "--equexit"}), stops=True),
    "ionice": Grammar("cnpPu", frozenset({"--class", "--classdata"}), stops=True),
    "flock": Grammar("wEc", frozenset({"--timeout", "--conflict-exit-code"}), stops=True),
    "strace": Grammar("oepsaEuPSXbI", stops=True),
    "chrt": Grammar("TPD", stops=True),
    "taskset": Grammar("", stops=True),
    "unshare": Grammar("SGRw", stops=True),
    "parallel": Grammar("jaNnLISdCE", stops=True),
}  # fmt: skip
RUNNERS = frozenset(GRAMMARS) - TRANSPARENT | {
    "builtin", "setsid", "coproc", "chroot", "nsenter", "setarch", "unbuffer", "caffeinate",
    "firejail", "bwrap", "runuser", "su", "pkexec", "at", "batch", "entr", "ltrace", "gdb",
    "dbus-run-session", "xvfb-run", "catchsegv", "numactl", "prlimit", "systemd-run", "tsp",
    "noglob", "nocorrect", "rlwrap", "fakeroot", "proxychains", "torsocks", "start-stop-daemon",
}  # fmt: skip
SKIPPED_OPERANDS = {"timeout": 1, "flock": 1, "chroot": 1, "taskset": 1, "chrt": 1, "setarch": 1}


def transparent(call: Call) -> None:
    """`timeout 5 make` is `make` to allow rules; deny and ask rules see the wrapper too."""
    if call.name == "command" and _asks_where(call):
        call.listed = True
        return
    arguments = call.parsed(GRAMMARS.get(call.name, Grammar(stops=True)))
    inner = call.arguments[arguments.first :][SKIPPED_OPERANDS.get(call.name, 0) :]
    call.skip = True
    if call.name == "time":
        for word in arguments.values("-o", "--output"):
            call.write(word, implied=False)
    if any(not word.known or word.loose for word in call.arguments[: arguments.first + 1]):
        call.objects()
        call.skip = False
    if call.name == "time" and inner and ASSIGNMENT.match(inner[0].text):
        call.doubt("an assignment stands behind time")
    elif inner:
        call.inner(call, inner, call.guard)
    else:
        call.listed = True


def _asks_where(call: Call) -> bool:
    first = call.arguments[0].text if call.arguments else ""
    return bool(re.fullmatch(r"-p?[vV]p?", first))


def runner(call: Call) -> None:
    """A program that runs its arguments: deny and ask rules look inside, no prefix rule covers it.

    Where the wrapper's options are not known, each of the first words may be the program.
    """
    call.objects()
    grammar = GRAMMARS.get(call.name, Grammar(stops=True))
    arguments = read_arguments(call.arguments, grammar)
    for option in arguments.options:
        if option.value is not None and option.name in {"-S", "--split-string"}:
            _split_text(call, option.value, call.arguments[arguments.first :])
        if option.value is not None and option.name in {"-c", "--command"}:
            _text(call, option.value)
    inner = list(call.arguments[arguments.first :][SKIPPED_OPERANDS.get(call.name, 0) :])
    while inner and (ASSIGNMENT.match(inner[0].text) or inner[0].text == "-"):
        inner = inner[1:]
    starts = range(len(inner)) if call.name not in GRAMMARS else range(1)
    for start in starts[:MOST_STARTS]:
        if inner[start:]:
            call.inner(call, inner[start:], True)
    if call.name in {"watch", "flock", "su", "script", "runuser", "parallel", "strace"}:
        _scripts_inside(call, inner)


def _split_text(call: Call, value: Word, rest: Sequence[Word]) -> None:
    try:
        words = [Word(text) for text in shlex.split(value.text)]
    except ValueError:
        words = []
    if not value.known or not words:
        call.doubt("what env runs is only known when it runs")
        return
    while words and ASSIGNMENT.match(words[0].text):
        words = words[1:]
    if words or rest:
        call.inner(call, [*words, *rest], True)


def _scripts_inside(call: Call, inner: Sequence[Word]) -> None:
    """These join their words and give them to a shell; `-c` may come after an operand."""
    for index, word in enumerate(call.arguments[:-1]):
        if re.fullmatch(r"-\w*c|--command", word.text):
            _text(call, call.arguments[index + 1])
    if inner and all(word.known for word in inner):
        call.script(call, " ".join(word.text for word in inner))


def _text(call: Call, word: Word) -> None:
    if word.known and not word.loose:
        call.script(call, word.text)
    else:
        call.doubt("the script is only known when it runs")


def xargs(call: Call) -> None:
    """A rule that names the inner program covers it, as long as that one could be covered."""
    arguments = call.parsed(GRAMMARS["xargs"])
    for word in arguments.values("-a", "--arg-file"):
        call.read(word)
    inner = list(call.arguments[arguments.first :]) or [Word("echo")]
    call.named = len(call.words) - len(inner) + 1
    places = [word.text for word in arguments.values("-I", "--replace")]
    call.inner(call, _fed(inner, places[0] if places else ""), True)
    if inner[0].text in SHELLS | RUNNERS | TRANSPARENT | {"xargs", "eval", "source", "."}:
        call.objects()
    if any(word.loose or not word.known for word in call.arguments[: arguments.first + 1]):
        call.objects()


def _fed(words: Sequence[Word], place: str) -> list[Word]:
    """The inner words with what comes from standard input: at the place, else at the end."""
    if not place:
        return [*words, Word(UNKNOWN, loose=True, fed=True)]
    return [
        Word(word.text.replace(place, UNKNOWN), fed=True) if place in word.text else word
        for word in words
    ]


def shell(call: Call) -> None:
    """`sh -c 'text'` and a script on standard input are looked into; files are only read."""
    call.objects()
    grammar = Grammar("oO", frozenset({"--rcfile", "--init-file"}), stops=True)
    arguments = call.parsed(grammar)
    operands = list(arguments.operands)
    runs_text = any(o.name == "-c" for o in arguments.options)
    for word in arguments.values("--rcfile", "--init-file"):
        call.read(word)
    if runs_text and operands:
        _text(call, operands[0])
    elif operands and call.name == "busybox":
        call.inner(call, operands, True)
    elif operands and operands[0].text != "-":
        call.read(operands[0])
    elif call.stdin is not None:
        call.script(call, call.stdin)
    elif not arguments.has("--version", "--help"):
        call.doubt("the script comes from another command")


def evaluate(call: Call) -> None:
    """`eval` joins its words to a script."""
    call.objects()
    if any(not word.known or word.loose or word.pattern for word in call.arguments):
        call.doubt("what eval runs is only known when it runs")
    elif call.arguments:
        call.script(call, " ".join(word.text for word in call.arguments))


def trap(call: Call) -> None:
    """`trap` keeps its first word as a script for later."""
    call.objects()
    operands = call.parsed(Grammar(stops=True)).operands
    if len(operands) > 1:
        _text(call, operands[0])


def source(call: Call) -> None:
    """`.` and `source` run a file in the shell itself."""
    call.objects()
    for word in call.arguments[:1]:
        call.read(word)
    call.after = call.failed = call.state.forgotten()


HANDLERS: dict[str, Callable[[Call], None]] = {
    **dict.fromkeys(sorted(TRANSPARENT), transparent),
    **dict.fromkeys(sorted(RUNNERS), runner),
    **dict.fromkeys(sorted(SHELLS), shell),
    "xargs": xargs,
    "eval": evaluate,
    "trap": trap,
    "source": source,
    ".": source,
    "script": runner,
    "parallel": runner,
}
