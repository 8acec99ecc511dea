"""Which files a search must leave out: those that rules or the secrets list withhold."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.ground import Ground, secret_names
from sidelight.permissions.match import allowing_path, anchors, names_tool, restricting
from sidelight.permissions.paths import Place, within
from sidelight.permissions.patterns import PathPattern, path_pattern
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question

SECRETS = "they may hold secrets"


@dataclass(frozen=True, slots=True)
class _Minded:
    """A deny or ask rule about reading, with the beginnings of all paths that it can mean.

    `part` is in all of these paths, too.
    """

    pattern: PathPattern
    bases: tuple[str, ...]
    starts: tuple[str, ...]
    part: str

    def fits(self, path: str) -> bool:
        return (
            self.part in path
            and path.startswith(self.starts)
            and any(
                within(path, base)
                and self.pattern.matches(path[len(base.rstrip("/")) :].lstrip("/"))
                for base in self.bases
            )
        )


def concealed(paths: Sequence[str], policy: Policy) -> Mapping[str, str]:
    """Those of the files (real paths) that a search must not show, each with the reason.

    A deny or ask rule, or likely secrets that no rule allows and the mode does not let through.
    The reason is said of several files: `the rule Read(x) in /f denies it`.
    """
    ground = Ground.of(policy.roots, policy.cwd, policy.home, policy.disk)
    found: dict[str, str] = {}
    for path in _named_by_rules(paths, policy, ground):
        reason = _by_rule(path, policy, ground)
        if reason:
            found[path] = reason
    if policy.ask_secrets and policy.mode != "bypassPermissions":
        for path in secret_names(paths):
            seen = Seen(Access(kind="read", target=path), (Place(path, path, (path,)),))
            if path not in found and allowing_path(policy.rules("allow"), seen, ground) is None:
                found[path] = SECRETS
    return found


def _named_by_rules(paths: Sequence[str], policy: Policy, ground: Ground) -> list[str]:
    """The paths that a rule may mean. A search has as many as a workspace: most go quickly."""
    minded = _minded(policy, ground)
    text = "\0".join(paths) if minded else ""
    possible = [each for each in minded if each.part in text]
    return [path for path in paths if any(each.fits(path) for each in possible)] if possible else []


def _minded(policy: Policy, ground: Ground) -> list[_Minded]:
    minded: list[_Minded] = []
    for rule in (*policy.rules("deny"), *policy.rules("ask")):
        if names_tool(rule, "Read") and rule.content is not None:
            pattern = path_pattern(rule.content, wide=True)
            if not pattern.negated:
                bases = anchors(pattern, rule, ground)
                starts = tuple(base.rstrip("/") + "/" + pattern.prefix for base in bases)
                part = max(re.split(r"\[.+?\]|[^\w.-]", pattern.text), key=len)
                minded.append(_Minded(pattern, bases, starts, part))
    return minded


def _by_rule(path: str, policy: Policy, ground: Ground) -> str:
    access = Access(kind="read", target=path)
    question = Question("Read", {"file_path": path}, (access,))
    case = Case(question, policy, ground, (Seen(access, (Place(path, path, (path,)),)),))
    kinds = ((policy.rules("deny"), "denies"), (policy.rules("ask"), "asks before"))
    for rules, does in kinds:
        rule = restricting(rules, case)
        if rule is not None:
            return f"the rule {rule.text} in {rule.source.label} {does} reading them"
    return ""
