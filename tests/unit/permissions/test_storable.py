"""Which rules a dialog keeps when a person typed them, and what a question says of its cause."""

from pathlib import Path

import pytest

from sidelight.core.decision import Ask
from sidelight.core.tool import Shell
from sidelight.permissions.pipeline import decide
from sidelight.permissions.policy import Policy
from sidelight.permissions.question import Question
from sidelight.permissions.storable import unfit
from sidelight.tools.bash.effects import accesses

FIT = [
    "Bash(git log *)",
    "Bash(git log:*)",
    "Bash(npm run build *)",
    "Bash(python -m pytest *)",
    "Bash(python tools/gen.py)",
    "Bash(timeout 5 make)",
    "Bash(make *)",
    "Edit(src/**)",
    "Edit(//srv/data/**)",
    "Read(~/notes/**)",
    "WebFetch(domain:docs.example.com)",
    "WebFetch(domain:*.example.com)",
    "mcp__files__read",
]
TOO_MUCH = [
    "Bash",
    "Bash(*)",
    "Bash(git *)",
    "Bash(git:*)",
    "Bash(git -C *)",
    "Bash(g* log)",
    "Bash(npm run *)",
    "Bash(python *)",
    "Bash(python -m *)",
    "Bash(/usr/bin/bash -c *)",
    "Bash(env A=1 *)",
    "Bash(A=1 *)",
    "Bash(sudo *)",
    "Bash(nohup *)",
    "Bash(timeout 5 *)",
    "Edit",
    "Edit(//**)",
    "Read(//etc/**)",
    "Read(~/**)",
    "Read(!src/**)",
    "WebFetch",
    "WebFetch(domain:*)",
    "WebFetch(domain:*.com)",
    "mcp__files__*",
    "mcp__*",
    "no rule at all",
    "Bash()",
    "",
]


@pytest.mark.parametrize("rule", FIT)
def test_a_narrow_rule_may_be_kept(rule: str) -> None:
    assert unfit(rule) == ""


@pytest.mark.parametrize("rule", TOO_MUCH)
def test_a_rule_that_reaches_far_is_refused_in_a_sentence(rule: str) -> None:
    reason = unfit(rule)
    assert reason.endswith(".")
    assert reason[0].isupper()


@pytest.mark.parametrize(
    ("command", "cause", "rules"),
    [
        ("ls && npm test -- x && echo done", "npm test -- x", ("Bash(npm test *)",)),
        ("cat a | tee /etc/x | wc -l", "tee /etc/x", ("Edit(//etc/x)",)),
        ("echo ok; rm -rf ../..", "rm -rf ../..", ()),
        ("make it", "make it", ("Bash(make *)",)),
    ],
)
def test_a_question_names_the_command_that_caused_it(
    command: str, cause: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    root = str(tmp_path)
    policy = Policy.from_settings((), [root], root)
    question = Question("Bash", {"command": command}, accesses(command, Shell(root, (root,))))
    decision = decide(question, policy)
    assert isinstance(decision, Ask)
    assert decision.reason.cause == cause
    offered = tuple(rule for one in decision.suggestions for rule in one.rules)
    assert offered == rules
    assert [unfit(rule) for rule in offered] == ["" for _ in rules]
