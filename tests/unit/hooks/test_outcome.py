"""What a hook's exit code and output mean, line by line of the published tables."""

import json
import signal
from typing import Any

import pytest

from sidelight.core.events import HookEnded
from sidelight.hooks.events import BY_NAME
from sidelight.hooks.outcome import HookOutcome, combine, not_started, read_answer
from sidelight.process.run import Finished


def finished(code: int | None, stdout: str = "", stderr: str = "", **fields: Any) -> Finished:
    values: dict[str, Any] = {
        "signal": None,
        "timed_out": False,
        "duration_s": 0.0,
        "truncated": False,
        "leftovers": False,
        **fields,
    }
    return Finished(exit_code=code, stdout=stdout.encode(), stderr=stderr.encode(), **values)


def answer(
    event: str, code: int | None, stdout: Any = "", stderr: str = "", **fields: Any
) -> HookOutcome:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    fail_closed = fields.pop("fail_closed", False)
    done = finished(code, text, stderr, **fields)
    return read_answer(BY_NAME[event], "`h`", done, fail_closed)


def ran(event: str, outcome: Any, detail: str = "") -> tuple[HookEnded, ...]:
    return (HookEnded(event=event, command="`h`", outcome=outcome, detail=detail),)


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def test_success_without_a_word_decides_nothing():
    assert answer("PreToolUse", 0) == HookOutcome(runs=ran("PreToolUse", "ok"))


def test_plain_text_is_context_only_where_the_event_says_so():
    assert answer("PostToolUse", 0, "hi").contexts == ()
    assert answer("UserPromptSubmit", 0, "hi\n").contexts == ("hi",)
    assert answer("SessionStart", 0, "{not json").contexts == ("{not json",)


def test_exit_code_2_denies_a_call_and_names_the_hook():
    outcome = answer("PreToolUse", 2, "", "no pushing\n")
    assert (outcome.permission, outcome.reason) == ("deny", "no pushing (said by the hook `h`)")
    assert outcome.runs == ran("PreToolUse", "blocked", "no pushing")


@pytest.mark.parametrize("event", ["PostToolUse", "UserPromptSubmit", "Stop"])
def test_exit_code_2_blocks_with_the_text_of_stderr(event: str):
    outcome = answer(event, 2, "", "not yet")
    assert (outcome.block, outcome.permission) == ("not yet", None)


@pytest.mark.parametrize("event", ["FileChanged", "CwdChanged", "SessionStart"])
def test_exit_code_2_is_only_told_where_nothing_can_be_blocked(event: str):
    outcome = answer(event, 2, "", "odd")
    assert (outcome.block, outcome.permission) == (None, None)
    assert outcome.messages == ("odd (said by the hook `h`)",)


def test_json_gives_the_reason_of_exit_code_2_but_cannot_undo_it():
    said = specific(
        "PreToolUse", permissionDecision="allow", updatedInput={"a": 1}, additionalContext="c"
    )
    outcome = answer("PreToolUse", 2, {**said, "reason": "mine"}, "stderr")
    assert (outcome.permission, outcome.updated_input, outcome.contexts) == ("deny", None, ("c",))
    assert outcome.reason == "mine (said by the hook `h`)"
    assert answer("PreToolUse", 2, '{"reason": 5}', "still").permission == "deny"


def test_another_exit_code_lets_the_act_go_on_and_is_told():
    outcome = answer("PreToolUse", 1, "text", "first line\nsecond")
    assert outcome.permission is None
    assert outcome.messages == (
        "The hook `h` (PreToolUse) exited with code 1: first line. It decided nothing.",
    )
    assert outcome.runs == ran("PreToolUse", "failed", "exited with code 1: first line")


def test_json_decides_whatever_the_exit_code():
    said = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="r")
    for code in (0, 1, 127):
        assert answer("PreToolUse", code, said).permission == "deny"


@pytest.mark.parametrize(
    "stderr",
    [
        "python3: can't open file '/x/guard.py': [Errno 2] No such file or directory",
        "/usr/bin/python3.11: can't open file '/g.py': [Errno 2] No such file or directory",
        "sh: 0: cannot open /x/guard.sh: No such file",
        "/bin/sh: 0: Can't open /x/guard.sh",
        'Can\'t open perl script "/g.pl": No such file or directory',
    ],
)
def test_an_interpreter_without_its_script_is_a_failure_not_a_decision(stderr: str):
    outcome = answer("PreToolUse", 2, "", stderr)
    assert outcome.permission is None
    assert outcome.runs[0].outcome == "failed"
    assert answer("PreToolUse", 2, "", stderr, fail_closed=True).permission == "deny"


@pytest.mark.parametrize(
    "stderr", ["guard.conf: No such file or directory", "I can't open file x for you", ""]
)
def test_a_hook_that_speaks_of_missing_files_still_decides(stderr: str):
    assert answer("PreToolUse", 2, "", stderr).permission == "deny"


def test_a_timeout_discards_the_output_and_is_its_own_kind():
    """B095: a hook's timeout is nobody's refusal."""
    said = specific("PreToolUse", permissionDecision="deny")
    outcome = answer("PreToolUse", None, said, timed_out=True, duration_s=2.04)
    assert outcome.permission is None
    assert outcome.messages == (
        "The hook `h` (PreToolUse) took longer than 2.0 s and was ended. It decided nothing.",
    )
    assert outcome.runs[0].outcome == "timeout"


@pytest.mark.req("HOOK-06")
def test_a_crash_names_its_signal():
    outcome = answer("PostToolUse", None, signal=signal.SIGSEGV)
    assert outcome.runs == ran("PostToolUse", "failed", "was ended by SIGSEGV")


@pytest.mark.parametrize(
    ("code", "stdout", "fields"),
    [
        (1, "", {}),
        (127, "", {}),
        (0, "{broken", {}),
        (0, '{"decision": "maybe"}', {}),
        (None, "", {"timed_out": True}),
        (None, "", {"signal": signal.SIGKILL}),
    ],
)
def test_a_hook_may_fail_closed(code: int | None, stdout: str, fields: dict[str, Any]):
    outcome = answer("PreToolUse", code, stdout, "why", fail_closed=True, **fields)
    assert outcome.permission == "deny"
    assert outcome.runs[0].outcome in {"failed", "timeout"}
    assert answer("Stop", code, stdout, "why", fail_closed=True, **fields).block is None
    assert not_started(BY_NAME["PreToolUse"], "`h`", "gone", True).permission == "deny"


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"decision": "maybe"}, "decision: input should be 'block' or 'approve'"),
        ({"continue": "no"}, "continue: input should be a valid boolean"),
        ({"hookSpecificOutput": {}}, "hookSpecificOutput.hookEventName: field required"),
        (specific("Stop"), "hookSpecificOutput is for Stop"),
        ("{broken", "it begins like JSON but is none"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_told_and_decides_nothing(said: Any, fault: str):
    outcome = answer("PreToolUse", 0, said)
    assert outcome == HookOutcome(
        messages=(
            "The hook `h` (PreToolUse) answered what is not understood: "
            f"{fault}. It decided nothing.",
        ),
        runs=ran("PreToolUse", "failed", f"answered what is not understood: {fault}"),
    )


@pytest.mark.parametrize("kind", ["allow", "deny", "ask"])
def test_a_permission_decision_comes_with_its_reason_and_input(kind: str):
    said = specific(
        "PreToolUse",
        permissionDecision=kind,
        permissionDecisionReason="because",
        updatedInput={"command": "ls"},
        additionalContext="c",
    )
    outcome = answer("PreToolUse", 0, said)
    assert (outcome.permission, outcome.reason) == (kind, "because (said by the hook `h`)")
    assert (outcome.updated_input, outcome.contexts) == ({"command": "ls"}, ("c",))


def test_deferring_asks_and_says_that_it_is_not_supported():
    outcome = answer("PreToolUse", 0, specific("PreToolUse", permissionDecision="defer"))
    assert outcome.permission == "ask"
    assert outcome.messages == ("The hook `h` defers, which is not supported yet: asking.",)


def test_the_old_decisions_count_for_calls():
    assert answer("PreToolUse", 0, {"decision": "approve"}).permission == "allow"
    assert answer("PreToolUse", 0, {"decision": "block", "reason": "r"}).permission == "deny"


def test_a_block_comes_with_its_reason():
    outcome = answer("PostToolUse", 0, {"decision": "block", "reason": "lint"})
    assert (outcome.block, outcome.runs) == ("lint", ran("PostToolUse", "blocked", "lint"))


def test_stopping_everything():
    said = {"continue": False, "stopReason": "budget", "systemMessage": "stopped by policy"}
    outcome = answer("PostToolUse", 0, said)
    assert (outcome.stop, outcome.messages) == ("budget", ("stopped by policy",))
    assert answer("Stop", 0, {"continue": False}).stop == "a hook ended the turn"


def test_the_short_forms():
    assert answer("PreToolUse", 0, {"blocked": True, "reason": "r"}).permission == "deny"
    assert answer("PostToolUse", 0, {"blocked": True, "reason": "r"}).block == "r"
    assert answer("PreToolUse", 0, {"input": {"a": 1}}).updated_input == {"a": 1}
    assert answer("PostToolUse", 0, {"output": "new"}).updated_output == "new"
    outcome = answer("PostToolUse", 0, {"message": "m"})
    assert (outcome.contexts, outcome.messages) == (("m",), ("m",))


def test_changing_the_output_and_the_watched_paths():
    said = specific("PostToolUse", updatedToolOutput={"stdout": "x"})
    assert answer("PostToolUse", 0, said).updated_output == {"stdout": "x"}
    for paths in ([], ["/a", "/b"]):
        outcome = answer("CwdChanged", 0, specific("CwdChanged", watchPaths=paths))
        assert outcome.watch_paths == tuple(paths)


def test_the_strictest_permission_wins_and_all_contexts_are_kept():
    outcomes = [
        HookOutcome(permission="allow", reason="a", contexts=("1",), updated_input={"n": 1}),
        HookOutcome(permission="deny", reason="d1", messages=("m",)),
        HookOutcome(permission="ask", reason="k", contexts=("2",), updated_input={"n": 2}),
        HookOutcome(permission="deny", reason="d2", watch_paths=("/x",)),
        HookOutcome(watch_paths=("/x", "/y"), stop="s", block="b"),
    ]
    assert combine(outcomes, str.upper) == HookOutcome(
        permission="deny",
        reason="D1\nD2",
        contexts=("1", "2"),
        messages=("M",),
        updated_input={"n": 2},
        watch_paths=("/x", "/y"),
        stop="S",
        block="B",
    )
    assert combine([], str) == HookOutcome()
