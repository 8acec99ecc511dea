"""Prompts wait in order, are taken up once, and end with the turn that took them up."""

from sidelight.core.content import Text
from sidelight.core.events import TurnEnded
from sidelight.core.messages import UserMessage
from sidelight.session.inbox import Inbox

ENDED = TurnEnded(turn_id="t", reason="completed")


def test_prompts_are_taken_up_in_their_order_and_once() -> None:
    inbox = Inbox()
    first, second = inbox.add("1", (Text(text="a"),)), inbox.add("2", (Text(text="b"),))
    assert [one.id for one in inbox.queued()] == ["1", "2"]
    assert inbox.take_all() == (first, second)
    assert inbox.queued() == ()
    assert inbox.take_all() == ()


def test_a_turns_end_answers_what_it_took_up_and_leaves_the_rest_waiting() -> None:
    inbox = Inbox()
    taken = inbox.add("1", (Text(text="a"),))
    inbox.take_all()
    late = inbox.add("2", (Text(text="b"),))
    inbox.end(ENDED)
    assert (taken.ended, late.ended) == (ENDED, None)
    assert inbox.take_all() == (late,)


def test_one_prompt_can_be_taken_up_alone_and_only_while_it_waits() -> None:
    inbox = Inbox()
    first, second = inbox.add("1", (Text(text="a"),)), inbox.add("2", (Text(text="b"),))
    assert inbox.take(first)
    assert not inbox.take(first)
    assert inbox.take_all() == (second,)


def test_a_prompt_joins_the_history_under_its_own_name() -> None:
    waiting = Inbox().add("1", (Text(text="a"), Text(text="b")))
    assert waiting.message("steering") == UserMessage(
        id="1", content=(Text(text="a"), Text(text="b")), origin="steering"
    )


def test_a_prompt_that_was_taken_back_is_answered_and_never_taken_up() -> None:
    inbox = Inbox()
    first, second = inbox.add("1", (Text(text="a"),)), inbox.add("2", (Text(text="b"),))
    assert inbox.find("1") is first
    inbox.drop(first, ENDED)
    assert (first.ended, inbox.find("1")) == (ENDED, None)
    assert inbox.take_all() == (second,)
    assert inbox.find("2") is None
