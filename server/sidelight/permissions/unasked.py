"""Denials of what would ask, where nobody is asked; each says how the user can let it through."""

import shlex
from collections.abc import Callable
from dataclasses import replace

from sidelight.core.decision import Ask, Behavior, Deny
from sidelight.permissions.layers import NO_DETOUR
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question
from sidelight.permissions.suggest import suggest

TELL = "Name in the final answer what could not be done and how the user can allow it."


def unasked(
    decision: Ask,
    question: Question,
    policy: Policy,
    behave: Callable[[Question, Policy], Behavior],
) -> Deny:
    """The denial that stands for the question; `behave` judges under another policy."""
    why = (
        "Nobody can be asked in this run."
        if policy.headless
        else "The mode dontAsk refuses what would ask."
    )
    detail = f"{decision.reason.detail} {why} {_way_out(decision, question, policy, behave)}"
    reason = decision.reason.model_copy(update={"detail": detail})
    return Deny(reason=reason, message=f"{detail} {NO_DETOUR} {TELL}", unasked=True)


def _way_out(
    decision: Ask,
    question: Question,
    policy: Policy,
    behave: Callable[[Question, Policy], Behavior],
) -> str:
    flags: list[str] = []
    asking = replace(policy, headless=False)
    if decision.reason.layer == "trust":
        asking = replace(asking, trusted=True)
        flags.append("--trust")
    if policy.mode == "dontAsk":
        asking = replace(asking, mode="default")
    if behave(question, asking) != "allow":
        offers = suggest(question, asking, lambda changed: behave(question, changed))
        if not offers:
            return "Only a person can allow it: let it be done in the editor."
        first = offers[0]
        if not policy.headless:
            rules = [rule for offer in offers for rule in offer.rules]
            return f"A rule in the settings lets it through: {', '.join(rules) or 'Edit'}."
        if first.mode is not None:
            flags.append(f"--permission-mode {first.mode}")
        else:
            flags.append(f"--allowedTools {' '.join(shlex.quote(rule) for rule in first.rules)}")
    return f"To let it through, run it with {' '.join(flags)}."
