"""Reads and removals of whole folders: what lies below that a rule or the secrets list minds."""

from collections.abc import Sequence

from sidelight.permissions.case import Case, Seen
from sidelight.permissions.ground import MOST_WALKED, chosen
from sidelight.permissions.match import anchors, names_tool, path_fits
from sidelight.permissions.paths import Place, within
from sidelight.permissions.patterns import PathPattern, path_pattern
from sidelight.permissions.rule import Rule

SKIPPED = ("/.git/", "/node_modules/", "/.venv/", "/target/", "/__pycache__/")


def reached_rule(case: Case, rules: Sequence[Rule]) -> Rule | None:
    """The first deny or ask rule that covers something below a folder that the call goes through.

    A folder too large to look through counts as reaching.
    """
    for seen in case.seen:
        if not seen.access.depth:
            continue
        tool = "Read" if seen.access.kind == "read" else "Edit"
        minded = [r for r in rules if r.content is not None and names_tool(r, tool)]
        for place in seen.places:
            rule = _below(minded, seen, place, case)
            if rule is not None:
                return rule
    return None


def _below(rules: Sequence[Rule], seen: Seen, place: Place, case: Case) -> Rule | None:
    walked: list[tuple[PathPattern, Rule]] = []
    for rule in rules:
        pattern = path_pattern(rule.content or "", wide=True)
        if pattern.negated:
            continue
        if pattern.literal:
            if _holds(pattern, rule, seen, place, case):
                return rule
        elif _touches(pattern, rule, place, case):
            walked.append((pattern, rule))
    return _walk(walked, seen, place, case) if walked else None


def _holds(pattern: PathPattern, rule: Rule, seen: Seen, place: Place, case: Case) -> bool:
    """Whether the one path of the pattern exists below the folder and would be gone through."""
    disk = case.ground.disk
    for base in anchors(pattern, rule, case.ground):
        path = f"{base.rstrip('/')}/{pattern.prefix}"
        if not within(path, place.final) or not disk.exists(path):
            continue
        if seen.access.depth == "names" and not disk.names(path):
            continue
        if seen.access.depth == "visible" and "/." in path[len(place.final) :]:
            continue
        if chosen(path, seen.access.only) or disk.names(path):
            return True
    return False


def _touches(pattern: PathPattern, rule: Rule, place: Place, case: Case) -> bool:
    """Whether anything below the folder could match at all."""
    return any(
        within(start, place.final) or within(place.final, start)
        for base in anchors(pattern, rule, case.ground)
        for start in (f"{base.rstrip('/')}/{pattern.prefix}".rstrip("/") or "/",)
    )


def _walk(
    rules: Sequence[tuple[PathPattern, Rule]], seen: Seen, place: Place, case: Case
) -> Rule | None:
    names_only = seen.access.depth == "names"
    hidden = seen.access.depth != "visible"
    count = 0
    for path in case.ground.walk(place.final, hidden):
        count += 1
        if not chosen(path, seen.access.only):
            continue
        for pattern, rule in rules:
            if not path_fits(pattern, rule, path, case.ground):
                continue
            if names_only and not path_fits(pattern, rule, path.rpartition("/")[0], case.ground):
                continue
            return rule
    return rules[0][1] if count >= MOST_WALKED else None


def secret_below(case: Case, seen: Seen) -> str:
    """A file with credentials whose contents a recursive read would show, or an empty text."""
    if seen.access.kind != "read" or seen.access.depth not in {"visible", "all", "follow"}:
        return ""
    hidden = seen.access.depth != "visible"
    for place in seen.places:
        for path in case.ground.walk(place.final, hidden):
            if any(part in path for part in SKIPPED) or not chosen(path, seen.access.only):
                continue
            if case.ground.is_secret(Place(path, path, (path,))) and not case.ground.disk.names(
                path
            ):
                return path
    return ""


def link_outside(case: Case, seen: Seen) -> str:
    """A link below a folder whose links are followed that leads out, or an empty text."""
    if seen.access.depth != "follow":
        return ""
    for place in seen.places:
        for path in case.ground.walk(place.final, hidden=True):
            if case.ground.disk.link(path) is not None and not case.ground.is_inside(
                case.ground.place(path)
            ):
                return path
    return ""
