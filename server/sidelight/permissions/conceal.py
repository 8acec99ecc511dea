"""Which files a search must leave out: those that rules or the secrets list withhold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.ground import Ground
from sidelight.permissions.match import allowing_path, anchors, names_tool, restricting
from sidelight.permissions.paths import Place, within
from sidelight.permissions.patterns import PathPattern, path_pattern
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question
from sidelight.permissions.rule import Rule

SECRETS = "they may hold secrets"


@dataclass(frozen=True, slots=True)
class _Minded:
    """A deny or ask rule about reading, with the folders at which it starts."""

    rule: Rule
    pattern: PathPattern
    bases: tuple[str, ...]

    def fits(self, path: str) -> bool:
        return any(
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
    for path in paths:
        place = Place(path, path, (path,))
        reason = _by_rule(path, place, minded, policy, ground)
        if not reason and secrets and ground.is_secret(place):
            seen = Seen(Access(kind="read", target=path), (place,))
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
                minded.append(_Minded(rule, pattern, anchors(pattern, rule, ground)))
    return minded


def _by_rule(
    path: str, place: Place, minded: Sequence[_Minded], policy: Policy, ground: Ground
) -> str:
    if not any(each.fits(path) for each in minded):
        return ""
    access = Access(kind="read", target=path)
    question = Question("Read", {"file_path": path}, (access,))
    case = Case(question, policy, ground, (Seen(access, (place,)),))
    kinds = ((policy.rules("deny"), "denies"), (policy.rules("ask"), "asks before"))
    for rules, does in kinds:
        rule = restricting(rules, case)
        if rule is not None:
            return f"the rule {rule.text} in {rule.source.label} {does} reading them"
    return ""
