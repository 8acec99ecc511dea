"""What to offer for 'do not ask again': a few general, narrow rules, never the literal text."""

import posixpath
import re
from collections.abc import Callable

from sidelight.core.access import UNKNOWN, Access
from sidelight.core.decision import Behavior, PermissionUpdate
from sidelight.permissions.case import Case, Seen
from sidelight.permissions.grants import grant
from sidelight.permissions.hosts import BadAddress, host_of
from sidelight.permissions.patterns import escape
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question
from sidelight.permissions.rule import format_rule

MOST_RULES = 5
LONGEST_EXACT = 80
SUBCOMMANDS = {
    "git": 1, "npm": 1, "pnpm": 1, "yarn": 1, "bun": 1, "cargo": 1, "go": 1, "docker": 1,
    "kubectl": 1, "pip": 1, "pip3": 1, "uv": 1, "poetry": 1, "gh": 1, "aws": 2, "gcloud": 2,
    "terraform": 1, "helm": 1, "brew": 1, "apt": 1, "systemctl": 1, "dotnet": 1, "mvn": 1,
    "gradle": 1, "bundle": 1, "rails": 1, "composer": 1, "mix": 1, "deno": 1, "hatch": 1,
}  # fmt: skip
RUNNING = frozenset({"run", "exec", "x", "dlx", "run-script", "tool", "compose"})
INTERPRETERS = frozenset(
    {"python", "python3", "node", "ruby", "perl", "php", "deno", "bash", "sh", "zsh", "fish",
     "env", "sudo", "xargs", "eval", "ssh", "npx", "bunx", "uvx", "pipx", "rm", "dd", "curl",
     "wget", "awk", "gawk", "osascript", "lua", "Rscript", "java", "docker-compose", "chmod",
     "chown", "parallel", "watch", "timeout", "nice"}
)  # fmt: skip
PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")

Try = Callable[[Policy], Behavior]


def suggest(question: Question, policy: Policy, attempt: Try) -> tuple[PermissionUpdate, ...]:
    """Changes of which each alone would have spared this question; () when there is none.

    The first is the smallest. Rules are for the local settings, the mode for the session.
    """
    case = Case.of(question, policy)
    asking = [seen for seen in case.judged if not grant(case, seen).granted]
    offers: list[PermissionUpdate] = []
    if any(seen.access.kind == "write" for seen in asking) and policy.mode == "default":
        offers.append(PermissionUpdate(action="set_mode", mode="acceptEdits"))
    rules = _rules(asking, case)
    if rules:
        offers.append(PermissionUpdate(action="add", rules=rules, scope="local"))
    return tuple(o for o in offers if attempt(policy.with_update(o)) == "allow")


def _rules(asking: list[Seen], case: Case) -> tuple[str, ...]:
    rules: list[str] = []
    for seen in asking:
        rule = _rule(seen, case)
        if rule is None:
            return ()
        rules.append(rule)
    distinct = tuple(dict.fromkeys(rules))
    return distinct if len(distinct) <= MOST_RULES else ()


def _rule(seen: Seen, case: Case) -> str | None:
    access = seen.access
    if access.kind == "execute":
        content = command_pattern(access)
        return None if content is None else format_rule("Bash", content)
    if access.kind in {"read", "write"} and len(seen.places) == 1:
        return _path_rule(seen, case)
    if access.kind == "fetch":
        host = host_of(access.target)
        return None if isinstance(host, BadAddress) else f"WebFetch(domain:{host.name})"
    return access.target if access.kind == "mcp" else None


def command_pattern(access: Access) -> str | None:
    """`npm run build` becomes `npm run build *`; interpreters are offered word for word."""
    words = access.words
    if not words or access.steered or UNKNOWN in words[0]:
        return None
    name = posixpath.basename(words[0])
    if name in INTERPRETERS:
        return _of_interpreter(words)
    count = 1 + SUBCOMMANDS.get(name, 0)
    if count > 1 and words[1:2] and words[1] in RUNNING:
        count += 1
    head = words[:count]
    if len(head) < count and name in SUBCOMMANDS:
        return _exact(words)
    if any(PLAIN.fullmatch(word) is None or word.startswith("-") for word in head):
        return _exact(words)
    return " ".join((*head, "*"))


def _of_interpreter(words: tuple[str, ...]) -> str | None:
    module = re.fullmatch(r"(.*/)?python3?", words[0]) and words[1:2] == ("-m",) and words[2:3]
    if module and PLAIN.fullmatch(words[2]):
        return " ".join((*words[:3], "*"))
    return _exact(words)


def _exact(words: tuple[str, ...]) -> str | None:
    text = " ".join(words)
    if len(text) > LONGEST_EXACT or any(PLAIN.fullmatch(word) is None for word in words):
        return None
    return text


def _path_rule(seen: Seen, case: Case) -> str | None:
    """A folder for reads, the file itself for what is secret or changed outside."""
    place = seen.places[0]
    if place.problem or case.ground.is_secret(place):
        return None
    if seen.access.kind == "write":
        return None if case.ground.is_inside(place) else f"Edit(/{escape(place.path)})"
    is_folder = bool(case.ground.disk.names(place.final))
    folder = place.path if is_folder else posixpath.dirname(place.path)
    if folder.count("/") < 2 or case.ground.is_critical(case.ground.place(folder)):
        return None
    return f"Read(/{escape(folder)}/**)"
