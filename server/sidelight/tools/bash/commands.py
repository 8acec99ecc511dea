"""Judges one simple command: finds its handler and writes down what comes out."""

import posixpath
from collections.abc import Callable, Sequence

from sidelight.core.access import UNKNOWN, Access
from sidelight.tools.bash import builtins, wrappers
from sidelight.tools.bash.actions import ACTIONS
from sidelight.tools.bash.atoms import WILD
from sidelight.tools.bash.awk import awk
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.find import fd, find, rg
from sidelight.tools.bash.git import git
from sidelight.tools.bash.jq import jq
from sidelight.tools.bash.options import names
from sidelight.tools.bash.programs import apply
from sidelight.tools.bash.readonly import READ_ONLY
from sidelight.tools.bash.report import Report, escaped
from sidelight.tools.bash.sed import sed
from sidelight.tools.bash.special import (
    copy,
    date,
    dd,
    go,
    hostname,
    link,
    printf,
    read,
    test,
    uniq,
)
from sidelight.tools.bash.transfer import curl, dump, pack, send, split, tar, unzip, wget
from sidelight.tools.bash.variables import dangerous, harmless

RESERVED = names(
    "! [[ ]] { } case do done elif else esac fi for function if in select then until while"
)
SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin"})
HANDLERS: dict[str, Callable[[Call], None]] = {
    **builtins.HANDLERS,
    **wrappers.HANDLERS,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
    **dict.fromkeys(("cp", "mv", "install"), copy),
    **dict.fromkeys(("test", "["), test),
    "date": date,
    "dd": dd,
    "fd": fd,
    "find": find,
    "git": git,
    "go": go,
    "hostname": hostname,
    "jq": jq,
    "ln": link,
    "printf": printf,
    "read": read,
    "rg": rg,
    "sed": sed,
    "uniq": uniq,
    "tar": tar,
    "zip": pack,
    "unzip": unzip,
    "xxd": dump,
    "split": split,
    "csplit": split,
    "rsync": send,
    "scp": send,
    "curl": curl,
    "wget": wget,
}


def judge(call: Call, assignments: Sequence[str], doubts: Sequence[str]) -> None:
    """Work out what the call does and add its accesses to the report."""
    before = len(call.report.found)
    state = call.state
    steered = [name for name in map(_name, assignments) if not harmless(name)]
    for reason in doubts:
        call.doubt(reason)
    _name_complaint(call)
    if not call.unsure or doubts:
        _handle(call)
    if any(dangerous(name) for name in steered):
        call.objects()
    listed = call.listed and not steered and _is_system(call.words[0].text)
    if call.unsure:
        call.report.hidden(call.text, call.unsure)
    own = call.report.found[before:]
    writes = any(access.kind == "write" and access.command == call.text for access in own)
    read_only = listed and call.coverable and not call.unsure and not writes
    call.report.found.append(
        Access(
            kind="execute",
            target=call.text,
            mutates=not read_only,
            words=tuple(word.text for word in call.words),
            assignments=tuple(assignments),
            unsure=call.unsure,
            coverable=call.coverable,
            read_only=read_only,
            command=call.text,
            guard=call.guard or call.skip,
            listed=listed,
            steered=bool(steered),
            named=call.named,
            folder=call.state.folders[0] if len(call.state.folders) == 1 else "",
            globs=_option_globs(call) if not call.skip else (),
        )
    )
    _git_elsewhere(call)
    _open_words(call)
    call.state = state


def _open_words(call: Call) -> None:
    """For deny and ask rules, a wildcard's word is one that only the run knows."""
    if not any(word.pattern for word in call.words):
        return
    words = tuple(UNKNOWN if word.pattern else word.text for word in call.words)
    last = call.report.found[-1]
    call.report.found.append(
        Access(
            kind="execute",
            target=last.target,
            command=last.command,
            words=words,
            assignments=last.assignments,
            guard=True,
        )
    )


def _git_elsewhere(call: Call) -> None:
    """git in each of several possible folders is judged in each."""
    if call.name != "git" or len(call.state.folders) == 1:
        return
    last = call.report.found[-1]
    if not call.state.folders:
        reason = "the folder in which git runs is only known when it runs"
        call.report.found[-1] = last.model_copy(update={"unsure": last.unsure or reason})
        return
    call.report.found[-1:] = [
        last.model_copy(update={"folder": folder}) for folder in call.state.folders
    ]


def _name(assignment: str) -> str:
    return assignment.partition("=")[0].rstrip("+")


def _name_complaint(call: Call) -> None:
    head = call.words[0]
    if not head.known or head.loose:
        call.doubt("the program's name is only known when it runs")
    elif head.pattern:
        call.doubt("a wildcard in the program's name is only resolved when it runs")
    elif not head.text.isascii():
        call.doubt("the program's name has letters outside ASCII")
    elif head.text in RESERVED or not head.text.strip():
        call.doubt("the command begins with a word of the shell's grammar")
    elif head.home:
        call.doubt("a program in the home folder")


def _handle(call: Call) -> None:
    if call.words[0].known:
        call.name = posixpath.basename(call.words[0].text)
    handler = HANDLERS.get(call.name)
    if handler is not None:
        handler(call)
    elif call.name in READ_ONLY:
        apply(READ_ONLY[call.name], call)
    elif call.name in ACTIONS:
        apply(ACTIONS[call.name], call)


def _is_system(name: str) -> bool:
    return "/" not in name or posixpath.dirname(name) in SYSTEM_FOLDERS


def _option_globs(call: Call) -> tuple[str, ...]:
    """Unquoted globs before `--` whose matches may begin with a dash."""
    found: list[str] = []
    for word in call.arguments:
        if word.text == "--":
            break
        if word.pattern and word.pattern[0] in WILD:
            found.extend(f"{escaped(folder)}/{word.pattern}" for folder in call.state.folders)
    return tuple(found)


def plain_assignments(report: Report, text: str, assignments: Sequence[str]) -> None:
    """Write down a command that only assigns."""
    steering = any(dangerous(_name(each)) for each in assignments)
    report.found.append(
        Access(
            kind="execute",
            target=text,
            command=text,
            mutates=steering,
            assignments=tuple(assignments),
            coverable=not steering,
            listed=not steering,
            read_only=not steering,
        )
    )
