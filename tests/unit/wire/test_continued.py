"""An answer that was cut and continued is one answer to whoever reads it."""

from sidelight.core.content import Text
from sidelight.core.events import MessageAdded
from sidelight.core.messages import AssistantMessage
from sidelight.headless.output import Tally
from sidelight.wire.shapes import replay

FIRST = AssistantMessage(id="a", content=(Text(text="one "),), stop_reason="max_tokens")
SECOND = AssistantMessage(id="b", content=(Text(text="two"),), continues="a")
OTHER = AssistantMessage(id="c", content=(Text(text="three"),))


def test_its_parts_are_shown_again_under_one_name() -> None:
    names = [update["messageId"] for update in replay([FIRST, SECOND, OTHER], {})]
    assert names == ["a", "a", "c"]


def test_a_run_prints_all_of_its_parts() -> None:
    tally = Tally("s", lambda model: 200_000)
    for message in (FIRST, SECOND):
        tally.take(MessageAdded(message=message))
    assert tally.text == "one two"
    tally.take(MessageAdded(message=OTHER))
    assert tally.text == "three"
