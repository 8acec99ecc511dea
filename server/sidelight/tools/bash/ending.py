"""What the end of a command means, in words; not every exit code 1 is an error."""

import shlex
import signal
from collections.abc import Iterator

from sidelight.background.task import Ending

BENIGN = {
    "grep": "no lines matched",
    "egrep": "no lines matched",
    "fgrep": "no lines matched",
    "rg": "no lines matched",
    "git grep": "no lines matched",
    "diff": "the files differ",
    "git diff": "there are differences",
    "find": "some folders could not be read",
    "test": "the condition is false",
    "[": "the condition is false",
}
"""Commands that answer a question with exit code 1."""

SILENT = frozenset({"cd", "echo", "printf", "pwd", "true", "export"})
"""Commands that may stand beside those: an exit code 1 is hardly theirs."""

_EXPLAINED = {126: "found, but it may not be run", 127: "command not found"}


def ending_of(command: str, exit_code: int | None, by_signal: int | None) -> Ending:
    """How to take an exit code or a signal of this command."""
    if by_signal is not None:
        return Ending(True, f"ended by {_signal_name(by_signal)}")
    if exit_code in {0, None}:
        return Ending(False)
    if exit_code == 1 and (meaning := _benign(command)):
        return Ending(False, meaning)
    if exit_code is not None and exit_code > 128 and (name := _signal_name(exit_code - 128)):
        reason = ", often for want of memory" if name == "SIGKILL" else ""
        return Ending(True, f"ended by {name}{reason}")
    return Ending(True, _EXPLAINED.get(exit_code or 0, ""))


def _benign(command: str) -> str:
    """What exit code 1 means if only such commands can have given it; empty if not."""
    names = list(_last_names(command))
    meanings = [BENIGN[name] for name in names if name in BENIGN]
    known = all(name in BENIGN or name in SILENT for name in names)
    return meanings[-1] if meanings and known else ""


def _last_names(command: str) -> Iterator[str]:
    """Names of the commands whose exit code the last line's may be: the ends of its pipes."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    lexer.whitespace_split = True
    pipes: list[list[str]] = [[]]
    try:
        for token in lexer:
            if token.strip("&|;\n()"):
                pipes[-1].append(token)
            elif token.strip("\n") in {"|", "|&"}:
                pipes[-1] = []
            elif token in {"&&", "||"}:
                pipes.append([])
            elif pipes[-1]:
                # A later line or command replaces what came before; blank ends do not.
                pipes.append([";"])
    except ValueError:
        return
    yield from _names_after_last_break(pipes)


def _names_after_last_break(pipes: list[list[str]]) -> Iterator[str]:
    kept: list[list[str]] = []
    for words in pipes:
        if words[:1] == [";"]:
            if len(words) > 1:
                kept = [words[1:]]
        elif words:
            kept.append(words)
    for words in kept:
        name = words[0].rpartition("/")[2]
        yield f"git {words[1]}" if name == "git" and len(words) > 1 else name


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""
