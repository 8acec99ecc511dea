"""What a search leaves out, by rules, secrets and mode."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.permissions.conceal import SECRETS, concealed
from sidelight.permissions.ground import is_secret_name, secret_names
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


NAMES = st.sampled_from(
    [".env", ".ENV.local", ".env.example", "x.pem", "X.KEY", "a.keystore", "id_rsa", "ID_ed25519",
     "_netrc", "credentials", "Secrets.yml", "service-account-1.json", "kubeconfig", "config",
     "known_hosts", "a.py", "keys.txt", "env", "\u212aubeconfig", "\u017fecret.json", "x.\u212aey"]
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["/w", "/w/.ssh", "/w/x.ssh", "/w/.AWS"]), NAMES)))
def test_a_quick_look_at_many_names_finds_what_a_look_at_each_finds(
    parts: list[tuple[str, str]],
) -> None:
    paths = [f"{folder}/{name}" for folder, name in parts]
    assert secret_names(paths) == [path for path in paths if is_secret_name(path)]


def test_a_rule_with_signs_and_sets_leaves_out_what_it_means(root: Path) -> None:
    for rule, left_out in {
        r"Read(**/[ab].txt)": {"private/b.txt"},
        r"Read(**/*.t?t)": {"private/b.txt", "private/open.txt", "asked/c.txt"},
        r"Read(pri*)": {"private/b.txt", "private/open.txt"},
        r"Read(src/a\.py)": {"src/a.py"},
        r"Read([ps]r*/[!o]*)": {"private/b.txt", "src/a.py"},
    }.items():
        rules = RuleSource(Source("user"), deny=(rule,))
        policy = Policy.from_settings([rules], [str(root)], str(root), ask_secrets=False)
        found = concealed([str(root / name) for name in FILES], policy)
        assert {str(Path(path).relative_to(root)) for path in found} == left_out, rule


def test_a_secret_that_a_rule_allows_is_shown(root: Path) -> None:
    rules = RuleSource(Source("user"), allow=("Read(.env)",))
    policy = Policy.from_settings([rules], [str(root)], str(root))
    assert concealed([str(root / ".env")], policy) == {}
