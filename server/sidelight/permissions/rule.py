"""Permission rules as written: `Bash(git diff *)` read into parts, or the reason why not."""

import re
from dataclasses import dataclass
from typing import Literal

from sidelight.core.decision import Behavior
from sidelight.core.tool_names import ALIASES
from sidelight.permissions.words import wording

SourceName = Literal["managed", "arguments", "local", "project", "user", "session", "command"]

RULE = re.compile(r"(?P<tool>[^()\s]+)(?:\((?P<content>.*)\))?", re.DOTALL)
TOOL = re.compile(r"[A-Za-z*?][\w*?.-]*")
PATH_TOOLS = frozenset({"Write", "NotebookEdit", "MultiEdit", "Glob", "Grep", "LS", "NotebookRead"})
LISTING_TOOLS = frozenset({"Glob", "Grep", "LS", "NotebookRead"})
SHELL_TOOLS = frozenset({"Bash", "Monitor", "PowerShell"})
SUBJECT_TOOLS = frozenset({"Read", "Edit", "WebFetch", "Agent", "Skill", "Cd"})
PRIMARY = frozenset({"command", "file_path", "path", "notebook_path", "url"})
PARAMETER = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*(.+)", re.DOTALL)
KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
     "select", "function", "in", "time", "coproc", "{", "}", "!", "[["}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule stands: the kind of source, its file if any, and the folder of `/x` patterns."""

    name: SourceName
    path: str = ""
    root: str = ""

    @property
    def label(self) -> str:
        """The source for people: the file, else the kind."""
        return self.path or {"arguments": "the command line", "session": "this session"}.get(
            self.name, f"{self.name} settings"
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that can match; `content` None means every use of the tool."""

    text: str
    tool: str
    content: str | None
    behavior: Behavior
    source: Source


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that matches nothing, and why; one sentence for people."""

    text: str
    source: Source
    reason: str

    def __str__(self) -> str:
        return f"{self.source.label}: the rule {self.text!r} is ignored: {self.reason}"


def parse_rule(text: str, behavior: Behavior, source: Source) -> Rule | Problem:
    """Read one rule; never raises."""
    found = RULE.fullmatch(text.strip())
    if found is None:
        return Problem(text, source, "it is not of the form Tool or Tool(content)")
    tool, content = found["tool"], found["content"]
    tool = ALIASES.get(tool, tool)
    if content is not None and (not content.strip() or content.strip() == "*"):
        content = None if content.strip() == "*" else ""
    rule = Rule(text.strip(), tool, content, behavior, source)
    reason = _objection(rule)
    return Problem(text, source, reason) if reason else rule


def format_rule(tool: str, content: str | None) -> str:
    """A rule as text."""
    return tool if content is None else f"{tool}({content})"


def _objection(rule: Rule) -> str:
    """Why the rule can match nothing, or an empty text."""
    for check in (_name_objection, _too_wide, _content_objection):
        reason = check(rule)
        if reason:
            return reason
    return ""


def _name_objection(rule: Rule) -> str:
    if TOOL.fullmatch(rule.tool) is not None:
        return ""
    better = "; write Bash(...) instead" if rule.tool.startswith("Bash:") else ""
    return f"{rule.tool!r} is no tool's name{better}"


def _content_objection(rule: Rule) -> str:
    if rule.content is None:
        return ""
    if not rule.content:
        return "there is nothing between its brackets"
    if rule.tool in PATH_TOOLS:
        better = "Read" if rule.tool in LISTING_TOOLS else "Edit"
        return f"paths are matched by {better} rules only; write {better}({rule.content})"
    if rule.tool == "WebFetch" and not rule.content.startswith("domain:"):
        return "a WebFetch rule names a host as WebFetch(domain:example.com)"
    if rule.tool in SHELL_TOOLS:
        return _bash_objection(rule)
    return _primary_objection(rule) if rule.tool in SUBJECT_TOOLS else _parameter_objection(rule)


def _too_wide(rule: Rule) -> str:
    """An allow rule names its tool, or at least its server."""
    if rule.behavior != "allow" or not re.search(r"[*?]", rule.tool):
        return ""
    if re.fullmatch(r"mcp__[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*__[\w*?.-]+", rule.tool):
        return ""
    return "an allow rule has to name the tool, or the server as mcp__server__*"


def _bash_objection(rule: Rule) -> str:
    content = rule.content or ""
    found = PARAMETER.fullmatch(content)
    if found and found[1] in PRIMARY:
        return f"{found[1]} is no parameter that rules can name; write the command itself"
    if content.split()[0].removesuffix(":*") in KEYWORDS:
        return "it names a word of the shell's grammar, not a command"
    return "" if wording(content, quoted_stars=False) else "its quotes do not close"


def _primary_objection(rule: Rule) -> str:
    found = PARAMETER.fullmatch(rule.content or "")
    if found and found[1] in PRIMARY:
        return f"{found[1]} is no parameter that rules can name; write the path itself"
    return ""


def _parameter_objection(rule: Rule) -> str:
    found = PARAMETER.fullmatch(rule.content or "")
    if rule.tool.startswith("mcp__") and found is None:
        return "an MCP rule has no content; name the tool as mcp__server__tool"
    if found is None:
        return f"{rule.tool} takes no such content; write {rule.tool} or {rule.tool}(name:value)"
    if rule.behavior == "allow":
        return "rules about a parameter can deny or ask, not allow"
    return f"{found[1]} is no parameter that rules can name" if found[1] in PRIMARY else ""
