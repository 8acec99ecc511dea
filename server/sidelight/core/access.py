"""What a tool call touches, in words that rules, sandbox and scheduling share."""

from typing import Literal

from sidelight.core.record import Record

AccessKind = Literal["read", "write", "execute", "fetch", "mcp", "interact", "session"]
Depth = Literal["", "names", "visible", "all", "follow"]

UNKNOWN = "\0"
"""Stands in `words` and `target` for text that is only known when the command runs."""


class Access(Record):
    """One thing that a call reads, changes, runs or contacts.

    `target` is an absolute path for read and write (`~/x` and `~user/x` are left to whoever looks
    at the disk), the command as text for execute, a URL for fetch, the tool's name for mcp;
    `interact` needs a person, `session` touches nothing but the session's own notes.

    `unsure` says why the effects cannot be told; then it asks whatever rule there is. `coverable`
    is False for effects that only an exact rule or one for the whole tool may cover. `guard` marks
    what deny and ask rules look at and allow rules need not cover.

    Paths: `pattern` says that `target` is a shell glob; `depth` how far below the target the call
    goes (names only, contents without hidden files, all contents, all contents through links),
    `only` which file names it looks into (`!name` leaves out);
    `removes` marks deletions and moves away; `source` a folder whose contents arrive at `target`;
    `implied` a write that is the command's very purpose, so that a rule for the command covers it
    inside the workspace.

    Commands: `command` is the text of the simple command that a read or write belongs to, equal
    to that command's `target`. `words` are the words after quoting, `assignments` those in front,
    `steered` says that they may change what the words do. `listed` means that the command does
    nothing but its reads and writes, `read_only` that there are no writes either. `named` is how
    many words an allow rule has to name at least; `folder` where it runs; `globs` patterns whose
    matches could be taken for options.
    """

    kind: AccessKind
    target: str
    mutates: bool = False
    words: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    unsure: str = ""
    coverable: bool = True
    read_only: bool = False
    command: str = ""
    guard: bool = False
    listed: bool = False
    steered: bool = False
    implied: bool = False
    removes: bool = False
    pattern: bool = False
    depth: Depth = ""
    only: tuple[str, ...] = ()
    source: str = ""
    named: int = 0
    folder: str = ""
    globs: tuple[str, ...] = ()
