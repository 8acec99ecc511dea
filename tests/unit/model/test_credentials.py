"""Credentials are looked for anew when they are refused, once; settings reach each request."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import anyio
import pytest

from sidelight.core.content import Text
from sidelight.core.errors import ModelError
from sidelight.core.model import ModelRequest, PromptMessage, ResponseEnded, SystemPrompt
from sidelight.model.helper import TTL_VARIABLE
from sidelight.model.learned import keep, stored
from sidelight.model.link import Linked, ModelLink, UserSide
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import gate, http_error, reply, text

pytestmark = [pytest.mark.anyio, pytest.mark.req("MODEL-04")]
TODAY = date(2026, 11, 30)


def request(model: str = "sonnet") -> ModelRequest:
    return ModelRequest(
        model=model,
        system=SystemPrompt(stable="s"),
        tools=(),
        messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
    )


@dataclass
class User:
    """The user's own settings, which a test changes as the user would."""

    env: dict[str, str] = field(default_factory=dict[str, str])
    side: UserSide = UserSide()

    def link(self, double: Double, folder: Path | None = None, **env: str) -> ModelLink:
        environ = {"PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": double.base_url, **env}
        return ModelLink(environ, self.now, folder=folder, cwd="/", today=lambda: TODAY)

    def now(self) -> UserSide:
        return UserSide(
            env=dict(self.env),
            key_helper=self.side.key_helper,
            key_header=self.side.key_header,
            first_byte_ms=self.side.first_byte_ms,
            silence_ms=self.side.silence_ms,
        )


async def answer_of(link: ModelLink, asked: ModelRequest | None = None) -> str:
    with anyio.fail_after(20):
        events = [event async for event in link.stream(asked or request())]
    end = events[-1]
    assert isinstance(end, ResponseEnded)
    return "".join(block.text for block in end.message.content if isinstance(block, Text))


async def refusal_of(link: ModelLink) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await answer_of(link)
    return caught.value


async def test_a_key_that_was_corrected_in_the_settings_is_taken_up_when_the_old_is_refused() -> (
    None
):
    user = User({"ANTHROPIC_API_KEY": "sk-old"})
    with running_double([reply(text("hello"))], allow_refusals=True) as double:
        link = user.link(double)
        assert isinstance(await link.connect(), Linked)
        user.env["ANTHROPIC_API_KEY"] = double.api_key
        error = await refusal_of(link)
        assert (error.kind, error.reloaded) == ("authentication", True)
        assert await answer_of(link) == "hello"
        await link.aclose()


async def test_a_refused_key_that_is_still_the_same_says_what_to_do() -> None:
    user = User({"ANTHROPIC_API_KEY": "sk-wrong-key"})
    with running_double([], allow_refusals=True) as double:
        link = user.link(double)
        error = await refusal_of(link)
        await link.aclose()
    assert error.reloaded is False
    assert "refused the key from ANTHROPIC_API_KEY (user settings)" in error.message
    assert "Set another key, or correct it, and try again." in error.message
    assert "sk-wrong-key" not in error.message


async def test_the_helper_is_run_again_when_its_key_is_refused_but_never_twice_in_a_row(
    tmp_path: Path,
) -> None:
    helper = f"echo x >> {tmp_path}/runs; echo sk-number-$(wc -l < {tmp_path}/runs)"
    user = User(side=UserSide(key_helper=helper))
    with running_double([reply(text("hello"))], allow_refusals=True) as double:
        double.api_key = "sk-number-9"
        link = user.link(double)
        seen = [(await refusal_of(link)).reloaded for _ in range(3)]
        assert seen == [True, False, True], "new nonsense each time must end"
        assert (tmp_path / "runs").read_text().count("x") == 3
        found = await link.connect()
        assert isinstance(found, Linked)
        assert found.source.startswith("apiKeyHelper (user settings)")
        await link.aclose()


async def test_a_key_of_the_helper_whose_time_is_over_is_made_anew_before_the_request(
    tmp_path: Path,
) -> None:
    helper = f"cat {tmp_path}/key"
    user = User({TTL_VARIABLE: "0"}, UserSide(key_helper=helper))
    (tmp_path / "key").write_text("sk-first")
    with running_double([reply(text("one")), reply(text("two"))]) as double:
        double.api_key = "sk-first"
        link = user.link(double)
        assert await answer_of(link) == "one"
        double.api_key = "sk-second"
        (tmp_path / "key").write_text("sk-second")
        assert await answer_of(link) == "two"
        await link.aclose()


async def test_a_plain_key_goes_before_the_helper_which_is_then_not_run(tmp_path: Path) -> None:
    user = User(side=UserSide(key_helper=f"touch {tmp_path}/ran"))
    with running_double([reply(text("hello"))]) as double:
        link = user.link(double, ANTHROPIC_API_KEY=double.api_key)
        assert await answer_of(link) == "hello"
        await link.aclose()
    assert not (tmp_path / "ran").exists()


async def test_a_helper_that_fails_is_said_and_asked_again_next_time(tmp_path: Path) -> None:
    user = User(side=UserSide(key_helper=f"cat {tmp_path}/key"))
    with running_double([reply(text("hello"))]) as double:
        link = user.link(double)
        error = await refusal_of(link)
        assert error.kind == "no_model"
        assert "apiKeyHelper failed with exit code 1" in error.message
        (tmp_path / "key").write_text(double.api_key)
        assert await answer_of(link) == "hello"
        await link.aclose()


async def test_a_change_of_the_key_leaves_answers_under_way_alone() -> None:
    user = User({"ANTHROPIC_API_KEY": "sk-ant-test-key"})
    with running_double([reply(text("one", gate("go"), "!")), reply(text("two"))]) as double:
        link = user.link(double)
        answers: list[str] = []

        async def ask() -> None:
            answers.append(await answer_of(link))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await double.until_gate("go")
                first = link.state
                user.env["ANTHROPIC_CUSTOM_HEADERS"] = "X-New: 1"
                assert await link.connect() is not first
                assert await answer_of(link) == "two"
                double.open("go")
        await link.aclose()
    assert sorted(answers) == ["one!"]


async def test_a_gateway_that_looks_at_x_api_key_finds_the_key_there() -> None:
    user = User(
        {"ANTHROPIC_API_KEY": "sk-ant-test-key", "ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\n\nX-B:c"},
        UserSide(key_header="x-api-key"),
    )
    with running_double([reply(text("hello"))]) as double:
        link = user.link(double)
        await answer_of(link)
        await link.aclose()
        headers: Mapping[str, str] = double.requests[0].headers
    assert {"x-api-key", "authorization"} <= headers.keys()
    assert (headers["x-team"], headers["x-b"]) == ("a", "c")


async def test_headers_that_are_none_are_named_by_their_line_only() -> None:
    user = User({"ANTHROPIC_CUSTOM_HEADERS": "X-Good: 1\nsecret words"})
    with running_double([]) as double:
        error = await refusal_of(user.link(double))
    assert "ANTHROPIC_CUSTOM_HEADERS: line 2 is not `Name: value`." in error.message
    assert "secret words" not in error.message


@pytest.mark.req("MODEL-03")
@pytest.mark.parametrize("by", ["setting", "variable"])
async def test_the_deadlines_are_those_of_the_user(by: str) -> None:
    variables = {"API_TIMEOUT_MS": "300", "CLAUDE_STREAM_IDLE_TIMEOUT_MS": "200"}
    user = User(variables if by == "variable" else {}, UserSide(first_byte_ms=300, silence_ms=200))
    script = [reply(text("a"), hold="never"), reply(text("half", gate("never")))]
    with running_double(script) as double:
        link = user.link(double, ANTHROPIC_API_KEY=double.api_key)
        errors = [await refusal_of(link) for _ in script]
        await link.aclose()
    assert [error.kind for error in errors] == ["timeout", "stalled"]
    assert errors[0].message.endswith("did not begin to answer within 0.3 s.")


@pytest.mark.req("MODEL-03")
@pytest.mark.parametrize("value", ["soon", "0", "-5", "99999999999"])
async def test_a_deadline_that_is_none_is_named(value: str) -> None:
    with running_double([]) as double:
        error = await refusal_of(User().link(double, API_TIMEOUT_MS=value))
    assert f"API_TIMEOUT_MS is '{value}'; it must be a number of milliseconds." in error.message


async def test_another_way_to_be_forbidden_reloads_too() -> None:
    user = User({"ANTHROPIC_API_KEY": "sk-ant-test-key"})
    with running_double([http_error(403), reply(text("hello"))]) as double:
        link = user.link(double)
        await link.connect()
        user.env["ANTHROPIC_CUSTOM_HEADERS"] = "X-Workspace: mine"
        error = await refusal_of(link)
        assert (error.kind, error.reloaded) == ("permission", True)
        assert await answer_of(link) == "hello"
        await link.aclose()


@pytest.mark.req("MODEL-07")
async def test_what_the_provider_tells_of_its_models_counts_from_the_next_connection(
    tmp_path: Path,
) -> None:
    with running_double([reply(text("hello"))]) as double:
        user = User({"ANTHROPIC_API_KEY": double.api_key})
        link = user.link(double, tmp_path)
        await link.connect()
        with anyio.fail_after(20):
            await link.prepare()
            await link.prepare()
        lists = [each for each in double.all_requests if each.path == "/v1/models"]
        assert len(lists) == 1, "once a day is enough"
        cards, as_of = await link.known()
        assert (len(cards) > 5, as_of) == (True, "2026-11-30")
        host = double.base_url.removeprefix("http://")
        told = {
            "data": [{"id": "claude-haiku-4-5", "max_input_tokens": 9_000, "max_tokens": 5_000}]
        }
        keep(tmp_path, host, told, TODAY)
        assert link.card("claude-haiku-4-5").window == 200_000
        await link.aclose()
        again = user.link(double, tmp_path)
        await again.connect()
        small = again.card("claude-haiku-4-5")
        assert (small.window, small.output_cap) == (9_000, 5_000)
        await answer_of(again, request("claude-haiku-4-5"))
        assert double.requests[-1].body["max_tokens"] == 5_000
        await again.aclose()


@pytest.mark.req("MODEL-07")
async def test_a_list_that_does_not_come_is_said_and_nothing_else_happens(tmp_path: Path) -> None:
    with running_double([], allow_refusals=True) as double:
        link = User({"ANTHROPIC_API_KEY": "sk-wrong-key"}).link(double, tmp_path)
        await link.connect()
        with anyio.fail_after(20):
            problem = await link.learn()
        await link.aclose()
    assert problem is not None
    assert problem.startswith("The list of models was not refreshed: ")
    assert stored(tmp_path, double.base_url.removeprefix("http://")) == ({}, "")
