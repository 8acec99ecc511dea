"""The rules, the mode and the folders by which calls are judged; a value, replaced at changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sidelight.core.decision import Behavior, Mode, PermissionUpdate
from sidelight.permissions.paths import Disk, RealDisk
from sidelight.permissions.rule import Problem, Rule, Source, parse_rule

PRECEDENCE = ("managed", "command", "arguments", "session", "local", "project", "user")
OF_THE_FOLDER = frozenset({"project", "local"})
TIGHTENING = frozenset({"default", "plan", "dontAsk"})


@dataclass(frozen=True, slots=True)
class RuleSource:
    """What one source of settings says about permissions, rules as written."""

    source: Source
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    additional_dirs: tuple[str, ...] = ()
    default_mode: Mode | None = None

    def rules(self, behavior: Behavior) -> tuple[str, ...]:
        """The rules of one kind."""
        return {"allow": self.allow, "ask": self.ask, "deny": self.deny}[behavior]

    def with_rules(self, behavior: Behavior, rules: tuple[str, ...]) -> "RuleSource":
        """The same with other rules of one kind."""
        return replace(
            self,
            allow=rules if behavior == "allow" else self.allow,
            ask=rules if behavior == "ask" else self.ask,
            deny=rules if behavior == "deny" else self.deny,
        )


@dataclass(frozen=True, slots=True)
class Compiled:
    """All rules that count, by behaviour, and those that match nothing."""

    allow: tuple[Rule, ...]
    ask: tuple[Rule, ...]
    deny: tuple[Rule, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything beside the call that a decision depends on.

    `roots[0]` is the folder in which the session began. Without trust the folder's own allow
    rules do not count and no command runs unasked. `headless` means that nobody can be asked.
    `scratch` is a real folder of the session's own, in which files are read and written freely.
    """

    mode: Mode = "default"
    sources: tuple[RuleSource, ...] = ()
    roots: tuple[str, ...] = ("/",)
    cwd: str = "/"
    home: str = "/"
    trusted: bool = True
    headless: bool = False
    ask_secrets: bool = True
    scratch: str = ""
    disk: Disk = field(default_factory=RealDisk)

    @staticmethod
    def from_settings(
        sources: Sequence[RuleSource],
        roots: Sequence[str],
        home: str,
        *,
        cwd: str | None = None,
        mode: Mode | None = None,
        trusted: bool = True,
        headless: bool = False,
        ask_secrets: bool = True,
        disk: Disk | None = None,
    ) -> "Policy":
        """The policy of a new session; `mode` is what the command line asked for, if anything."""
        ordered = sorted(sources, key=lambda each: PRECEDENCE.index(each.source.name))
        added = [
            folder
            for each in ordered
            if trusted or each.source.name not in OF_THE_FOLDER
            for folder in each.additional_dirs
        ]
        return Policy(
            mode=mode or _first_mode(ordered, trusted),
            sources=tuple(ordered),
            roots=(*roots, *added),
            cwd=cwd or roots[0],
            home=home,
            trusted=trusted,
            headless=headless,
            ask_secrets=ask_secrets,
            disk=disk or RealDisk(),
        )

    @property
    def compiled(self) -> Compiled:
        """The rules, read."""
        return _compile(self.sources, self.trusted)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Rules that match nothing, to be told to the person."""
        return self.compiled.problems

    def rules(self, behavior: Behavior) -> tuple[Rule, ...]:
        """All rules of one kind that count, from every source."""
        compiled = self.compiled
        return {"allow": compiled.allow, "ask": compiled.ask, "deny": compiled.deny}[behavior]

    def with_cwd(self, cwd: str) -> "Policy":
        """After the shell moved; patterns keep their anchor."""
        return replace(self, cwd=cwd)

    def after(self, old: "Policy") -> "Policy":
        """This policy, from re-read settings, with the mode and session rules of the old one."""
        kept = [each for each in old.sources if each.source.name == "session"]
        ordered = sorted((*self.sources, *kept), key=lambda s: PRECEDENCE.index(s.source.name))
        return replace(self, mode=old.mode, sources=tuple(ordered))

    def with_update(self, update: PermissionUpdate) -> "Policy":
        """After a person's answer or a changed mode."""
        if update.action == "set_mode":
            return replace(self, mode=update.mode) if update.mode else self
        names = [each.source.name for each in self.sources]
        sources = self.sources
        if update.scope not in names:
            added = RuleSource(Source(update.scope, root=self.roots[0]))
            ordered = sorted((*sources, added), key=lambda s: PRECEDENCE.index(s.source.name))
            sources = tuple(ordered)
        index = next(i for i, each in enumerate(sources) if each.source.name == update.scope)
        changed = _changed(sources[index], update)
        return replace(self, sources=(*sources[:index], changed, *sources[index + 1 :]))


def _changed(source: RuleSource, update: PermissionUpdate) -> RuleSource:
    old = source.rules(update.behavior)
    if update.action == "remove":
        return source.with_rules(update.behavior, tuple(r for r in old if r not in update.rules))
    return source.with_rules(update.behavior, tuple(dict.fromkeys((*old, *update.rules))))


def _first_mode(sources: Sequence[RuleSource], trusted: bool) -> Mode:
    """The mode of the first source that names an acceptable one."""
    for each in sources:
        mode = each.default_mode
        if mode is None:
            continue
        if each.source.name in OF_THE_FOLDER and not (
            mode in TIGHTENING or (trusted and mode != "bypassPermissions")
        ):
            continue
        return mode
    return "default"


@lru_cache(maxsize=64)
def _compile(sources: tuple[RuleSource, ...], trusted: bool) -> Compiled:
    kept: dict[Behavior, list[Rule]] = {"allow": [], "ask": [], "deny": []}
    problems: list[Problem] = []
    for each in sources:
        for behavior, rules in kept.items():
            held_back = behavior == "allow" and not trusted and each.source.name in OF_THE_FOLDER
            for text in () if held_back else each.rules(behavior):
                rule = parse_rule(text, behavior, each.source)
                if isinstance(rule, Problem):
                    problems.append(rule)
                else:
                    rules.append(rule)
    return Compiled(tuple(kept["allow"]), tuple(kept["ask"]), tuple(kept["deny"]), tuple(problems))
