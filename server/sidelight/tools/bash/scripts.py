"""Small languages inside commands: what a `sed`, `awk` or `jq` program reads, writes and runs."""

import re
from collections.abc import Sequence

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.options import Grammar

SED = Grammar(
    short="efl",
    long=frozenset({"--expression", "--file", "--line-length"}),
    notable=frozenset({"--expression", "--file", "--in-place"}),
    optional="i",
)
SED_CLASS = r"\[\^?(?:\]|[^\]])(?:\[:\w+:\]|[^\]])*\]"
SED_ADDRESS = re.compile(
    r"(?:\d+(?:~\d+)?|\$|/(?:\\.|\[\^?(?:\[:\w+:\]|[^\]/\[\\])+\]|[^/\\\[])*/[IM]*)"
)
SED_PLAIN = frozenset("dDgGhHnNpPxz=")
AWK = Grammar(short="Fvf", long=frozenset({"--field-separator", "--assign"}), stops=True)
AWK_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
AWK_REGEX = re.compile(r'((?:^|[~(,!&|{;\n])\s*)/(?:\\.|[^/\\"\n])*/')
AWK_RUNS = re.compile(r"\bsystem\s*\(|\bgetline\b|(?<!\|)\|&?(?!\|)|@")
AWK_PRINTS = re.compile(r"\bprintf?\b[^;}\n]*>")
JQ_TWO = frozenset({"--arg", "--argjson"})
JQ_FILE = frozenset({"--slurpfile", "--rawfile", "--argfile"})
JQ_PATH = frozenset({"-f", "--from-file", "-L", "--library-path"})


def sed(call: Call) -> None:
    """Judge a call of `sed`: its script, then the files it reads or, with -i, edits."""
    call.listed = True
    arguments = call.parsed(SED)
    in_place = any(o.name in {"--in-place", "-i"} for o in arguments.options)
    scripts = list(arguments.values("-e", "--expression"))
    files = list(arguments.operands)
    if arguments.has("-f", "--file"):
        call.doubt("the script of sed is in a file")
    elif not scripts:
        scripts, files = files[:1], files[1:]
    if any(word.loose for word in call.arguments):
        call.objects()
    for script in scripts:
        _sed_script(call, script)
    for file in files:
        call.read(file)
        if in_place:
            call.write(file, implied=False)


def _sed_script(call: Call, script: Word) -> None:
    if not script.known:
        call.doubt("the script of sed is only known when it runs")
        return
    found = sed_effects(script.text)
    if found is None:
        call.doubt("the script of sed runs a command or cannot be read")
        return
    for kind, path in found:
        if kind == "r":
            call.read(Word(path))
        else:
            call.write(Word(path), implied=False)


def sed_effects(script: str) -> list[tuple[str, str]] | None:
    """Files that a sed script reads ('r') and writes ('w'); None if it runs a command or is odd."""
    effects: list[tuple[str, str]] = []
    rest = script.lstrip("; \t\n{}")
    while rest:
        rest = _past_addresses(rest)
        step = _sed_command(rest, effects)
        if step is None:
            return None
        rest = step.lstrip("; \t\n{}")
    return effects


def _past_addresses(text: str) -> str:
    found = SED_ADDRESS.match(text)
    if found:
        text = text[found.end() :].lstrip(" \t")
        if text.startswith(","):
            text = text[1:].lstrip(" \t")
            ahead = re.match(r"[+~]\d+", text) or SED_ADDRESS.match(text)
            text = text[ahead.end() :] if ahead else text
    return text.lstrip(" \t!{")


def _sed_command(text: str, effects: list[tuple[str, str]]) -> str | None:
    letter, rest = text[:1], text[1:]
    line, _, following = rest.partition("\n")
    if letter in SED_PLAIN or not letter:
        return rest
    if letter in "sy":
        return _substitute(rest, letter, effects)
    if letter in "rRwW" and line.strip():
        effects.append(("r" if letter in "rR" else "w", line.strip()))
        return following
    if letter in "aic#":
        while line.endswith("\\") and following:
            line, _, following = following.partition("\n")
        return following
    if letter in "bt:TqQlL":
        return re.sub(r"^[ \t]*[\w.-]*", "", rest, count=1)
    return None


def _substitute(rest: str, letter: str, effects: list[tuple[str, str]]) -> str | None:
    delimiter = rest[:1]
    if not delimiter or delimiter in "\\\n":
        return None
    middle = _past_delimiter(rest, 1, delimiter)
    end = _past_delimiter(rest, middle, delimiter)
    if end < 0 or _ambiguous(rest[1 : middle - 1]):
        return None
    return rest[end:] if letter == "y" else _flags(rest[end:], effects)


def _ambiguous(pattern: str) -> bool:
    """Whether a bracket is still open where the delimiter stands."""
    return "[" in re.sub(SED_CLASS, "", re.sub(r"\\.", "", pattern))


def _flags(text: str, effects: list[tuple[str, str]]) -> str | None:
    """What follows the flags of `s`; None for `e`, which runs the result."""
    text = text.lstrip("gpiImM0123456789")
    if text.startswith("w"):
        line, _, following = text[1:].partition("\n")
        effects.append(("w", line.strip()))
        return following
    return text if text[:1] in {"", ";", "}", "\n", " ", "\t", "#"} else None


def _past_delimiter(text: str, position: int, delimiter: str) -> int:
    """After the next delimiter, or -1. Some seds let brackets hide it, some do not: the caller
    refuses patterns in which that makes a difference."""
    while 0 <= position < len(text):
        if text[position] == "\\":
            position += 2
        elif text[position] == delimiter:
            return position + 1
        else:
            position += 1
    return -1


def awk(call: Call) -> None:
    """Judge a call of `awk`: never on the list, but some programs are beyond any prefix rule."""
    arguments = call.parsed(AWK)
    operands = list(arguments.operands)
    names = {option.name for option in arguments.options}
    if names - {"-F", "-v", "--field-separator", "--assign"}:
        call.hides()
    if "-f" in names:
        for file in arguments.values("-f"):
            call.read(file)
    elif operands:
        if not operands[0].known or _awk_acts(operands[0].text):
            call.hides()
        operands = operands[1:]
    for word in operands:
        if "=" not in word.text:
            call.read(word)


def _awk_acts(script: str) -> bool:
    """Whether an awk program runs commands, reads from them, or writes files."""
    bare = AWK_REGEX.sub(r"\1 0 ", AWK_STRING.sub(' "" ', script))
    return bool(AWK_RUNS.search(bare) or AWK_PRINTS.search(bare))


def jq(call: Call) -> None:
    """Judge a call of `jq`: the filter, then the files."""
    call.listed = True
    words = list(call.arguments)
    operands: list[Word] = []
    from_file = False
    while words:
        word = words.pop(0)
        if word.loose or word.text.startswith(UNKNOWN):
            call.objects()
        name, equals, value = word.text.partition("=")
        if name in JQ_TWO:
            del words[:2]
        elif name in JQ_FILE:
            _read_all(call, words[1:2])
            del words[:2]
        elif name in JQ_PATH:
            _read_all(call, [Word(value)] if equals else words[:1])
            del words[: 0 if equals else 1]
            from_file = from_file or name in {"-f", "--from-file"}
            call.objects()
        elif word.text.startswith("-L") or re.match(r"-\w*[fL]|--(fr|l)", word.text):
            call.objects()
        elif name in {"--args", "--jsonargs"}:
            operands.extend(w for w in words[:1] if not operands)
            break
        elif not word.text.startswith("-"):
            operands.append(word)
    _jq_operands(call, operands, from_file)


def _jq_operands(call: Call, operands: Sequence[Word], from_file: bool) -> None:
    if not from_file and operands:
        if re.search(r"\b(import|include)\b", operands[0].text) or not operands[0].known:
            call.doubt("the filter of jq loads other files")
        operands = operands[1:]
    _read_all(call, operands)


def _read_all(call: Call, words: Sequence[Word]) -> None:
    for word in words:
        call.read(word)
