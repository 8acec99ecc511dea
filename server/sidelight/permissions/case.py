"""A question laid over a policy: each access with the places it means on the disk."""

from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.permissions.ground import Ground
from sidelight.permissions.paths import Place
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question

PATHS = frozenset({"read", "write"})


@dataclass(frozen=True, slots=True)
class Seen:
    """An access and, for reads and writes, its places; `complete` is False if there are more."""

    access: Access
    places: tuple[Place, ...] = ()
    complete: bool = True

    @property
    def known(self) -> bool:
        """Whether all places are known."""
        return self.complete and not self.access.unsure


@dataclass(frozen=True, slots=True)
class Case:
    """What the layers look at."""

    question: Question
    policy: Policy
    ground: Ground
    seen: tuple[Seen, ...]

    @staticmethod
    def of(question: Question, policy: Policy) -> "Case":
        """Resolve every path of the question on the policy's disk."""
        ground = Ground.of(policy.roots, policy.cwd, policy.home, policy.disk)
        return Case(
            question, policy, ground, tuple(_see(each, ground) for each in question.accesses)
        )

    @property
    def judged(self) -> tuple[Seen, ...]:
        """The accesses that have to be granted, not only looked at by deny and ask rules."""
        return tuple(each for each in self.seen if not each.access.guard)


def _see(access: Access, ground: Ground) -> Seen:
    if access.kind not in PATHS or access.unsure:
        return Seen(access)
    places, complete = ground.expand(access)
    return Seen(access, places, complete)
