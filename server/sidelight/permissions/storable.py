"""May a rule be kept as an allow rule when a person typed it into a dialog?

The settings files take any rule; a dialog, answered in passing, does not take one that lets
through far more than what was asked.
"""

import posixpath

from sidelight.permissions.hosts import BadAddress, host_of
from sidelight.permissions.patterns import path_pattern
from sidelight.permissions.rule import SHELL_TOOLS, Problem, Rule, Source, parse_rule
from sidelight.permissions.suggest import INTERPRETERS, PLAIN, RUNNING, SUBCOMMANDS

WRAPPERS = frozenset(
    {"nohup", "stdbuf", "time", "command", "exec", "ionice", "setsid", "chrt", "taskset", "doas",
     "su", "script", "unbuffer", "busybox", "builtin", "flock", "strace", "chroot", "unshare",
     "nsenter", "bwrap", "ksh", "dash", "csh", "tcsh", "pwsh", "tclsh", "expect", "tsx", "ts-node",
     "pypy", "pypy3", "ipython", "julia", "source", ".", "systemd-run"}
)  # fmt: skip
LEAST_FOLDERS = {"disk": 2, "home": 1}
IN_SETTINGS = "write it into a settings file if it is meant"


def unfit(text: str) -> str:
    """Why the rule may not be kept from a dialog, in a sentence; empty if it may."""
    rule = parse_rule(text, "allow", Source("session"))
    if isinstance(rule, Problem):
        return f"{rule.reason[:1].upper()}{rule.reason[1:]}."
    reason = _too_much(rule)
    return f"{reason[:1].upper()}{reason[1:]}; {IN_SETTINGS}." if reason else ""


def tool_of(text: str) -> str | None:
    """The tool that a rule names; None for no rule."""
    rule = parse_rule(text, "allow", Source("session"))
    return None if isinstance(rule, Problem) else rule.tool


def _too_much(rule: Rule) -> str:
    if rule.tool.startswith("mcp__"):
        return "it covers more than one tool" if "*" in rule.tool or "?" in rule.tool else ""
    if rule.content is None:
        return f"it covers every use of {rule.tool}"
    if rule.tool in SHELL_TOOLS:
        return _command(rule.content)
    if rule.tool == "WebFetch":
        return _host(rule.content)
    return _path(rule.content) if rule.tool in {"Read", "Edit"} else ""


def _command(content: str) -> str:
    if content.endswith(":*"):
        content = f"{content[:-2]} *"
    words = content.split()
    if not any("*" in word for word in words):
        return ""
    name = posixpath.basename(words[0])
    if "*" in words[0] or "=" in words[0]:
        return "its first word has to be a program's name"
    if name in INTERPRETERS or name in WRAPPERS:
        module = name.startswith("python") and words[1:2] == ["-m"] and words[2:3]
        if module and PLAIN.fullmatch(words[2]):
            return ""
        return f"{name} runs whatever it is given, so only a rule without * can cover it"
    count = SUBCOMMANDS.get(name, 0)
    if count and words[1:2] and words[1] in RUNNING:
        count += 1
    named = words[1 : 1 + count]
    if len(named) < count or any(PLAIN.fullmatch(word) is None or word[0] == "-" for word in named):
        return f"the * may stand only behind the subcommand of {name}"
    return ""


def _host(content: str) -> str:
    name = content.partition(":")[2].strip()
    if "*" in name.removeprefix("*.") or "." not in name.removeprefix("*."):
        return "it covers more than one site"
    host = host_of(f"https://{name.removeprefix('*.')}/")
    return host.reason if isinstance(host, BadAddress) else ""


def _path(content: str) -> str:
    pattern = path_pattern(content, wide=False)
    if pattern.negated:
        return "an exception alone allows nothing"
    least = LEAST_FOLDERS.get(pattern.anchor, 0)
    if len([part for part in pattern.prefix.split("/") if part]) < least:
        return "it covers too much of the disk"
    return ""
