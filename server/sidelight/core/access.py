"""What a tool call touches, in words that rules, sandbox and scheduling share."""

from typing import Literal

from sidelight.core.record import Record

AccessKind = Literal["read", "write", "execute", "fetch", "mcp", "interact"]


class Access(Record):
    """One thing that a call reads, changes, runs or contacts.

    `target` is an absolute path for read and write, the command as text for execute, a URL for
    fetch. `words` are an executed command's words after quoting; `unsure` says why its effects
    cannot be told (then it always asks); `covered` is False for effects that no rule may cover
    but an exact one.
    """

    kind: AccessKind
    target: str
    mutates: bool = False
    words: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    unsure: str = ""
    coverable: bool = True
    read_only: bool = False
