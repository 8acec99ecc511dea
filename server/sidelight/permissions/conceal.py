"""Which files a search must leave out: those that rules or the secrets list withhold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.ground import Ground, is_secret_name
from sidelight.permissions.match import allowing_path, anchors, names_tool, restricting
from sidelight.permissions.paths import Place, within
from sidelight.permissions.patterns import PathPattern, path_pattern
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question

SECRETS = "they may hold secrets"


@dataclass(frozen=True, slots=True)
class _Minded:
    """A deny or ask rule about reading, with the beginnings of all paths that it can mean."""

    pattern: PathPattern
    bases: tuple[str, ...]
    starts: tuple[str, ...]

    def fits(self, path: str) -> bool:
        return path.startswith(self.starts) and any(
            within(path, base) and self.pattern.matches(path[len(base.rstrip("/")) :].lstrip("/"))
            for base in self.bases
        )


def concealed(paths: Sequence[str], policy: Policy) -> Mapping[str, str]:
    """Those of the files (real paths) that a search must not show, each with the reason.

    A deny or ask rule, or likely secrets that no rule allows and the mode does not let through.
    The reason is said of several files: `the rule Read(x) in /f denies it`.
    """
    ground = Ground.of(policy.roots, policy.cwd, policy.home, policy.disk)
    minded = _minded(policy, ground)
    secrets = policy.ask_secrets and policy.mode != "bypassPermissions"
    found: dict[str, str] = {}
    for path in paths:  # a search names as many as a workspace has: most must pass quickly
        reason = ""
        if any(each.fits(path) for each in minded):
            reason = _by_rule(path, policy, ground)
        if not reason and secrets and is_secret_name(path):
            seen = Seen(Access(kind="read", target=path), (Place(path, path, (path,)),))
            allowed = allowing_path(policy.rules("allow"), seen, ground)
            reason = "" if allowed is not None else SECRETS
        if reason:
            found[path] = reason
    return found


def _minded(policy: Policy, ground: Ground) -> list[_Minded]:
    minded: list[_Minded] = []
    for rule in (*policy.rules("deny"), *policy.rules("ask")):
        if names_tool(rule, "Read") and rule.content is not None:
            pattern = path_pattern(rule.content, wide=True)
            if not pattern.negated:
                bases = anchors(pattern, rule, ground)
                starts = tuple(base.rstrip("/") + "/" + pattern.prefix for base in bases)
                minded.append(_Minded(pattern, bases, starts))
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
