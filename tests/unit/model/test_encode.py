"""Requests become bodies that the API accepts, and each extends the one before it."""

import gc
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.content import (
    AssistantBlock,
    Block,
    Document,
    Image,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    is_list,
    is_object,
)
from sidelight.core.model import Effort, ModelRequest, PromptMessage, SystemPrompt, ToolSpec
from sidelight.model.catalog import MODELS, ModelCard, card, plain_card
from sidelight.model.encode import Encoder
from sidelight.model.provider import Provider

SONNET = card("sonnet")
HOUR = {"type": "ephemeral", "ttl": "1h"}
MINUTES = {"type": "ephemeral", "ttl": "5m"}
THOUGHT = {"type": "thinking", "thinking": "Hm.\u00e9", "signature": "c2ln+/=="}
READ = ToolSpec(name="Read", description="Reads", input_schema={"type": "object", "a": 1, "B": 2})


def user(*blocks: Block | str) -> PromptMessage:
    made = tuple(Text(text=block) if isinstance(block, str) else block for block in blocks)
    return PromptMessage(role="user", content=made)


def assistant(*blocks: AssistantBlock) -> PromptMessage:
    return PromptMessage(role="assistant", content=blocks)


def request(*messages: PromptMessage, model: str = "sonnet", **more: Any) -> ModelRequest:
    system = SystemPrompt(stable="You help.", dynamic="It is a test.")
    return ModelRequest(model=model, system=system, tools=(READ,), messages=messages, **more)


def encode(asked: ModelRequest, of: ModelCard) -> Json:
    return json.loads(Encoder().body(asked, of))


def call(number: int = 1) -> ToolUse:
    return ToolUse(id=f"toolu_{number}", name="Read", input={"z": 1, "a": [2]})


def result(number: int = 1, *, is_error: bool = False) -> ToolResult:
    content = (Text(text="one"),)
    return ToolResult(tool_use_id=f"toolu_{number}", content=content, is_error=is_error)


def unmarked(value: Any) -> Any:
    if is_list(value):
        return [unmarked(item) for item in value]
    if is_object(value):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return value


def marks(body: Json) -> Iterator[tuple[str, Json]]:
    """Every mark in the order of the prompt, with the type of what carries it."""
    messages = [block for message in body["messages"] for block in message["content"]]
    for block in (*body.get("tools", ()), *body.get("system", ()), *messages):
        if "cache_control" in block:
            yield block.get("type", "tool"), block["cache_control"]


def test_a_whole_request_is_written_as_the_api_wants_it() -> None:
    picture = Image(media_type="image/png", data="aGk=")
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    body = encode(
        request(
            user("Look at this.", picture),
            assistant(Thinking(raw=THOUGHT, model="claude-sonnet-5-5"), Text(text="Yes."), call()),
            user(result(is_error=True), "And?"),
            effort="low",
            max_output_tokens=900,
        ),
        SONNET,
    )
    asked = [{"type": "text", "text": "Look at this."}, {"type": "image", "source": source}]
    answered = [
        THOUGHT,
        {"type": "text", "text": "Yes."},
        {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"z": 1, "a": [2]}},
    ]
    returned = [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [{"type": "text", "text": "one"}],
            "is_error": True,
        },
        {"type": "text", "text": "And?", "cache_control": MINUTES},
    ]
    assert body == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 900,
        "stream": True,
        "system": [
            {"type": "text", "text": "You help.", "cache_control": HOUR},
            {"type": "text", "text": "It is a test.", "cache_control": HOUR},
        ],
        "tools": [
            {
                "name": "Read",
                "description": "Reads",
                "input_schema": READ.input_schema,
                "eager_input_streaming": True,
            },
        ],
        "messages": [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": answered},
            {"role": "user", "content": returned},
        ],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
    }


def test_an_unknown_model_is_asked_for_text_and_tools_only() -> None:
    body = encode(request(user("go"), model="qwen3:8b", effort="high"), card("qwen3:8b"))
    assert set(body) == {"model", "max_tokens", "stream", "system", "tools", "messages"}
    assert list(marks(body)) == []


@pytest.mark.req("MODEL-07")
@pytest.mark.parametrize(
    ("effort", "limit", "thinking"),
    [
        (None, None, None),
        ("low", None, {"type": "enabled", "budget_tokens": 2_048}),
        ("max", None, {"type": "enabled", "budget_tokens": 30_976}),
        ("max", 1_500, None),
    ],
)
def test_a_model_with_budgets_gets_one_that_leaves_room_to_speak(
    effort: Effort | None, limit: int | None, thinking: Json | None
) -> None:
    asked = request(user("go"), model="claude-haiku-4-5", effort=effort, max_output_tokens=limit)
    body = encode(asked, card("claude-haiku-4-5"))
    assert body.get("thinking") == thinking
    assert "output_config" not in body


def test_a_turn_that_began_without_thinking_does_not_begin_to_think_amid_its_calls() -> None:
    haiku = card("claude-haiku-4-5")
    begun = (user("go"), assistant(call()), user(result()))
    assert "thinking" not in encode(request(*begun, model=haiku.id, effort="high"), haiku)
    over = (*begun, assistant(Text(text="Done.")), user("More."))
    assert "thinking" in encode(request(*over, model=haiku.id, effort="high"), haiku)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_no_model_is_asked_for_more_output_than_it_has(model: str) -> None:
    asked = request(user("go"), model=model, max_output_tokens=10**7)
    assert encode(asked, card(model))["max_tokens"] == card(model).output_cap


@pytest.mark.parametrize(
    ("writer", "reader", "kept"),
    [
        ("claude-sonnet-5-5", "claude-sonnet-5-5", True),
        ("", "claude-sonnet-5-5", True),
        ("claude-opus-5-5", "claude-sonnet-5-5", False),
        ("qwen3:8b", "claude-sonnet-5-5", False),
        ("qwen3:8b", "qwen3:8b", False),
    ],
)
def test_thinking_goes_back_to_its_own_model_alone(writer: str, reader: str, kept: bool) -> None:
    hidden: Json = {"type": "redacted_thinking", "data": "eA=="}
    spoken = assistant(
        Thinking(raw=THOUGHT, model=writer), Opaque(raw=hidden, model=writer), Text(text="Yes.")
    )
    body = encode(request(user("go"), spoken, user("on"), model=reader), card(reader))
    text = {"type": "text", "text": "Yes."}
    assert body["messages"][1]["content"] == ([THOUGHT, hidden, text] if kept else [text])


def test_a_message_of_foreign_thinking_alone_is_left_out() -> None:
    spoken = assistant(Thinking(raw=THOUGHT, model="claude-opus-5-5"))
    body = encode(request(user("go"), spoken, user("on")), SONNET)
    assert [message["role"] for message in body["messages"]] == ["user", "user"]


def test_pages_go_to_models_that_read_them_and_their_text_to_others() -> None:
    pages = Document(media_type="application/pdf", data="JVBERi0=", text="what it says")
    silent = pages.model_copy(update={"text": ""})
    read = ToolResult(tool_use_id="toolu_1", content=(pages,))
    asked = request(user(pages, silent), assistant(call()), user(read))
    encoder = Encoder()
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    document = {"type": "document", "source": source}
    able = unmarked(json.loads(encoder.body(asked, SONNET)))["messages"]
    assert able[0]["content"] == [document, document]
    assert able[2]["content"][0]["content"] == [document]
    unable = json.loads(encoder.body(asked, plain_card("small")))["messages"]
    said = {"type": "text", "text": "what it says"}
    nothing = "(a document stood here that holds no text, and this model reads only text)"
    assert unable[0]["content"] == [said, {"type": "text", "text": nothing}]
    assert unable[2]["content"][0]["content"] == [said]
    assert unmarked(json.loads(encoder.body(asked, SONNET)))["messages"] == able


def test_a_result_without_words_has_no_content() -> None:
    empty = ToolResult(tool_use_id="toolu_1", content=())
    body = encode(request(user("go"), assistant(call()), user(empty)), plain_card("m"))
    assert body["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "toolu_1"}]


def test_a_long_turn_has_a_second_mark_near_enough_to_find_the_first() -> None:
    turns = [m for n in range(12) for m in (assistant(call(n)), user(result(n)))]
    body = encode(request(user("go"), *turns), SONNET)
    blocks = [block for message in body["messages"] for block in message["content"]]
    marked = [n for n, block in enumerate(blocks) if "cache_control" in block]
    assert marked == [len(blocks) - 16, len(blocks) - 1]


def test_thinking_and_blank_text_carry_no_mark() -> None:
    ending = assistant(Text(text="a"), Text(text=" "), Thinking(raw=THOUGHT))
    body = encode(request(user("go"), ending), SONNET)
    assert [where for where, mark in marks(body) if mark == MINUTES] == ["text"]
    assert body["messages"][1]["content"][0]["cache_control"] == MINUTES


def test_a_count_has_the_prompt_and_nothing_of_the_answer() -> None:
    asked = request(user("go"), effort="low")
    body = encode(asked, SONNET)
    del body["max_tokens"], body["stream"], body["thinking"], body["output_config"]
    assert json.loads(Encoder().count(asked, SONNET)) == body


WORDS = st.text(min_size=1).filter(lambda text: bool(text.strip()))
USERS = st.lists(
    st.one_of(
        WORDS.map(lambda text: Text(text=text)),
        st.just(Image(media_type="image/png", data="aGk=")),
        st.integers(0, 9).map(result),
    ),
    min_size=1,
    max_size=8,
).map(lambda blocks: user(*blocks))
SPOKEN = st.lists(
    st.one_of(
        WORDS.map(lambda text: Text(text=text)),
        st.integers(0, 9).map(call),
        st.sampled_from([SONNET.id, "claude-opus-5-5"]).map(
            lambda model: Thinking(raw=THOUGHT, model=model)
        ),
        st.just(Opaque(raw={"type": "redacted_thinking", "data": "eA=="}, model=SONNET.id)),
    ),
    min_size=1,
    max_size=8,
).map(lambda blocks: assistant(*blocks))
HISTORIES = st.lists(st.tuples(USERS, SPOKEN), min_size=1, max_size=8).map(
    lambda pairs: [message for pair in pairs for message in pair]
)


@given(HISTORIES)
def test_each_request_extends_the_one_before_it_byte_for_byte_but_for_the_marks(
    history: list[PromptMessage],
) -> None:
    before: Json | None = None
    for end in range(1, len(history) + 1, 2):
        body = unmarked(encode(request(*history[:end]), SONNET))
        if before is not None:
            head = {**body, "messages": body["messages"][: len(before["messages"])]}
            assert json.dumps(head) == json.dumps(before)
        before = body


@given(HISTORIES)
def test_there_are_at_most_four_marks_the_long_ones_first_and_only_where_allowed(
    history: list[PromptMessage],
) -> None:
    found = list(marks(encode(request(*history), SONNET)))
    assert len(found) <= 4
    assert [mark for _, mark in found] == [HOUR, HOUR, *[MINUTES] * (len(found) - 2)]
    assert {where for where, _ in found} <= {"text", "image", "tool_use", "tool_result"}


@given(HISTORIES)
def test_encoding_leaves_the_request_as_it_was(history: list[PromptMessage]) -> None:
    asked = request(*history)
    copy = asked.model_copy(deep=True)
    encode(asked, SONNET)
    assert asked == copy


def test_a_long_conversation_is_written_the_same_step_by_step_as_at_once() -> None:
    turns = [
        m for n in range(80) for m in (user("go", result(n)), assistant(Text(text="a"), call(n)))
    ]
    foreign = assistant(Thinking(raw=THOUGHT, model="claude-opus-5-5"))
    history = [user("go"), foreign, *turns]
    growing = Encoder()
    for end in [*range(1, len(history) + 1), 100, 7, 150]:
        asked = request(*history[:end])
        assert growing.body(asked, SONNET) == Encoder().body(asked, SONNET)
    for model in (card("opus"), SONNET):
        asked = request(*history, model=model.id)
        assert growing.body(asked, model) == Encoder().body(asked, model)


def test_what_was_written_of_a_conversation_is_forgotten_with_it() -> None:
    encoder = Encoder()
    for _ in range(3):
        asked = request(*(user(f"{n}") for n in range(100)))
        asked = asked.model_copy(update={"tools": ()})
        encoder.body(asked, SONNET)
        del asked
    gc.collect()
    assert vars(encoder) == vars(Encoder())


@pytest.mark.req("MODEL-07")
def test_fast_mode_and_eager_input_are_sent_only_where_they_are_known() -> None:
    provider = Provider("gateway", "https://gateway.example", None, "a test")
    elsewhere = (provider.card("sonnet"), card("claude-sonnet-5-5").at("anthropic.", own_api=False))
    for of in elsewhere:
        body = encode(request(user("go")), of)
        assert "eager_input_streaming" not in body["tools"][0]
        assert "speed" not in body
    assert encode(request(user("go"), fast=True), SONNET)["speed"] == "fast"
    own = replace(provider, kind="anthropic", base_url=None).card("sonnet")
    assert encode(request(user("go")), own)["tools"][0]["eager_input_streaming"] is True
