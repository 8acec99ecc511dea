"""The link finds a model when it is first needed, and looks again when the user sets a key."""

from collections.abc import Mapping

import anyio
import pytest

from sidelight.core.content import Text
from sidelight.core.errors import ModelError
from sidelight.core.model import ModelRequest, PromptMessage, ResponseEnded, SystemPrompt
from sidelight.model.demonstration import DemonstrationModel
from sidelight.model.link import Linked, ModelLink, UserSide
from sidelight.model.provider import NoModel
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply, text

pytestmark = pytest.mark.anyio
REQUEST = ModelRequest(
    model="sonnet",
    system=SystemPrompt(stable="s"),
    tools=(),
    messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
)


def link_with(env: Mapping[str, str]) -> ModelLink:
    return ModelLink({}, lambda: UserSide(env=env))


def reaching(double: Double) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": double.base_url}


async def answer_of(link: ModelLink) -> str:
    with anyio.fail_after(20):
        events = [event async for event in link.stream(REQUEST)]
    end = events[-1]
    assert isinstance(end, ResponseEnded)
    return "".join(block.text for block in end.message.content if isinstance(block, Text))


async def test_a_key_that_is_set_later_is_used_from_then_on() -> None:
    with running_double([reply(text("hello"))], allow_refusals=True) as double:
        link = link_with(reaching(double))
        with pytest.raises(ModelError) as caught:
            await answer_of(link)
        assert caught.value.kind == "authentication"
        linked = await link.connect(double.api_key)
        assert isinstance(linked, Linked)
        assert (linked.source.split(",")[0], linked.model("opus")) == ("key", "claude-opus-5-5")
        assert await answer_of(link) == "hello"
        await link.aclose()


async def test_without_a_model_a_request_says_what_to_do_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def nobody(*_: object, **__: object) -> NoModel:
        return NoModel(("everywhere",), "Set a key.")

    monkeypatch.setattr("sidelight.model.link.find", nobody)
    link = link_with({})
    with pytest.raises(ModelError, match="Set a key") as caught:
        await answer_of(link)
    assert caught.value.kind == "no_model"
    await link.warm()


async def test_a_demonstration_plays_until_a_key_is_given() -> None:
    with running_double([reply(text("live"))]) as double:
        link = link_with(reaching(double))
        link.play(DemonstrationModel([[{"text": "written before"}]]))
        state = await link.connect()
        assert isinstance(state, Linked)
        assert (state.demonstration, state.model("opus")) == (True, "demonstration")
        assert await answer_of(link) == "written before"
        await link.connect(double.api_key)
        assert await answer_of(link) == "live"
        await link.aclose()


async def test_warming_up_with_a_broken_profile_leaves_the_error_to_the_first_request() -> None:
    link = ModelLink({"ANTHROPIC_PROFILE": "nowhere"}, UserSide)
    with anyio.fail_after(20):
        await link.warm()
        with pytest.raises(ModelError) as caught:
            await answer_of(link)
    assert caught.value.kind == "authentication"
    await link.aclose()
