"""What a search leaves out, by rules, secrets and mode."""

from pathlib import Path

import pytest

from sidelight.permissions.conceal import SECRETS, concealed
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.rule import Source

FILES = (".env", ".env.example", "src/a.py", "private/b.txt", "private/open.txt", "asked/c.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    return tmp_path


def hidden(root: Path, **more: object) -> dict[str, str]:
    rules = RuleSource(
        Source("user"),
        allow=("Read(src/**)",),
        ask=("Read(asked/**)",),
        deny=("Read(private/**)", "Read(!private/open.txt)", "Bash(rm *)"),
    )
    policy = Policy.from_settings([rules], [str(root)], str(root), **more)  # pyright: ignore[reportArgumentType]
    found = concealed([str(root / name) for name in FILES], policy)
    return {str(Path(path).relative_to(root)): reason for path, reason in found.items()}


def test_denied_asked_and_secret_files_are_left_out_each_with_its_reason(root: Path) -> None:
    rules = {
        "private/b.txt": "the rule Read(private/**) in user settings denies reading them",
        "asked/c.txt": "the rule Read(asked/**) in user settings asks before reading them",
    }
    assert hidden(root) == {".env": SECRETS, **rules}
    assert hidden(root, mode="bypassPermissions") == rules
    assert hidden(root, ask_secrets=False) == rules


def test_a_secret_that_a_rule_allows_is_shown(root: Path) -> None:
    rules = RuleSource(Source("user"), allow=("Read(.env)",))
    policy = Policy.from_settings([rules], [str(root)], str(root))
    assert concealed([str(root / ".env")], policy) == {}
