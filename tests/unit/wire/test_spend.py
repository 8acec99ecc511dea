"""What a conversation costs, and the question at its ceiling, as the wire tells them."""

import pytest

from sidelight.core.content import Json
from sidelight.core.events import QuestionAnswered, QuestionAsked, SpendChanged, TurnStarted
from sidelight.core.host import UserOption, UserQuestion
from sidelight.core.messages import Usage
from sidelight.core.spend import Spent
from sidelight.session.spend import LABELS, TITLES, Ledger
from sidelight.wire.permission import request_to_choose
from tests.unit.wire.test_updates import Line, assert_valid

pytestmark = pytest.mark.anyio

WRITES = Usage(
    input_tokens=10,
    output_tokens=5,
    cache_read_input_tokens=100,
    cache_write_5m_tokens=20,
    cache_write_1h_tokens=40,
)


def one(request: str, cost_usd: float | None, source: str = "main", model: str = "m") -> Spent:
    return Spent(request_id=request, source=source, model=model, usage=WRITES, cost_usd=cost_usd)


def told(*requests: Spent) -> list[SpendChanged]:
    ledger = Ledger()
    events: list[SpendChanged] = []
    for spent in requests:
        ledger.add(spent)
        events.append(ledger.told(spent))
    return events


async def updates(*requests: Spent) -> list[Json]:
    line = Line()
    feed = line.feed()
    for event in told(*requests):
        await feed(event)
    return line.updates()


@pytest.mark.req("MODEL-05")
async def test_a_request_is_told_with_its_cost_and_the_sums_it_is_part_of() -> None:
    _, update = await updates(one("a", 0.5), one("b", 0.25))
    usage = {
        "inputTokens": 10,
        "outputTokens": 5,
        "cacheReadInputTokens": 100,
        "cacheWrite5MTokens": 20,
        "cacheWrite1HTokens": 40,
        "fast": False,
    }
    request = {"requests": 1, "unpriced": 0, "knownUsd": 0.25, "usage": usage}
    both = {
        "requests": 2,
        "unpriced": 0,
        "knownUsd": 0.75,
        "usage": {name: 2 * count for name, count in usage.items()},
    }
    none = {"requests": 0, "unpriced": 0, "knownUsd": 0.0, "usage": dict.fromkeys(usage, 0)}
    assert update == {
        "sessionUpdate": "usage_update",
        "used": 175,
        "size": 200_000,
        "cost": {"amount": 0.75, "currency": "USD"},
        "_meta": {
            "sidelight": {
                "model": "m",
                "source": "main",
                "usage": usage,
                "spend": {
                    "request": request,
                    "turn": none,
                    "session": both,
                    "models": {"m": both},
                    "sources": {"main": both},
                },
            }
        },
    }
    assert_valid(update)


async def test_an_unknown_price_is_said_and_no_number_stands_for_it() -> None:
    first, second = await updates(one("a", 0.5), one("b", None, model="n"))
    assert first["cost"] == {"amount": 0.5, "currency": "USD"}
    assert "priceUnknown" not in first["_meta"]["sidelight"]
    assert "cost" not in second
    assert second["_meta"]["sidelight"]["priceUnknown"] is True
    assert second["_meta"]["sidelight"]["spend"]["models"]["m"]["knownUsd"] == 0.5
    assert_valid(second)


async def test_a_helper_adds_to_the_cost_and_not_to_the_context() -> None:
    line = Line()
    feed = line.feed()
    main, helper = told(
        one("a", 0.5), Spent(request_id="b", source="explore", model="n", usage=Usage(), cost_usd=1)
    )
    await feed(main)
    await feed(helper)
    first, second = line.updates()
    assert (second["used"], second["size"]) == (first["used"], first["size"])
    assert second["cost"] == {"amount": 1.5, "currency": "USD"}
    assert sorted(second["_meta"]["sidelight"]["spend"]["sources"]) == ["explore", "main"]


async def test_while_a_question_is_open_the_session_waits_for_the_person() -> None:
    line = Line()
    feed = line.feed()
    question = UserQuestion(id="q", title="Go on?", options=(UserOption(id="stop", label="No"),))
    await feed(TurnStarted(turn_id="t", prompt_id="p"))
    await feed(QuestionAsked(question=question))
    await feed(QuestionAnswered(question_id="q", option="stop"))
    states = [params["state"] for method, params in line.sent if method == "_sidelight/state"]
    assert states == ["running", "requires_action", "running"]


def test_the_question_at_the_ceiling_is_asked_in_the_clients_language() -> None:
    question = UserQuestion(
        id="q",
        title=TITLES["conversation"],
        options=(UserOption(id="more", label=LABELS[0]), UserOption(id="stop", label=LABELS[1])),
        fields={"spent": "$1.02", "ceiling": "$1.00", "higher": "$2.00"},
    )
    asked = request_to_choose("s", question, "zh-CN")
    assert asked.tool_call["title"] == "本次对话已花费 $1.02，上限为 $1.00。继续吗？"
    assert [option.name for option in asked.options] == ["继续，上限提高到 $2.00", "停止"]
