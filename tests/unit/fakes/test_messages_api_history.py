"""The double knows its own thinking again, and tells whether history only ever grew."""

import copy
from typing import Any

import anthropic
import pytest

from tests.fakes.messages_api.client import HELLO, MODEL, ask, blocks, client_of
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.rules import BINDING_BETA, check_request
from tests.fakes.messages_api.script import reply, text, thinking, tool_use, unknown_block

pytestmark = pytest.mark.anyio

SYSTEM: list[Any] = [{"type": "text", "text": "Be careful."}]
TOOLS: list[Any] = [{"name": "Read", "input_schema": {"type": "object"}}]
CHANGED = "is bound to a different conversation"
MODIFIED = "blocks in the latest assistant message cannot be modified"


def step(number: int) -> Any:
    use = tool_use("Read", {"n": number}, id=f"toolu_{number}")
    return reply(thinking(f"Thought {number}."), text(f"Step {number}."), use)


class Talk:
    """A conversation in its third step: two replies with thinking came in and went back."""

    def __init__(self, double: Double) -> None:
        self.double = double
        self.messages: list[Json] = copy.deepcopy(HELLO)
        self.system = copy.deepcopy(SYSTEM)
        self.tools = copy.deepcopy(TOOLS)
        self.model = MODEL
        self.more: dict[str, Any] = {}

    async def ask(self, *, keep: bool = True) -> list[Json]:
        async with client_of(self.double) as client:
            sent = {"system": self.system, "tools": self.tools, "model": self.model, **self.more}
            got = blocks(await ask(client, self.messages, **sent))
        if keep:
            self.messages.append({"role": "assistant", "content": got})
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": "text"}
                for block in got
                if block["type"] == "tool_use"
            ]
            follow = results or [{"type": "text", "text": "Go on."}]
            self.messages.append({"role": "user", "content": follow})
        return got


async def begin(double: Double) -> Talk:
    talk = Talk(double)
    await talk.ask()
    await talk.ask()
    return talk


async def test_thinking_that_comes_back_unchanged_is_accepted() -> None:
    with running_double([step(1), step(2), step(3), reply("Done.")]) as double:
        talk = await begin(double)
        await talk.ask()
        await talk.ask()
        assert double.prefix_problems() == []
        last = {**double.requests[-1].body}
        assert check_request(last, double.memory) == []


async def test_cache_marks_may_move_without_breaking_the_binding() -> None:
    with running_double([step(1), step(2), step(3)]) as double:
        talk = Talk(double)
        for _ in range(3):
            talk.messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
            await talk.ask()
            for message in talk.messages:
                for block in message["content"]:
                    block.pop("cache_control", None)
        assert double.prefix_problems() == []


def _other_system(talk: Talk) -> None:
    talk.system[0]["text"] = "Be careful. Today is Monday."


def _other_tools(talk: Talk) -> None:
    talk.tools.append({"name": "Grep", "input_schema": {"type": "object"}})


def _other_result(talk: Talk) -> None:
    talk.messages[2]["content"][0]["content"] = "[cleared]"


def _other_first_prompt(talk: Talk) -> None:
    talk.messages[0]["content"][0]["text"] = "Hello!"


def _other_reply(talk: Talk) -> None:
    talk.messages[1]["content"][1]["text"] = "Step one."


def _insertion(talk: Talk) -> None:
    talk.messages[0]["content"].append({"type": "text", "text": "By the way"})


def _dropped_prompt(talk: Talk) -> None:
    del talk.messages[0]


def _other_order_of_keys(talk: Talk) -> None:
    block = talk.messages[0]["content"][0]
    block["type"] = block.pop("type")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (_other_system, "messages.1.content.0"),
        (_other_tools, "messages.1.content.0"),
        (_other_first_prompt, "messages.1.content.0"),
        (_insertion, "messages.1.content.0"),
        (_other_result, "messages.3.content.0"),
        (_other_reply, "messages.3.content.0"),
    ],
)
async def test_a_change_before_thinking_is_refused(change: Any, path: str) -> None:
    with running_double([step(1), step(2), step(3)], allow_refusals=True) as double:
        talk = await begin(double)
        change(talk)
        with pytest.raises(anthropic.BadRequestError, match=CHANGED) as caught:
            await talk.ask()
        words = str(caught.value.api_message)
        assert words.startswith(f"{path}: Invalid `signature` in `thinking` block.")
        assert BINDING_BETA in words


async def test_thinking_may_be_left_out_from_the_front_but_not_from_the_middle() -> None:
    script = [step(1), step(2), step(3), reply("Done."), reply("Done.")]
    with running_double(script, allow_refusals=True) as double:
        talk = await begin(double)
        await talk.ask()
        whole = copy.deepcopy(talk.messages)
        del talk.messages[1]["content"][0]
        await talk.ask(keep=False)
        talk.messages = copy.deepcopy(whole)
        del talk.messages[3]["content"][0]
        with pytest.raises(anthropic.BadRequestError, match=CHANGED) as caught:
            await talk.ask(keep=False)
        assert str(caught.value.api_message).startswith("messages.5.content.0:")
        for index in (1, 5):
            del talk.messages[index]["content"][0]
        await talk.ask(keep=False)


async def test_thinking_that_was_altered_or_invented_is_refused() -> None:
    with running_double([step(1), step(2)], allow_refusals=True) as double:
        talk = await begin(double)
        talk.messages[1]["content"][0]["thinking"] = "Thought one."
        with pytest.raises(anthropic.BadRequestError, match=MODIFIED):
            await talk.ask()
        talk.messages[1]["content"][0]["signature"] = "aW52ZW50ZWQ="
        with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
            await talk.ask()


async def test_drop_block_with_its_beta_header_accepts_a_changed_history() -> None:
    with running_double([step(1), step(2), step(3), reply("Done.")]) as double:
        talk = await begin(double)
        _other_system(talk)
        talk.more = {
            "thinking": {
                "type": "adaptive",
                "block_binding": {"prefix_mismatch_behavior": "drop_block"},
            },
            "extra_headers": {"anthropic-beta": BINDING_BETA},
        }
        await talk.ask()
        await talk.ask()


async def test_another_model_drops_thinking_it_cannot_read() -> None:
    with running_double([step(1), step(2), step(3), reply("Back.")]) as double:
        talk = await begin(double)
        talk.model = "claude-opus-5-5"
        await talk.ask()
        talk.model = MODEL
        await talk.ask()


async def test_an_old_model_does_not_bind_its_thinking() -> None:
    with running_double([step(1), step(2), step(3)]) as double:
        talk = Talk(double)
        talk.model = "claude-opus-5"
        await talk.ask()
        await talk.ask()
        _other_system(talk)
        await talk.ask()


async def test_a_paused_turn_may_be_sent_back_as_it_is() -> None:
    script = [reply("Searching", stop_reason="pause_turn"), reply("Found.")]
    with running_double(script, allow_refusals=True) as double:
        talk = Talk(double)
        await talk.ask()
        del talk.messages[-1]
        await talk.ask(keep=False)
        talk.messages[-1]["content"][0]["text"] = "Something else"
        with pytest.raises(anthropic.BadRequestError, match="does not support assistant message"):
            await talk.ask()


async def test_a_block_the_double_sent_itself_may_come_back() -> None:
    with running_double([reply(unknown_block("holograph", depth=3)), reply("Done.")]) as double:
        talk = Talk(double)
        await talk.ask()
        await talk.ask()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_other_system, "request 1 after 0: system changed"),
        (_other_tools, "request 1 after 0: tools changed"),
        (_other_first_prompt, "request 1 after 0: messages.0 changed"),
        (_dropped_prompt, "request 1 after 0: messages.0 changed"),
        (_other_order_of_keys, "request 1 after 0: messages.0 changed"),
    ],
    ids=["system", "tools", "prompt", "dropped", "order of keys"],
)
async def test_a_request_that_does_not_extend_the_one_before_is_told(
    change: Any, words: str
) -> None:
    with running_double([reply("One."), reply("Two.")], strict=False) as double:
        talk = Talk(double)
        await talk.ask()
        change(talk)
        await talk.ask()
        (problem,) = double.prefix_problems()
        assert problem.startswith(words)
        assert double.prefix_problems(lambda request: request.number == 1) == []


async def test_a_shorter_history_is_told() -> None:
    with running_double([reply("One."), reply("Two.")], strict=False) as double:
        talk = await begin(double)
        talk.messages = talk.messages[:1]
        double.add(reply("Three."))
        await talk.ask()
        assert double.prefix_problems() == ["request 2 after 1: 3 messages became 1"]
