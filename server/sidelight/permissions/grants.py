"""Whether one access may happen without a question, and by what: rule, mode or its nature."""

from collections.abc import Iterator
from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.match import (
    allowing_host,
    allowing_path,
    allowing_tool,
    allowing_words,
)
from sidelight.permissions.paths import Place, within
from sidelight.permissions.reach import link_outside, secret_below
from sidelight.permissions.rule import Rule

EDIT_MODES = frozenset({"acceptEdits"})


@dataclass(frozen=True, slots=True)
class Grant:
    """Granted, by `rule` if it took one; or not, and `why` in a sentence for people."""

    granted: bool
    rule: Rule | None = None
    why: str = ""


FREELY = Grant(True)


def family(tool: str) -> str:
    """The tool whose rules hold for a command that this tool runs."""
    return tool if tool == "PowerShell" else "Bash"


def whole_rule(case: Case) -> Rule | None:
    """The allow rule that covers every use of the shell."""
    if not any(seen.access.kind == "execute" for seen in case.seen):
        return None
    return allowing_tool(case.policy.rules("allow"), family(case.question.tool))


def exact_rule(case: Case) -> Rule | None:
    """The allow rule that is the whole command text, letter by letter."""
    command = case.question.command
    if not command or not any(seen.access.kind == "execute" for seen in case.seen):
        return None
    for rule in case.policy.rules("allow"):
        shell = rule.tool == family(case.question.tool)
        if shell and rule.content is not None and rule.content.strip() == command:
            return rule
    return None


def objection(case: Case, seen: Seen) -> str:
    """Why no prefix or wildcard rule may cover this access; empty if one may."""
    access = seen.access
    if access.unsure:
        return f"{access.unsure}: {shown(access.target)}"
    if not seen.complete:
        return f"it names too many files to check: {shown(access.target)}"
    if access.kind != "execute":
        return ""
    if not access.coverable:
        return f"it runs or changes more than a rule for its name covers: {shown(access.target)}"
    return _on_disk(case, access)


def _on_disk(case: Case, access: Access) -> str:
    """What only a look at the folder shows: files that are options, repositories inside."""
    for glob in access.globs:
        places, complete = case.ground.expand(Access(kind="read", target=glob, pattern=True))
        names = [place.path.rpartition("/")[2] for place in places]
        if not complete or any(name.startswith("-") for name in names):
            return f"a wildcard matches a file that looks like an option: {shown(access.target)}"
    if access.words[:1] and access.words[0].rpartition("/")[2] == "git":
        folder = access.folder or case.policy.cwd
        nested = case.ground.nested_repository(folder)
        if nested:
            return f"git would obey the configuration of another repository, {nested}"
        planted = case.ground.planted_repository(folder, _written(case))
        if planted:
            return f"the same command may make a repository that git then obeys, {planted}"
    return ""


def _written(case: Case) -> Iterator[tuple[Place, bool]]:
    """The places that a call writes, and whether it fills folders there."""
    for seen in case.seen:
        if seen.access.kind == "write" and not seen.access.removes:
            for place in seen.places:
                yield place, bool(seen.access.depth)


def overruled(case: Case, seen: Seen) -> Rule | None:
    """The rule that covers even an access with an objection: for the whole shell, or exact."""
    rule = whole_rule(case)
    if rule is not None:
        return rule
    if seen.access.unsure or not seen.complete:
        return None
    return exact_rule(case) or allowing_words(case.policy.rules("allow"), seen.access, exact=True)


def grant(case: Case, seen: Seen) -> Grant:
    """Judge one access by rules, mode and nature; deny and ask rules were asked before."""
    kind = seen.access.kind
    if kind == "session":
        return FREELY
    if kind == "execute":
        return _command(case, seen)
    if kind == "read":
        return _read(case, seen)
    if kind == "write":
        return _write(case, seen)
    rules = case.policy.rules("allow")
    if kind == "fetch":
        rule = allowing_host(rules, seen.access.target)
        return Grant(rule is not None, rule, f"no rule allows this address: {seen.access.target}")
    rule = allowing_tool(rules, seen.access.target)
    return Grant(rule is not None, rule, f"no rule allows {seen.access.target}")


def command_rule(case: Case, access: Access) -> Rule | None:
    """The rule that covers a command, if any."""
    return (
        whole_rule(case) or exact_rule(case) or allowing_words(case.policy.rules("allow"), access)
    )


def _command(case: Case, seen: Seen) -> Grant:
    access = seen.access
    if access.listed and not access.steered and not objection(case, seen):
        return FREELY
    rule = overruled(case, seen) if objection(case, seen) else command_rule(case, access)
    if rule is not None:
        return Grant(True, rule)
    return Grant(False, None, f"no rule allows this command: {shown(access.target)}")


def _read(case: Case, seen: Seen) -> Grant:
    rule = allowing_path(case.policy.rules("allow"), seen, case.ground)
    if rule is not None:
        return Grant(True, rule)
    if not seen.known:
        return Grant(False, None, f"{seen.access.unsure or 'too many files'}: {seen.access.target}")
    for place in seen.places:
        if within_folder(place, case.policy.scratch):
            continue
        if not case.ground.is_inside(place):
            return Grant(False, None, f"it reads outside the workspace: {_where(place.final)}")
        if case.policy.ask_secrets and case.ground.is_secret(place):
            return Grant(False, None, f"the file may hold secrets: {place.final}")
    out = link_outside(case, seen)
    if out:
        return Grant(False, None, f"a link leads outside the workspace: {out}")
    secret = secret_below(case, seen) if case.policy.ask_secrets else ""
    return Grant(False, None, f"it would show a file with secrets: {secret}") if secret else FREELY


def _write(case: Case, seen: Seen) -> Grant:
    rule = allowing_path(case.policy.rules("allow"), seen, case.ground)
    if rule is not None:
        return Grant(True, rule)
    target = shown(seen.access.target)
    if not seen.known:
        rule = whole_rule(case)
        return Grant(rule is not None, rule, f"{seen.access.unsure or 'too many files'}: {target}")
    if seen.places and all(within_folder(place, case.policy.scratch) for place in seen.places):
        return FREELY
    for place in seen.places:
        if not case.ground.is_inside(place):
            return Grant(False, None, f"it writes outside the workspace: {_where(place.final)}")
    if case.policy.mode in EDIT_MODES:
        return FREELY
    rule = whole_rule(case) or exact_rule(case) or _by_command(case, seen.access)
    return Grant(rule is not None, rule, f"it changes a file: {target}")


def _by_command(case: Case, access: Access) -> Rule | None:
    """The rule that covers the command whose very purpose the write is."""
    if not access.implied:
        return None
    for seen in case.seen:
        own = seen.access.kind == "execute" and seen.access.command == access.command
        if own and not seen.access.guard:
            rule = command_rule(case, seen.access)
            if rule is not None and (seen.access.coverable or overruled(case, seen)):
                return rule
    return None


def within_folder(place: Place, folder: str) -> bool:
    """Whether a path and its end are in the folder; never where there is none."""
    paths = (place.path, place.final)
    return bool(folder) and not place.problem and all(within(path, folder) for path in paths)


def _where(path: str) -> str:
    return path or "a path that cannot be followed"


def shown(text: str) -> str:
    """A command or path on one line, cut to what a person reads."""
    line = " ".join(text.replace("\0", "?").split())
    return line if len(line) <= 120 else line[:119] + "…"
