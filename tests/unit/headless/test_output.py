"""What the result of a run counts, and how rules of the command line are read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.cli.run import split_rules
from sidelight.core.content import Image, Opaque, Text, Thinking, ToolResult, ToolUse
from sidelight.core.decision import Deny, Reason
from sidelight.core.events import (
    EndReason,
    MessageAdded,
    Notice,
    PermissionDecided,
    RetryScheduled,
    SpendChanged,
    ToolCallStarted,
    TurnEnded,
)
from sidelight.core.messages import AssistantMessage, Usage, UserMessage
from sidelight.core.spend import Spent, Total
from sidelight.headless.output import StreamJsonOutput, Tally, TextOutput
from tests.headless import masked


def tally() -> Tally:
    return Tally("00000000-0000-0000-0000-000000000000", {"m": 1000, "n": 2000}.__getitem__)


def spent(model: str, cost_usd: float | None, usage: Usage, source: str = "main") -> SpendChanged:
    one = Spent(request_id="r", source=source, model=model, usage=usage, cost_usd=cost_usd)
    total = Total().plus(one)
    return SpendChanged(
        spent=one, turn=total, session=total, models={model: total}, sources={source: total}
    )


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Edit", ["Edit"]),
        ("Edit,Read", ["Edit", "Read"]),
        ("Edit Read", ["Edit", "Read"]),
        ("Bash(git log:*), Read(a b,c)", ["Bash(git log:*)", "Read(a b,c)"]),
        ("Bash(f(x, y) z),Edit", ["Bash(f(x, y) z)", "Edit"]),
        (" , ,", []),
        ("Bash(open, Edit", ["Bash(open, Edit"]),
    ],
)
def test_rules_are_separated_outside_of_parentheses(text: str, rules: list[str]) -> None:
    assert split_rules([text]) == rules


def rule(name: str, inside: str) -> str:
    return f"{name}({inside})" if inside else name


RULE = st.builds(
    rule, st.sampled_from(["Bash", "Read", "mcp__a__b"]), st.text("abc ,*:/", max_size=8)
)


@given(st.lists(RULE, max_size=5), st.sampled_from([",", " ", ", "]))
def test_rules_joined_in_any_way_come_apart_again(rules: list[str], between: str) -> None:
    assert split_rules([between.join(rules)]) == split_rules(rules) == rules


@pytest.mark.parametrize(
    ("reason", "error", "subtype", "is_error"),
    [
        ("completed", None, "success", False),
        ("blocked", "The model declined.", "success", True),
        ("failed", "No way.", "error_during_execution", True),
        ("cancelled", None, "error_during_execution", True),
        ("max_steps", "Stopped.", "error_max_turns", True),
        ("budget", "Too dear.", "error_max_budget_usd", True),
    ],
)
def test_every_way_to_end_has_its_result(
    reason: EndReason, error: str | None, subtype: str, is_error: bool
) -> None:
    counted = tally()
    said = AssistantMessage(id="a", content=(Text(text="Well. "), Text(text="Done.")))
    counted.take(MessageAdded(message=said))
    call = ToolUse(id="toolu_1", name="Edit", input={"a": 1})
    counted.take(ToolCallStarted(call=call, summary="x"))
    decision = Deny(reason=Reason(layer="person"), message="no")
    counted.take(PermissionDecided(tool_use_id="toolu_1", decision=decision))
    usage = Usage(input_tokens=1, output_tokens=2, cache_write_5m_tokens=3, cache_write_1h_tokens=4)
    ended = TurnEnded(turn_id="t", reason=reason, error=error, steps=5, usage=usage)
    counted.take(spent("m", 0.25, usage))
    rest: dict[str, Any] = {"errors": [error or reason]}
    if subtype == "success":
        rest = {"result": error or "Well. Done.", "stop_reason": "end_turn"}
    terminal = {"completed": "completed", "max_steps": "max_turns", "budget": "budget_exhausted"}
    if reason in terminal:
        rest["terminal_reason"] = terminal[reason]
    assert masked(counted.result(ended)) == {
        "type": "result",
        "subtype": subtype,
        "is_error": is_error,
        "duration_ms": 0,
        "duration_api_ms": 0,
        "num_turns": 5,
        "session_id": "session_id",
        "total_cost_usd": 0.25,
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 7,
            "cache_creation": {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4},
        },
        "modelUsage": {
            "m": {
                "inputTokens": 1,
                "outputTokens": 2,
                "cacheReadInputTokens": 0,
                "cacheCreationInputTokens": 7,
                "webSearchRequests": 0,
                "costUSD": 0.25,
                "contextWindow": 1000,
            }
        },
        "permission_denials": [
            {"tool_name": "Edit", "tool_use_id": "toolu_", "tool_input": {"a": 1}}
        ],
        "uuid": "uuid",
        **rest,
    }


@pytest.mark.req("MODEL-05")
def test_each_model_and_helper_counts_and_an_unknown_price_is_null_never_nothing() -> None:
    counted = tally()
    counted.take(spent("m", 0.25, Usage(input_tokens=1, cache_read_input_tokens=9)))
    counted.take(spent("m", 0.5, Usage(output_tokens=3), source="subagent"))
    ended = TurnEnded(turn_id="t", reason="completed", usage=Usage(input_tokens=1))
    known = counted.result(ended)
    assert known["total_cost_usd"] == 0.75
    counted.take(spent("n", None, Usage(input_tokens=5)))
    unknown = counted.result(ended)
    assert unknown["total_cost_usd"] is None
    assert unknown["usage"]["input_tokens"] == 1
    shared = {"cacheCreationInputTokens": 0, "webSearchRequests": 0}
    assert unknown["modelUsage"] == {
        "m": {
            **shared,
            "inputTokens": 1,
            "outputTokens": 3,
            "cacheReadInputTokens": 9,
            "costUSD": 0.75,
            "contextWindow": 1000,
        },
        "n": {
            **shared,
            "inputTokens": 5,
            "outputTokens": 0,
            "cacheReadInputTokens": 0,
            "costUSD": None,
            "contextWindow": 2000,
        },
    }


def test_text_prints_the_last_answer_and_problems_beside_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = TextOutput(tally(), verbose=False)
    output.event(MessageAdded(message=AssistantMessage(id="a", content=(Text(text="First."),))))
    output.event(Notice(severity="info", text="quiet"))
    output.event(Notice(severity="warning", text="loud"))
    output.event(RetryScheduled(attempt=1, delay_s=0.5, cause="busy"))
    output.event(MessageAdded(message=AssistantMessage(id="b", content=(Text(text=" Last. \n"),))))
    output.end(TurnEnded(turn_id="t", reason="failed", error="It broke."))
    assert capsys.readouterr() == (
        "Last.\n",
        "loud\nasking again in 0.5 s: busy\nsidelight: It broke.\n",
    )


def test_what_is_printed_as_text_does_not_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The answer goes into a pipe here, and arrives there as it is.
    output = TextOutput(tally(), verbose=False)
    output.event(Notice(severity="warning", text="a\x1b[2J"))
    output.event(MessageAdded(message=AssistantMessage(id="a", content=(Text(text="b\x1b]0;c"),))))
    output.end(TurnEnded(turn_id="t", reason="failed", error="d\x9b"))
    assert capsys.readouterr() == ("b\x1b]0;c\n", "a⟨U+001B⟩[2J\nsidelight: d⟨U+009B⟩\n")


def test_a_stream_has_a_word_for_every_block_notice_and_retry(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = StreamJsonOutput(tally(), {"cwd": "/w"}, partial=False)
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    secret = {"type": "redacted_thinking", "data": "x"}
    blocks = (Thinking(raw=thought), Opaque(raw=secret))
    output.event(MessageAdded(message=AssistantMessage(id="a", content=blocks, model="m")))
    picture = Image(media_type="image/png", data="AAAA")
    result = ToolResult(tool_use_id="toolu_1", content=(picture,))
    output.event(MessageAdded(message=UserMessage(id="u", content=(result,), origin="tools")))
    output.event(Notice(severity="warning", text="mind"))
    output.event(RetryScheduled(attempt=2, delay_s=0.5, cause="busy"))
    lines = [masked(json.loads(line)) for line in capsys.readouterr().out.splitlines()]
    same = {"session_id": "session_id", "uuid": "uuid"}
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert [line["message"]["content"][0] for line in lines[1:4]] == [
        thought,
        secret,
        {
            "type": "tool_result",
            "tool_use_id": "toolu_",
            "content": [{"type": "image", "source": source}],
            "is_error": False,
        },
    ]
    assert lines[0] == {"type": "system", "subtype": "init", "cwd": "/w", **same}
    assert lines[4:] == [
        {
            "type": "system",
            "subtype": "informational",
            "text": "mind",
            "level": "warning",
            **same,
        },
        {
            "type": "system",
            "subtype": "api_retry",
            "attempt": 2,
            "retry_delay_ms": 500,
            "error": "busy",
            **same,
        },
    ]
