"""The layers of a decision: small pure functions, each sure of an answer or silent."""

from dataclasses import replace

from sidelight.core.access import UNKNOWN
from sidelight.core.decision import Allow, Ask, Decision, Deny, Reason
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.grants import exact_rule, grant, objection, overruled, shown
from sidelight.permissions.hosts import BadAddress, host_of
from sidelight.permissions.match import could_restrict_words, names_tool, restricting
from sidelight.permissions.reach import reached_rule
from sidelight.permissions.rule import Rule

NO_DETOUR = "Do not try another way to the same effect; go on without it, or ask the user."


def impossible(case: Case) -> Decision | None:
    """What is no path and no address of the web is refused."""
    for seen in case.seen:
        for place in seen.places:
            if "NUL" in place.problem:
                return _deny("path", f"{place.problem}.", "Give a path without NUL characters.")
        if seen.access.kind == "fetch":
            host = host_of(seen.access.target)
            if isinstance(host, BadAddress) and host.refused:
                advice = "Only http and https addresses with a host can be fetched."
                return _deny("address", f"The address is refused: {host.reason}.", advice)
    return None


def deny_rule(case: Case) -> Decision | None:
    """A deny rule of any source matches the call or any part of it."""
    rule = restricting(case.policy.rules("deny"), case)
    if rule is None:
        return None
    detail = f"The rule {rule.text} in {rule.source.label} denies this."
    return Deny(
        reason=Reason(layer="deny rule", rule=rule.text, detail=detail),
        message=f"{detail} {NO_DETOUR}",
    )


def hook_deny(case: Case) -> Decision | None:
    """A hook said no."""
    if case.question.hook != "deny":
        return None
    said = case.question.hook_reason or "without a reason"
    return _deny("hook", f"A hook denied this call: {said}.", NO_DETOUR)


def plan(case: Case) -> Decision | None:
    """While planning nothing is changed."""
    if case.policy.mode != "plan":
        return None
    changed = next((seen for seen in case.judged if _changes(seen)), None)
    if changed is None:
        return None
    detail = f"Plan mode lets nothing through that is not read-only: {_what(changed)}."
    advice = "Finish the plan and present it; changes come after the user has approved it."
    return _deny("mode", detail, advice)


def _changes(seen: Seen) -> bool:
    if seen.access.kind == "execute":
        return not seen.access.read_only
    return seen.access.kind in {"write", "mcp"}


def ask_rule(case: Case) -> Decision | None:
    """An ask rule of any source matches the call or any part of it."""
    rule = restricting(case.policy.rules("ask"), case)
    if rule is None:
        return None
    detail = f"The rule {rule.text} in {rule.source.label} asks before this."
    return _ask("ask rule", detail, rule, part=_part(rule, case))


def hook_ask(case: Case) -> Decision | None:
    """A hook wants the person to say."""
    if case.question.hook != "ask":
        return None
    said = f": {case.question.hook_reason}" if case.question.hook_reason else ""
    return _ask("hook", f"A hook asks before this{said}.")


def person(case: Case) -> Decision | None:
    """Some tools are questions to the person."""
    if any(seen.access.kind == "interact" for seen in case.judged):
        return _ask("person", "This needs an answer from a person.")
    return None


def untrusted(case: Case) -> Decision | None:
    """No command runs in a folder that is not trusted."""
    if case.policy.trusted or not any(s.access.kind == "execute" for s in case.judged):
        return None
    return _ask("trust", "This folder is not trusted yet; no command runs in it unasked.")


def unheld(case: Case) -> Decision | None:
    """What deny and ask rules cannot be held against, or meet below a folder, is asked."""
    rules = (*case.policy.rules("deny"), *case.policy.rules("ask"))
    rule = reached_rule(case, rules)
    if rule is not None:
        detail = f"It goes through a folder with files of the rule {rule.text}."
        return _ask("deny rule", detail, rule)
    for seen in case.seen:
        rule = next((rule for rule in rules if _could_mean(rule, seen)), None)
        if rule is not None:
            detail = (
                f"Whether the rule {rule.text} in {rule.source.label} matches cannot be told: "
                f"{_what(seen)}."
            )
            return _ask("deny rule", detail, rule, part=seen, dangerous=True)
    return None


def _could_mean(rule: Rule, seen: Seen) -> bool:
    access = seen.access
    if rule.content is None:
        return False
    if access.kind == "execute":
        opaque = bool(access.unsure) and access.words == ("\0",)
        if opaque and (names_tool(rule, "Read") or names_tool(rule, "Edit")):
            return True
        return could_restrict_words(rule, access)
    if access.kind not in {"read", "write"} or seen.known:
        return False
    return names_tool(rule, "Read") or (access.kind == "write" and names_tool(rule, "Edit"))


def critical(case: Case) -> Decision | None:
    """Removing the root, the home or the workspace is asked whatever there is."""
    for seen in case.seen:
        access = seen.access
        if not access.removes:
            continue
        open_end = bool(access.unsure) and access.target.endswith(("/", "/*"))
        if open_end or any(case.ground.is_critical(place) for place in seen.places):
            detail = f"It would remove {shown(access.target)}."
            return _ask("safety", detail, part=seen, dangerous=True)
        if access.pattern and case.ground.is_critical(
            case.ground.place(access.target.rpartition("/")[0] or "/")
        ):
            detail = f"It would remove everything in {shown(access.target)}."
            return _ask("safety", detail, part=seen, dangerous=True)
    return None


def own_settings(case: Case) -> Decision | None:
    """Our own settings, hooks and servers are changed by a person's word only."""
    for seen in case.judged:
        if seen.access.kind == "write" and any(case.ground.is_own(p) for p in seen.places):
            detail = f"It changes settings or hooks of this agent: {shown(seen.access.target)}."
            return _ask("protected path", detail, part=seen, dangerous=True)
    return None


def bypass(case: Case) -> Decision | None:
    """In this mode what would ask for want of a rule runs."""
    if case.policy.mode != "bypassPermissions":
        return None
    detail = "The mode bypassPermissions lets it through."
    return Allow(reason=Reason(layer="mode", detail=detail))


def protected(case: Case) -> Decision | None:
    """Files that decide what runs later are asked for, even under an Edit rule."""
    for seen in case.judged:
        if seen.access.kind != "write":
            continue
        for place in seen.places:
            if case.ground.is_protected(place):
                detail = f"It writes to a protected path: {place.final}."
                return _ask("protected path", detail, part=seen, dangerous=True)
    return None


def never_covered(case: Case) -> Decision | None:
    """Effects that no prefix or wildcard rule covers."""
    for seen in case.judged:
        reason = objection(case, seen)
        if reason and overruled(case, seen) is None:
            detail = f"No rule can cover this: {reason}."
            return _ask("safety", detail, part=seen, dangerous=True)
    return None


def hook_allow(case: Case) -> Decision | None:
    """A hook's yes stands for the person's."""
    if case.question.hook != "allow":
        return None
    said = case.question.hook_reason or "A hook allowed this call."
    return Allow(reason=Reason(layer="hook", detail=said))


def granted(case: Case) -> Decision | None:
    """Every part is covered by a rule, let through by the mode, or needs neither."""
    if not case.judged:
        return None
    grants = [grant(case, seen) for seen in case.judged]
    if not all(each.granted for each in grants):
        return None
    rule = exact_rule(case) or next((each.rule for each in grants if each.rule), None)
    if rule is not None:
        detail = f"The rule {rule.text} in {rule.source.label} allows it."
        return Allow(reason=Reason(layer="allow rule", rule=rule.text, detail=detail))
    if any(seen.access.kind == "write" for seen in case.judged):
        detail = f"The mode {case.policy.mode} lets edits in the workspace through."
        return Allow(reason=Reason(layer="mode", detail=detail))
    return Allow(reason=Reason(layer="read-only", detail="It only reads, inside the workspace."))


def allowed_tool(case: Case) -> Decision | None:
    """A rule for every use of a tool that touches nothing which rules could name."""
    if case.judged:
        return None
    tool = case.question.tool
    rules = case.policy.rules("allow")
    rule = next((r for r in rules if r.content is None and names_tool(r, tool)), None)
    if rule is None:
        return None
    detail = f"The rule {rule.text} in {rule.source.label} allows it."
    return Allow(reason=Reason(layer="allow rule", rule=rule.text, detail=detail))


def left_over(case: Case) -> Ask:
    """What nobody was sure about: a person has to say."""
    for seen in case.judged:
        each = grant(case, seen)
        if not each.granted:
            return _ask("no rule", f"{each.why[:1].upper()}{each.why[1:]}.", part=seen)
    return _ask("no rule", f"No rule allows {case.question.tool}.")


def _what(seen: Seen) -> str:
    return seen.access.unsure or shown(seen.access.target)


def _part(rule: Rule, case: Case) -> Seen | None:
    """The part of a call that a rule about parts matches."""
    if rule.content is None:
        return None
    return next((s for s in case.seen if restricting((rule,), replace(case, seen=(s,)))), None)


def _ask(
    layer: str,
    detail: str,
    rule: Rule | None = None,
    *,
    part: Seen | None = None,
    dangerous: bool = False,
) -> Ask:
    cause = "" if part is None else _command_of(part)
    reason = Reason(layer=layer, rule=rule.text if rule else None, detail=detail, cause=cause)
    return Ask(reason=reason, dangerous=dangerous)


def _command_of(part: Seen) -> str:
    """The simple command that an access belongs to; empty for other tools."""
    access = part.access
    text = access.target if access.kind == "execute" else access.command
    return text.replace(UNKNOWN, "…")


def _deny(layer: str, detail: str, advice: str) -> Deny:
    return Deny(reason=Reason(layer=layer, detail=detail), message=f"{detail} {advice}")
