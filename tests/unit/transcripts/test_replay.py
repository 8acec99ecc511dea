"""What a crash leaves of a transcript is a beginning of the conversation, wherever it cut."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.content import Image, Text, Thinking, ToolResult, ToolUse
from sidelight.core.messages import AssistantMessage, Attachment, Message, Usage, UserMessage
from sidelight.core.model import SystemPrompt, ToolSpec
from sidelight.transcripts.entry import (
    CallBegun,
    CallStored,
    Entry,
    MessageStored,
    ModeStored,
    Opened,
    PromptStored,
    TitleStored,
    TurnStored,
)
from sidelight.transcripts.replay import Replay, replay
from sidelight.transcripts.store import Transcript, TranscriptError

OPENED = Opened(
    session_id="s",
    cwd="/w",
    model="m",
    system=SystemPrompt(stable="be good", dynamic="here"),
    tools=(ToolSpec(name="Look", description="looks", input_schema={"type": "object"}),),
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(words, json_values, max_size=3)
texts = st.builds(Text, text=words)
images = st.just(Image(media_type="image/png", data="AAAA"))
calls = st.builds(ToolUse, id=words, name=words, input=objects)
thoughts = st.builds(Thinking, raw=objects, model=words)
results = st.builds(
    ToolResult,
    toolUseId=words,
    content=st.lists(texts | images, max_size=2).map(tuple),
    isError=st.booleans(),
)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, id=words, content=st.lists(texts | images | results).map(tuple)),
    st.builds(AssistantMessage, id=words, content=st.lists(texts | calls | thoughts).map(tuple)),
    st.builds(Attachment, id=words, kind=words, text=words),
)
entries: st.SearchStrategy[Entry] = st.one_of(
    st.builds(MessageStored, message=messages),
    st.builds(PromptStored, promptId=words, content=st.lists(texts).map(tuple)),
    st.builds(CallStored, toolUseId=words, name=words, outcome=words, data=objects),
    st.builds(ModeStored, mode=words),
    st.builds(TitleStored, title=words),
    st.builds(TurnStored, turnId=words, reason=st.just("completed")),
)


def written(path: Path, *given: Entry) -> Path:
    path.unlink(missing_ok=True)
    transcript = Transcript(path)
    for entry in given:
        transcript.append(entry)
    transcript.close()
    return path


def expected(given: list[Entry]) -> Replay:
    result = Replay(OPENED)
    for entry in given:
        result.take(entry)
    result.close()
    return result


def known(found: Replay) -> list[Any]:
    """Everything but times and the file's measures."""
    waiting = [(name, entry.content) for name, entry in found.waiting.items()]
    ended = [(name, entry.outcome, entry.data) for name, entry in found.calls.items()]
    return [found.messages, waiting, ended, found.mode, found.title, found.usage]


@given(st.lists(entries, max_size=6))
def test_what_was_written_is_what_is_read(tmp_path: Path, given: list[Entry]) -> None:
    found = replay(written(tmp_path / "s.jsonl", OPENED, *given))
    assert found.opened.model_copy(update={"at": ""}) == OPENED
    assert known(found) == known(expected(given))
    assert (found.unread_lines, found.size) == (0, (tmp_path / "s.jsonl").stat().st_size)


@given(st.lists(entries, max_size=5), st.data())
def test_a_file_cut_at_any_byte_is_a_beginning_and_goes_on(
    tmp_path: Path, given: list[Entry], data: st.DataObject
) -> None:
    path = written(tmp_path / "s.jsonl", OPENED, *given)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(whole)))
    path.write_bytes(whole[:cut])
    # A line without its end is whole all the same.
    kept = whole[:cut].count(b"\n") - 1 + (whole[cut : cut + 1] == b"\n")
    assert known(replay(path)) == known(expected(given[:kept]))
    later = MessageStored(message=UserMessage(id="later", content=(Text(text="on"),)))
    transcript = Transcript(path)
    transcript.append(later)
    transcript.close()
    found = replay(path)
    assert known(found) == known(expected([*given[:kept], later]))
    assert found.unread_lines <= 1


@given(st.binary(max_size=200))
def test_any_bytes_in_the_middle_are_counted_and_the_rest_is_read(
    tmp_path: Path, rubbish: bytes
) -> None:
    path = written(tmp_path / "s.jsonl", OPENED, ModeStored(mode="plan"))
    before, after = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(before + rubbish + b"\n" + after)
    assert replay(path).mode == "plan"


def test_a_file_without_a_beginning_or_of_a_later_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="is not a conversation that can be read"):
        replay(written(tmp_path / "a.jsonl", ModeStored(mode="plan")))
    later = OPENED.model_copy(update={"version": 2})
    with pytest.raises(TranscriptError, match="newer version"):
        replay(written(tmp_path / "b.jsonl", later))


def begun(name: str) -> CallBegun:
    return CallBegun(call=ToolUse(id=name, name="Look", input={"name": name}))


def test_calls_of_a_killed_answer_stand_where_it_would_and_stay_there(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    prompt = UserMessage(id="p", content=(Text(text="go"),))
    given = (OPENED, MessageStored(message=prompt), begun("a"), begun("b"))
    rest = AssistantMessage(
        id="rest-a", content=(begun("a").call, begun("b").call), stop_reason="killed"
    )
    assert replay(written(path, *given)).messages == [prompt, rest]
    more = UserMessage(id="q", content=(Text(text="on"),))
    again = replay(written(path, *given, MessageStored(message=more)))
    assert again.messages == [prompt, rest, more]


def test_calls_whose_answer_was_stored_add_nothing(tmp_path: Path) -> None:
    answer = AssistantMessage(id="m", content=(begun("a").call,), usage=Usage(output_tokens=1))
    result = UserMessage(id="r", content=(ToolResult(tool_use_id="a", content=()),))
    given = (begun("a"), MessageStored(message=answer), begun("a"), MessageStored(message=result))
    assert replay(written(tmp_path / "s.jsonl", OPENED, *given)).messages == [answer, result]
