"""Raw events become whole blocks and a whole answer, or none."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.content import AssistantBlock, Json, Opaque, Text, Thinking, ToolUse, mended
from sidelight.core.errors import ModelError
from sidelight.core.messages import AssistantMessage, Usage
from sidelight.core.model import (
    BlockReady,
    ModelEvent,
    ResponseBegan,
    ResponseEnded,
    TextChunk,
    ThinkingChunk,
    ToolUseStarted,
)
from sidelight.model import decode
from sidelight.model.decode import Answer, usage_of

WRITER = "claude-sonnet-5-5"
TEXT: Json = {"type": "text", "text": ""}
THINK: Json = {"type": "thinking", "thinking": "", "signature": ""}
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": {}}
STOP: Json = {"type": "message_stop"}


def start(usage: Json | None = None) -> Json:
    message = {"id": "msg_1", "model": WRITER, "usage": usage or {"input_tokens": 3}}
    return {"type": "message_start", "message": message}


def opened(block: Json, index: int = 0) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": dict(block)}


def delta(kind: str, name: str, value: str, index: int = 0) -> Json:
    part = {"type": kind, name: value}
    return {"type": "content_block_delta", "index": index, "delta": part}


def said(text: str, index: int = 0) -> Json:
    return delta("text_delta", "text", text, index)


def part(text: str, index: int = 0) -> Json:
    return delta("input_json_delta", "partial_json", text, index)


def closed(index: int = 0) -> Json:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str | None = "end_turn", output: int = 5) -> Json:
    usage = {"output_tokens": output}
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def fed(*events: Json) -> tuple[Answer, list[ModelEvent]]:
    answer = Answer(writer=WRITER)
    told = [told for event in events for told in answer.feed(event)]
    assert [type(one) for one in told[:1]] in ([], [ResponseBegan])
    return answer, told[1:]


def cut_off(answer: Answer) -> str:
    with pytest.raises(ModelError) as caught:
        answer.ended()
    assert caught.value.kind == "cut_off"
    return caught.value.message


def test_what_the_prompt_cost_is_told_at_the_beginning() -> None:
    told = Answer(writer=WRITER).feed(
        start(
            {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1, "speed": "fast"}
        )
    )
    usage = Usage(input_tokens=3, cache_read_input_tokens=7, output_tokens=1, fast=True)
    assert told == (ResponseBegan(model=WRITER, usage=usage),)


def test_a_whole_answer_is_told_piece_by_piece_and_as_a_message() -> None:
    answer, events = fed(
        start({"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1}),
        opened(THINK),
        delta("thinking_delta", "thinking", "Let me "),
        delta("thinking_delta", "thinking", "see."),
        delta("signature_delta", "signature", "c2ln"),
        closed(),
        opened(TEXT, 1),
        said("I ed", 1),
        said("it.", 1),
        closed(1),
        opened(CALL, 2),
        part('{"pa', 2),
        part('th": "a"}', 2),
        closed(2),
        ended("tool_use", 9),
        STOP,
    )
    raw = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
    blocks: tuple[AssistantBlock, ...] = (
        Thinking(raw=raw, model=WRITER),
        Text(text="I edit."),
        ToolUse(id="toolu_1", name="Edit", input={"path": "a"}),
    )
    assert events == [
        ThinkingChunk(text="Let me "),
        ThinkingChunk(text="see."),
        BlockReady(block=blocks[0]),
        TextChunk(text="I ed"),
        TextChunk(text="it."),
        BlockReady(block=blocks[1]),
        ToolUseStarted(id="toolu_1", name="Edit"),
        BlockReady(block=blocks[2]),
    ]
    assert answer.ended() == ResponseEnded(
        message=AssistantMessage(
            id="msg_1",
            content=blocks,
            stop_reason="tool_use",
            usage=Usage(input_tokens=3, output_tokens=9, cache_read_input_tokens=7),
            model=WRITER,
        )
    )
    thought = answer.ended().message.content[0]
    assert isinstance(thought, Thinking)
    assert json.dumps(thought.raw) == json.dumps(raw)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([start(), opened(TEXT), said("half")], "before its end"),
        ([start(), opened(TEXT), said("half"), closed(), ended()], "before its end"),
        ([start(), opened(TEXT), said("half"), closed(), STOP], "without a reason"),
        ([start(), opened(TEXT), said("half"), ended(), STOP], "inside a block"),
        ([], "before its end"),
    ],
)
def test_an_answer_that_lacks_something_is_cut_off(events: list[Json], words: str) -> None:
    answer, _ = fed(*events)
    assert words in cut_off(answer)


def test_a_call_that_was_not_closed_is_never_ready() -> None:
    answer, events = fed(start(), opened(CALL), part('{"path": "a"}'), ended("tool_use"), STOP)
    assert events == [ToolUseStarted(id="toolu_1", name="Edit")]
    cut_off(answer)


@pytest.mark.parametrize("broken", ['{"path": "a', "[1]", '"text"', "{'path': 1}", "null"])
def test_a_call_whose_input_is_not_an_object_is_never_ready(broken: str) -> None:
    answer, events = fed(start(), opened(CALL), part(broken), closed(), ended("tool_use"), STOP)
    assert events == [ToolUseStarted(id="toolu_1", name="Edit")]
    assert "Edit" in cut_off(answer)


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_call_cut_at_the_length_limit_is_left_out_of_the_answer(reason: str) -> None:
    answer, _ = fed(
        start(), opened(TEXT), said("I write."), closed(),
        opened(CALL, 1), part('{"path": "a', 1), closed(1), ended(reason), STOP,
    )  # fmt: skip
    message = answer.ended().message
    assert (message.content, message.stop_reason) == ((Text(text="I write."),), reason)


@pytest.mark.parametrize(
    ("given_at_start", "parts", "expected"),
    [
        ({}, [], {}),
        ({"a": 1}, [], {"a": 1}),
        ({}, ["", " "], {}),
        ({"a": 1}, ['{"b":2}'], {"b": 2}),
    ],
)
def test_the_input_of_a_call_may_come_whole_at_its_start(
    given_at_start: Json, parts: list[str], expected: Json
) -> None:
    block = {**CALL, "input": given_at_start}
    answer, _ = fed(start(), opened(block), *map(part, parts), closed(), ended("tool_use"), STOP)
    calls = answer.ended().message.tool_uses
    assert calls == (ToolUse(id="toolu_1", name="Edit", input=expected),)


def test_what_is_not_known_passes_and_unknown_blocks_are_kept_as_they_came() -> None:
    hidden: Json = {"type": "redacted_thinking", "data": "eA=="}
    search: Json = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    answer, events = fed(
        {"type": "ping"}, start(), {"type": "aurora", "x": 1}, {},
        opened(hidden), closed(),
        opened(search, 1), part('{"q":', 1), part('"x"}', 1), closed(1),
        opened(TEXT, 2), delta("citations_delta", "citation", "x", 2), said("ok", 2), closed(2),
        ended("a_new_reason"), STOP,
    )  # fmt: skip
    content = (
        Opaque(raw=hidden, model=WRITER),
        Opaque(raw={**search, "input": {"q": "x"}}, model=WRITER),
        Text(text="ok"),
    )
    message = answer.ended().message
    assert (message.content, message.stop_reason) == (content, "a_new_reason")
    assert [type(event) for event in events] == [BlockReady, BlockReady, TextChunk, BlockReady]


def test_blocks_may_be_interleaved() -> None:
    answer, _ = fed(
        start(), opened(TEXT), opened(CALL, 1), said("a"), part("{}", 1), said("b"),
        closed(1), closed(), ended(), STOP,
    )  # fmt: skip
    assert answer.ended().message.content == (
        Text(text="ab"),
        ToolUse(id="toolu_1", name="Edit", input={}),
    )


@pytest.mark.parametrize(
    "event",
    [
        said("x", 7),
        {"type": "content_block_start"},
        {"type": "content_block_start", "index": "a", "content_block": TEXT},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        {"type": "content_block_delta", "index": 0, "delta": None},
        {"type": "content_block_stop", "index": 3},
        opened(TEXT),
        {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use"}},
    ],
)
def test_an_event_of_the_wrong_shape_is_the_servers_fault(event: Json) -> None:
    answer, _ = fed(start(), opened(TEXT))
    with pytest.raises(ModelError) as caught:
        answer.feed(event)
    assert caught.value.kind == "server"


def test_a_number_that_was_used_for_a_block_cannot_be_used_again() -> None:
    answer, _ = fed(start(), opened(TEXT), said("one"), closed())
    with pytest.raises(ModelError) as caught:
        answer.feed(opened(TEXT))
    assert (caught.value.kind, "a second block 0" in caught.value.message) == ("server", True)


@pytest.mark.parametrize("event", [None, [], "text", 3])
def test_an_event_that_is_not_an_object_passes(event: object) -> None:
    assert Answer().feed(event) == ()


def test_halves_of_characters_are_joined_or_replaced_so_that_they_can_be_stored() -> None:
    broken = json.dumps({"whole": "\ud83d\ude00", "half": "x\ud83d", "k\udc00": ["\ud83d"]})
    answer, _ = fed(
        start(), opened(TEXT), said("\ud83d"), said("\ude00"), closed(),
        opened(CALL, 1), part(broken, 1), closed(1), ended(), STOP,
    )  # fmt: skip
    message = answer.ended().message
    expected = {"whole": "\U0001f600", "half": "x\ufffd", "k\ufffd": ["\ufffd"]}
    assert message.content == (
        Text(text="\U0001f600"),
        ToolUse(id="toolu_1", name="Edit", input=expected),
    )
    assert AssistantMessage.model_validate_json(message.model_dump_json()) == message


@given(st.text())
def test_whole_text_is_not_mended(text: str) -> None:
    assert mended(text) == text


HOUR_ONLY = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 5}


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({}, Usage()),
        ({"input_tokens": None, "cache_creation": None}, Usage()),
        ({"cache_creation_input_tokens": 9}, Usage(cache_write_5m_tokens=9)),
        (
            {
                "cache_creation_input_tokens": 9,
                "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 5},
            },
            Usage(cache_write_5m_tokens=4, cache_write_1h_tokens=5),
        ),
        (
            {"cache_creation_input_tokens": 5, "cache_creation": HOUR_ONLY},
            Usage(cache_write_1h_tokens=5),
        ),
        ({"cache_creation": HOUR_ONLY}, Usage(cache_write_1h_tokens=5)),
    ],
)
def test_usage_is_read_from_what_there_is(raw: Json, usage: Usage) -> None:
    assert usage_of(raw) == usage


def test_numbers_of_usage_are_totals_and_missing_ones_stay() -> None:
    first = start({"input_tokens": 3, "output_tokens": 1})
    answer, _ = fed(first, ended("end_turn", 4), ended(None, 9), STOP)
    message = answer.ended().message
    assert message.usage == Usage(input_tokens=3, output_tokens=9)
    assert message.stop_reason == "end_turn"


@pytest.mark.req("MODEL-01")
def test_the_input_of_a_call_is_parsed_once_however_many_pieces_it_comes_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[int] = []

    class CountingJson:
        @staticmethod
        def loads(text: str) -> Any:
            parsed.append(len(text))
            return json.loads(text)

    monkeypatch.setattr(decode, "json", CountingJson)
    text = json.dumps({"content": "x" * 250_000})
    pieces = [part(text[at : at + 10]) for at in range(0, len(text), 10)]
    answer, events = fed(start(), opened(CALL), *pieces, closed(), ended("tool_use"), STOP)
    assert answer.ended().message.tool_uses[0].input == {"content": "x" * 250_000}
    assert parsed == [len(text)]
    assert [type(event) for event in events] == [ToolUseStarted, BlockReady]


CONTENTS = st.lists(
    st.one_of(
        st.text(min_size=1).map(lambda text: Text(text=text)),
        st.text(min_size=1).map(
            lambda text: Thinking(raw={"type": "thinking", "thinking": text, "signature": "s"})
        ),
        st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.none())).map(
            lambda given: ToolUse(id="toolu_1", name="Edit", input=given)
        ),
    ),
    max_size=5,
)


def streamed(blocks: Sequence[AssistantBlock], size: int) -> list[Json]:
    """An answer of these blocks as raw events, cut into pieces of `size` characters."""
    events: list[Json] = [start()]
    for index, block in enumerate(blocks):
        match block:
            case Text():
                empty, text, how = TEXT, block.text, ("text_delta", "text")
            case Thinking():
                empty, text, how = THINK, block.text, ("thinking_delta", "thinking")
            case ToolUse():
                empty, text = CALL, json.dumps(block.input)
                how = ("input_json_delta", "partial_json")
            case Opaque():
                raise AssertionError("not made here")
        events.append(opened(empty, index))
        events += [delta(*how, text[at : at + size], index) for at in range(0, len(text), size)]
        if isinstance(block, Thinking):
            events.append(delta("signature_delta", "signature", "s", index))
        events.append(closed(index))
    return [*events, ended(), STOP]


@given(CONTENTS, st.integers(1, 9))
def test_however_an_answer_is_cut_into_pieces_it_is_the_same_answer(
    blocks: list[AssistantBlock], size: int
) -> None:
    answer = Answer()
    told = [item for event in streamed(blocks, size) for item in answer.feed(event)]
    assert answer.ended().message.content == tuple(blocks)
    assert [item.block for item in told if isinstance(item, BlockReady)] == blocks


@given(CONTENTS, st.integers(1, 9), st.data())
def test_wherever_an_answer_breaks_off_only_whole_blocks_were_told(
    blocks: list[AssistantBlock], size: int, data: st.DataObject
) -> None:
    events = streamed(blocks, size)
    at = data.draw(st.integers(0, len(events) - 1))
    answer = Answer()
    told = [item for event in events[:at] for item in answer.feed(event)]
    ready = [item.block for item in told if isinstance(item, BlockReady)]
    assert ready == blocks[: len(ready)]
    cut_off(answer)
