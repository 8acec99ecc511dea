"""What the sides tell each other at the start."""

import pytest

from sidelight.wire.capabilities import (
    NOTIFICATIONS,
    PROTOCOL,
    REQUESTS,
    Client,
    offered,
    understand,
)
from sidelight.wire.catalogue import CHINESE, say
from sidelight.wire.methods import NOTIFICATIONS as NOTIFICATION_RECORDS
from sidelight.wire.methods import REQUESTS as REQUEST_RECORDS


def test_the_names_known_before_loading_are_those_of_the_records() -> None:
    assert tuple(REQUEST_RECORDS) == REQUESTS
    assert tuple(NOTIFICATION_RECORDS) == NOTIFICATIONS


@pytest.mark.parametrize("experimental", [None, [], "x", {}, {"acp": 1}])
def test_a_client_that_declares_nothing_of_ours_is_a_plain_one(experimental: object) -> None:
    assert understand(experimental) == Client()


def test_our_own_extension_is_known_by_its_protocol() -> None:
    assert understand({"sidelight": {"protocol": PROTOCOL}}) == Client(ours=True)
    answer = offered("1.2", Client(ours=True))
    assert answer == {"sidelight": {"protocol": PROTOCOL, "version": "1.2"}}


@pytest.mark.parametrize(
    ("declared", "advice"),
    [
        ({"protocol": PROTOCOL + 1}, "update the sidelight Python package"),
        ({"protocol": PROTOCOL - 1}, "update the Sidelight extension"),
        ({"protocol": "1"}, "update the Sidelight extension"),
        ({}, "update the Sidelight extension"),
        (7, "update the Sidelight extension"),
    ],
)
def test_another_version_is_a_plain_client_that_is_told_what_to_update(
    declared: object, advice: str
) -> None:
    client = understand({"sidelight": declared})
    assert not client.ours
    assert client.problem is not None
    assert advice in client.problem
    assert offered("1", client)["sidelight"]["problem"] == client.problem


def test_each_chinese_sentence_has_the_fields_of_the_english_one() -> None:
    names = ("message", "n", "total", "why", "error", "path", "count", "names", "problem")
    names += ("window", "input", "output")
    fields = dict.fromkeys(names, "@")
    for english, chinese in CHINESE.items():
        assert say("en", english, **fields).count("@") == chinese.format(**fields).count("@")
    assert say("zh-CN", "Deny") == "拒绝"
    assert say("de", "Deny") == "Deny"
