"""Does a rule cover an access: a command's words, a path, a host, an MCP tool's name."""

import fnmatch
import re
from collections.abc import Iterable, Sequence

from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.ground import Ground
from sidelight.permissions.hosts import BadAddress, host_matches, host_of
from sidelight.permissions.paths import Place, within
from sidelight.permissions.patterns import PathPattern, path_pattern
from sidelight.permissions.rule import PARAMETER, Rule
from sidelight.permissions.words import fits, forms, may_fit, wording

SUBJECTS = {"Agent": "subagent_type", "Skill": "skill", "Cd": "path"}
SHELLS = frozenset({"Bash", "Monitor"})
UNREAD_SHELLS = frozenset({*SHELLS, "PowerShell"})
"""Those whose rules may mean a command that could not be read."""


def names_tool(rule: Rule, tool: str) -> bool:
    """Whether the rule's tool name means this tool; an MCP server's name means all its tools."""
    if re.search(r"[*?\[]", rule.tool):
        return fnmatch.fnmatchcase(tool, rule.tool)
    if rule.tool == tool:
        return True
    return rule.tool.startswith("mcp__") and tool.startswith(rule.tool + "__")


def restricting(rules: Sequence[Rule], case: Case) -> Rule | None:
    """The first deny or ask rule that matches the call or any part of it."""
    for index, rule in enumerate(rules):
        if _on_call(rule, case):
            return rule
        for seen in case.seen:
            if _restricts(rule, seen, case.ground) and not _taken_back(rules[index:], seen, case):
                return rule
    return None


def _on_call(rule: Rule, case: Case) -> bool:
    if not names_tool(rule, case.question.tool):
        return False
    return rule.content is None or parameter_fits(rule, case.question.input)


def parameter_fits(rule: Rule, input: Json) -> bool:
    """Whether a rule about a field of the input matches; a field that is not given never does."""
    content = rule.content or ""
    subject = input.get(SUBJECTS.get(rule.tool, ""))
    if isinstance(subject, str) and _text_fits(content.removesuffix(" *"), subject):
        return True
    found = PARAMETER.fullmatch(content)
    value = input.get(found[1]) if found else None
    if found is None or value is None or isinstance(value, dict | list):
        return False
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _text_fits(found[2].strip(), text)


def _text_fits(pattern: str, text: str) -> bool:
    body = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(body, text, re.DOTALL) is not None


def _restricts(rule: Rule, seen: Seen, ground: Ground) -> bool:
    kind = seen.access.kind
    if kind == "execute":
        return any(names_tool(rule, name) for name in SHELLS) and restricts_words(rule, seen.access)
    if kind in {"read", "write"}:
        return _rules_path(rule, kind) and restricts_path(rule, seen.places, ground)
    if kind == "fetch":
        return names_tool(rule, "WebFetch") and _host_fits(rule, seen.access.target)
    return kind == "mcp" and rule.content is None and names_tool(rule, seen.access.target)


def _rules_path(rule: Rule, kind: str) -> bool:
    """`Edit` rules hold for writes, `Read` rules for reads; a Read denial also stops writes."""
    if names_tool(rule, "Read"):
        return kind == "read" or rule.behavior == "deny"
    return kind == "write" and names_tool(rule, "Edit")


def _host_fits(rule: Rule, url: str) -> bool:
    if rule.content is None:
        return True
    host = host_of(url)
    if isinstance(host, BadAddress):
        return True
    pattern = rule.content.partition(":")[2]
    return pattern.strip() == "*" or host_matches(pattern, host)


def restricts_words(rule: Rule, access: Access) -> bool:
    """Whether a deny or ask rule surely means this command, in any of its forms."""
    if rule.content is None:
        return bool(access.words)
    if not access.words:
        return False
    wanted = wording(rule.content, quoted_stars=True)
    if wanted is None:
        return False
    return any(
        fits(wanted, form) or fits(wanted, (*access.assignments, *form))
        for form in forms(access.words)
    )


def could_restrict_words(rule: Rule, access: Access) -> bool:
    """Whether a deny or ask rule may mean this command, whose words are not all known."""
    if not any(names_tool(rule, name) for name in UNREAD_SHELLS) or rule.content is None:
        return False
    wanted = wording(rule.content, quoted_stars=True)
    return wanted is not None and any(may_fit(wanted, form) for form in forms(access.words))


def restricts_path(rule: Rule, places: Iterable[Place], ground: Ground) -> bool:
    """Whether any step of any of the places is below the rule's pattern."""
    if rule.content is None:
        return True
    pattern = path_pattern(rule.content, wide=True)
    if pattern.negated:
        return False
    steps = [step for place in places for step in place.steps]
    return any(path_fits(pattern, rule, step, ground) for step in steps)


def path_fits(pattern: PathPattern, rule: Rule, path: str, ground: Ground) -> bool:
    """Whether a resolved path matches below one of the pattern's anchors."""
    return any(
        within(path, base) and pattern.matches(path[len(base.rstrip("/")) :].lstrip("/"))
        for base in anchors(pattern, rule, ground)
    )


def anchors(pattern: PathPattern, rule: Rule, ground: Ground) -> tuple[str, ...]:
    """The folders at which a pattern may start, as they are called and as they really are."""
    if pattern.anchor == "disk":
        return ("/",)
    if pattern.anchor == "home":
        return ground.bases(ground.home)
    if pattern.anchor == "source" and rule.source.root:
        return ground.bases(rule.source.root)
    roots = ground.roots if pattern.wide else ground.roots[:1]
    return tuple(base for root in roots for base in ground.bases(root))


def _taken_back(following: Sequence[Rule], seen: Seen, case: Case) -> bool:
    """Whether a later `!pattern` of the same source excepts every place."""
    first = following[0]
    if seen.access.kind not in {"read", "write"} or first.content is None:
        return False
    exceptions = [
        rule
        for rule in following[1:]
        if rule.source == first.source and rule.tool == first.tool and rule.content is not None
    ]
    patterns = [(path_pattern(rule.content or "", wide=True), rule) for rule in exceptions]
    negated = [(pattern, rule) for pattern, rule in patterns if pattern.negated]
    return bool(negated) and all(
        any(path_fits(pattern, rule, step, case.ground) for pattern, rule in negated)
        for place in seen.places
        for step in place.steps
    )


def allowing_path(rules: Sequence[Rule], seen: Seen, ground: Ground) -> Rule | None:
    """The first allow rule that covers every place, by its name and by its end."""
    kind = seen.access.kind
    if not seen.known or not seen.places:
        return None
    for rule in rules:
        named = names_tool(rule, "Edit") or (kind == "read" and names_tool(rule, "Read"))
        if named and all(_allows_place(rule, place, kind, ground) for place in seen.places):
            return rule
    return None


def _allows_place(rule: Rule, place: Place, kind: str, ground: Ground) -> bool:
    if place.problem:
        return False
    if rule.content is None:
        return True
    pattern = path_pattern(rule.content, wide=False)
    if pattern.negated:
        return False
    return all(
        path_fits(pattern, rule, path, ground)
        or (kind == "read" and path_fits(pattern, rule, path + "/", ground))
        for path in (place.path, place.final)
    )


def allowing_words(rules: Sequence[Rule], access: Access, *, exact: bool = False) -> Rule | None:
    """The first allow rule that covers this command's words; with `exact`, without wildcards."""
    for rule in rules:
        if rule.tool not in SHELLS or rule.content is None:
            continue
        wanted = wording(rule.content, quoted_stars=False)
        if wanted is None or (exact and not wanted.exact) or wanted.count < access.named:
            continue
        steered = access.steered or not access.words
        plain = not steered and fits(wanted, access.words)
        if plain or (access.assignments and fits(wanted, (*access.assignments, *access.words))):
            return rule
    return None


def allowing_host(rules: Sequence[Rule], url: str) -> Rule | None:
    """The first allow rule for the address's host; inner hosts have to be named."""
    host = host_of(url)
    if isinstance(host, BadAddress):
        return None
    for rule in rules:
        if rule.tool != "WebFetch":
            continue
        pattern = "*" if rule.content is None else rule.content.partition(":")[2]
        if host_matches(pattern, host):
            return rule
    return None


def allowing_tool(rules: Sequence[Rule], tool: str) -> Rule | None:
    """The first allow rule for every use of a tool."""
    return next((r for r in rules if r.content is None and names_tool(r, tool)), None)
