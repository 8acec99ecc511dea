"""A session's rules: what a person chose stays when the settings are read again."""

import pytest

from sidelight.core.decision import PermissionUpdate
from sidelight.core.tool import Shell
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.rule import Source
from sidelight.session.rules import SessionRules

pytestmark = pytest.mark.anyio


class Disk:
    """Where rules are saved, and what people are told; `full` refuses to write."""

    def __init__(self) -> None:
        self.saved: list[PermissionUpdate] = []
        self.told: list[str] = []
        self.full = False

    async def save(self, update: PermissionUpdate) -> None:
        if self.full:
            raise OSError("no space left")
        self.saved.append(update)

    async def tell(self, text: str) -> None:
        self.told.append(text)


def rules(disk: Disk, policy: Policy) -> SessionRules:
    return SessionRules(policy, Shell("/w", ("/w",)), disk.save, disk.tell)


def texts(policy: Policy, name: str) -> list[tuple[str, ...]]:
    return [each.allow for each in policy.sources if each.source.name == name]


async def test_what_was_allowed_for_the_session_and_its_mode_outlive_new_settings() -> None:
    disk = Disk()
    mine = rules(disk, Policy(mode="default", roots=("/w",)))
    await mine.remember([PermissionUpdate(action="add", rules=("Bash(make *)",))])
    mine.set_mode("acceptEdits")
    mine.set_policy(Policy(roots=("/w",), sources=(RuleSource(Source("user"), allow=("Edit",)),)))
    assert texts(mine.policy, "session") == [("Bash(make *)",)]
    assert texts(mine.policy, "user") == [("Edit",)]
    assert mine.policy.mode == "acceptEdits"
    assert disk.saved == []


async def test_a_rule_for_the_project_is_saved_and_one_that_cannot_be_still_holds() -> None:
    disk = Disk()
    mine = rules(disk, Policy(roots=("/w",)))
    update = PermissionUpdate(action="add", rules=("Edit",), scope="local")
    await mine.remember([update])
    assert disk.saved == [update]
    disk.full = True
    await mine.remember([update.model_copy(update={"rules": ("WebFetch",)})])
    assert texts(mine.policy, "local") == [("Edit", "WebFetch")]
    assert disk.told == ["The rule holds for this session but was not saved: no space left"]
