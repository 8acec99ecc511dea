"""The decision: the layers in order, the first that is sure wins; unsure means ask."""

from collections.abc import Callable
from typing import Final

from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.core.decision import Ask, Behavior, Decision, Deny, Reason
from sidelight.permissions import layers
from sidelight.permissions.case import Case
from sidelight.permissions.match import allowing_path, restricting
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question
from sidelight.permissions.rule import Problem, Rule, Source, parse_rule
from sidelight.permissions.suggest import suggest
from sidelight.permissions.unasked import unasked

Layer = Callable[[Case], Decision | None]

LAYERS: Final[tuple[Layer, ...]] = (
    layers.impossible,
    layers.deny_rule,
    layers.hook_deny,
    layers.plan,
    layers.ask_rule,
    layers.hook_ask,
    layers.person,
    layers.untrusted,
    layers.unheld,
    layers.critical,
    layers.own_settings,
    layers.bypass,
    layers.protected,
    layers.never_covered,
    layers.hook_allow,
    layers.allowed_tool,
    layers.granted,
)
SUGGESTING = frozenset({"no rule"})


def decide(question: Question, policy: Policy) -> Decision:
    """Judge a call. Pure but for the disk that the policy brings; never raises for odd input."""
    decision = judge(question, policy)
    if not isinstance(decision, Ask):
        return decision
    if policy.mode == "dontAsk" or policy.headless:
        return unasked(decision, question, policy, lambda q, p: judge(q, p).behavior)
    if decision.reason.layer in SUGGESTING:
        offers = suggest(question, policy, lambda changed: judge(question, changed).behavior)
        return decision.model_copy(update={"suggestions": offers})
    return decision


def judge(question: Question, policy: Policy) -> Decision:
    """The decision before anybody asks whether a person is there."""
    case = Case.of(question, policy)
    for layer in LAYERS:
        decision = layer(case)
        if decision is not None:
            return decision
    return layers.left_over(case)


def denied_outright(tool: str, policy: Policy) -> Deny | None:
    """The denial of every use of a tool, which comes before hooks and hides the tool."""
    rules = tuple(rule for rule in policy.rules("deny") if rule.content is None)
    case = Case.of(Question(tool, {}, ()), policy)
    rule = restricting(rules, case)
    if rule is None:
        return None
    detail = f"The rule {rule.text} in {rule.source.label} denies every use of {tool}."
    reason = Reason(layer="deny rule", rule=rule.text, detail=detail)
    return Deny(reason=reason, message=f"{detail} {layers.NO_DETOUR}")


def withheld(path: str, policy: Policy) -> str:
    """Why the text of a file must not go along with a prompt unasked; empty if it may.

    A deny or ask rule, or likely secrets that no rule allows. What lies outside the workspace may
    go along: the person has it open.
    """
    access = Access(kind="read", target=path)
    case = Case.of(Question("Read", {"file_path": path}, (access,)), policy)
    for layer in (layers.impossible, layers.deny_rule, layers.ask_rule):
        decision = layer(case)
        if decision is not None:
            return decision.reason.detail
    (seen,) = case.seen
    secret = policy.ask_secrets and any(case.ground.is_secret(place) for place in seen.places)
    if secret and allowing_path(policy.rules("allow"), seen, case.ground) is None:
        return "the file may hold secrets"
    return ""


def covers(rule: str, tool: str, input: Json, accesses: tuple[Access, ...], policy: Policy) -> bool:
    """Whether a rule, as in a hook's `if`, matches a call or any part of it.

    A rule that does not parse matches nothing; say so where it is read (`rule_problem`).
    """
    parsed = _conditional(rule)
    if isinstance(parsed, Problem):
        return False
    return restricting((parsed,), Case.of(Question(tool, input, accesses), policy)) is not None


def rule_problem(rule: str, behavior: Behavior = "ask") -> str | None:
    """Why a rule matches nothing, or None."""
    parsed = parse_rule(rule, behavior, Source("session"))
    return parsed.reason if isinstance(parsed, Problem) else None


def _conditional(rule: str) -> Rule | Problem:
    return parse_rule(rule, "ask", Source("session"))
