"""Whatever befalls a history, what is sent of it is accepted, and only ever grows, to the byte."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.context.normalise import GO_ON, NOT_RECORDED, normalise
from sidelight.context.sent import Sent
from sidelight.core.content import (
    AssistantBlock,
    Image,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UserBlock,
)
from sidelight.core.ids import new_id
from sidelight.core.messages import AssistantMessage, Attachment, Message, UserMessage
from sidelight.core.model import ModelRequest, PromptMessage, SystemPrompt, ToolSpec
from sidelight.model.catalog import card
from sidelight.model.encode import MOVING_MARK, Encoder
from tests.fakes.messages_api.binding import Memory
from tests.fakes.messages_api.rules import check_request

SONNET = card("sonnet")
SYSTEM = SystemPrompt(stable="You help.", dynamic="It is a test.")
READ = ToolSpec(name="Read", description="Reads", input_schema={"type": "object"})
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
END = len(b"]}]}")


def request(messages: Sequence[PromptMessage]) -> ModelRequest:
    return ModelRequest(model=SONNET.id, system=SYSTEM, tools=(READ,), messages=tuple(messages))


def typed(*content: UserBlock) -> UserMessage:
    return UserMessage(id=new_id(), content=content)


@dataclass
class Life:
    """A session's history as it grows, and the server that remembers what it answered."""

    history: list[Message] = field(default_factory=list[Message])
    sent: Sent = field(default_factory=Sent)
    encoder: Encoder = field(default_factory=Encoder)
    memory: Memory = field(default_factory=Memory)
    before: bytes = b""
    signed: int = 0

    def ask(self) -> Json:
        """Send what stands here: it must be accepted, and extend what was sent before."""
        fresh = normalise(self.history)
        if not fresh or fresh[-1].content == (GO_ON,) or self._last_is_an_answer:
            self.history.append(typed(Text(text="go")))
        messages = self.sent.messages(self.history)
        raw = self.encoder.body(request(messages), SONNET)
        assert raw == Encoder().body(request(messages), SONNET)
        body = json.loads(raw)
        assert check_request(body, self.memory) == []
        bare = raw.replace(MOVING_MARK, b"")
        assert bare.startswith(self.before)
        self.before = bare[:-END]
        return body

    def answer(self, blocks: Sequence[AssistantBlock], kept: int) -> None:
        """The model answers; of the answer the first blocks stay, fewer after a cancel."""
        body = self.ask()
        whole = tuple(self._made(block) for block in blocks)
        said = json.loads(json.dumps([as_api(block) for block in whole]))  # whole characters
        self.memory.remember(body, said, stop_reason="end_turn")
        self.history.append(AssistantMessage(id=new_id(), content=whole[:kept], model=SONNET.id))

    def answer_as_another(self, blocks: Sequence[AssistantBlock]) -> None:
        """Another server answers, with empty text, and ids that it uses again and again."""
        self.ask()
        self.history.append(AssistantMessage(id=new_id(), content=tuple(blocks), model="other"))

    def return_results(self, drop: int, twice: bool, text: str) -> None:
        """The calls of the last answer get their results, but for some that a crash lost."""
        if not self._last_is_an_answer:
            return
        last = self.history[-1]
        assert isinstance(last, AssistantMessage)
        results: list[UserBlock] = [
            ToolResult(
                tool_use_id=call.id,
                content=(Text(text=text), Image(media_type="image/png", data=PIXEL)),
            )
            for call in last.tool_uses[drop:]
        ]
        stray = ToolResult(tool_use_id="toolu_of_nobody", content=(Text(text="?"),))
        self.history.append(typed(*results, *(results[:1] if twice else ()), stray))

    def store_twice(self) -> None:
        """What a crash between writing and noting it may leave behind."""
        self.history.extend(self.history[-1:])

    def resume(self) -> None:
        """A new process: nothing is left but the history."""
        self.sent, self.encoder = Sent(), Encoder()

    @property
    def _last_is_an_answer(self) -> bool:
        return bool(self.history) and isinstance(self.history[-1], AssistantMessage)

    def _made(self, block: AssistantBlock) -> AssistantBlock:
        """The block with a seal or an id that no other has."""
        self.signed += 1
        match block:
            case Thinking():
                sealed = {**block.raw, "signature": f"c2ln{self.signed:04d}"}
                return block.model_copy(update={"raw": sealed})
            case Opaque():
                return block.model_copy(update={"raw": {**block.raw, "data": f"{self.signed:04d}"}})
            case ToolUse():
                return block.model_copy(update={"id": f"toolu_{self.signed}"})
            case Text():
                return block


def as_api(block: AssistantBlock) -> Json:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case Thinking() | Opaque():
            return block.raw


Deed = Callable[[Life], None]
TEXTS = st.sampled_from(["", " ", "hello", "<system-reminder>x</system-reminder>", "é\n", "\ud83d"])
THOUGHTS: st.SearchStrategy[AssistantBlock] = st.sampled_from(
    [
        Thinking(raw={"type": "thinking", "thinking": "hm\ud83d\ude00"}, model=SONNET.id),
        Opaque(raw={"type": "redacted_thinking"}, model=SONNET.id),
    ]
)
CALLS: st.SearchStrategy[AssistantBlock] = st.sampled_from(["a", "b", "c:1"]).map(
    lambda name: ToolUse(id=name, name="Read", input={"n": 1})
)
SAID: st.SearchStrategy[AssistantBlock] = st.one_of(
    st.sampled_from([Text(text="hello"), Text(text="\u00e9\n")]), CALLS, THOUGHTS
)
FOREIGN: st.SearchStrategy[AssistantBlock] = st.one_of(
    TEXTS.map(lambda text: Text(text=text)),
    CALLS,
    st.just(Thinking(raw={"type": "thinking", "thinking": "x", "signature": "y"}, model="other")),
)
TYPED: st.SearchStrategy[UserBlock] = st.one_of(
    TEXTS.map(lambda text: Text(text=text)),
    st.sampled_from(
        [Image(media_type="image/png", data=PIXEL), Image(media_type="image/bmp", data="Qk0=")]
    ),
)


def deed_of(name: str, *args: object) -> Deed:
    return lambda life: getattr(life, name)(*args)


def adding(message: Callable[[], Message]) -> Deed:
    return lambda life: life.history.append(message())


DEEDS: st.SearchStrategy[Deed] = st.one_of(
    st.builds(deed_of, st.just("answer"), st.lists(SAID, max_size=6), st.integers(0, 6)),
    st.builds(deed_of, st.just("answer_as_another"), st.lists(FOREIGN, max_size=4)),
    st.builds(deed_of, st.just("return_results"), st.sampled_from([0, 0, 1]), st.booleans(), TEXTS),
    st.lists(TYPED, max_size=3).map(lambda blocks: adding(lambda: typed(*blocks))),
    TEXTS.map(lambda text: adding(lambda: Attachment(id=new_id(), kind="x", text=text))),
    st.just(deed_of("ask")),
    st.just(deed_of("store_twice")),
    st.just(deed_of("resume")),
)


@pytest.mark.req("LOOP-11")
@settings(max_examples=300)
@given(st.lists(DEEDS, max_size=25))
def test_every_request_of_any_life_is_accepted_and_extends_the_one_before_to_the_byte(
    deeds: list[Deed],
) -> None:
    life = Life()
    for deed in deeds:
        deed(life)
    life.ask()


USED_IDS = st.sampled_from(["a", "b", "c"])
WILD: st.SearchStrategy[Message] = st.one_of(
    st.lists(
        st.one_of(TYPED, USED_IDS.map(lambda name: ToolResult(tool_use_id=name, content=()))),
        max_size=3,
    ).map(lambda blocks: typed(*blocks)),
    st.lists(st.one_of(SAID, FOREIGN), max_size=3).map(
        lambda blocks: AssistantMessage(id=new_id(), content=tuple(blocks))
    ),
    TEXTS.map(lambda text: Attachment(id=new_id(), kind="x", text=text)),
)


@given(st.lists(WILD, max_size=12), st.sets(st.integers(1, 12)))
def test_a_wild_history_is_accepted_wherever_it_is_sent_and_only_grows(
    history: list[Message], asked_at: set[int]
) -> None:
    sent, before = Sent(), b""
    for end in sorted({*asked_at, len(history)}):
        messages = sent.messages(history[:end])
        if not messages:
            continue
        raw = Encoder().body(request(messages), SONNET)
        assert check_request(json.loads(raw)) == []
        bare = raw.replace(MOVING_MARK, b"")
        assert bare.startswith(before)
        before = bare[:-END]


@given(st.lists(WILD, max_size=8), st.booleans())
def test_taking_it_step_by_step_or_at_once_gives_the_same(
    history: list[Message], without_thinking: bool
) -> None:
    sent = Sent()
    sent.messages(history[:3], without_thinking=not without_thinking)
    whole = sent.messages(history, without_thinking=without_thinking)
    assert whole == normalise(history, without_thinking=without_thinking)


def test_messages_that_are_closed_are_given_out_again_as_the_same_objects() -> None:
    answer = AssistantMessage(id="a", content=(Text(text="yes"),))
    history: list[Message] = [typed(Text(text="go")), answer, typed(Text(text="on"))]
    sent = Sent()
    first = sent.messages(history)
    history += [answer.model_copy(update={"id": "b"}), typed(Text(text="and"))]
    second = sent.messages(history)
    assert [one is two for one, two in zip(first, second, strict=False)] == [True] * 3


def test_a_result_that_comes_after_its_absence_was_sent_is_not_sent_any_more() -> None:
    call = ToolUse(id="a", name="Read", input={})
    history: list[Message] = [typed(Text(text="go")), AssistantMessage(id="a", content=(call,))]
    sent = Sent()
    missing = sent.messages(history)[-1]
    assert missing.content[0] == ToolResult(
        tool_use_id="a", content=(Text(text=NOT_RECORDED),), is_error=True
    )
    history.append(typed(ToolResult(tool_use_id="a", content=(Text(text="late"),))))
    assert sent.messages(history)[-1] == missing


def test_another_history_or_another_way_starts_anew() -> None:
    sent = Sent()
    thought = Thinking(raw={"type": "thinking", "thinking": "", "signature": "eA=="})
    answer = AssistantMessage(id="a", content=(thought, Text(text="yes")))
    history: list[Message] = [typed(Text(text="go")), answer]
    sent.messages(history)
    assert sent.messages(history, without_thinking=True)[1].content == (Text(text="yes"),)
    other: list[Message] = [typed(Text(text="other")), typed(Text(text="one"))]
    assert sent.messages(other) == normalise(other)
