"""Hunks: keep and undo arithmetic, and what the user types meanwhile."""

from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.host import TextEdit
from sidelight.review.hunks import hunks_of, keep, rebase, undo
from sidelight.review.lines import split_lines

ENDS = ["a\n", "b\n", "c\r\n", "\n", "d", "é\n", "x\r", "\f\n"]
LINES = st.lists(st.sampled_from(ENDS), max_size=9)
TEXTS = LINES.map("".join)


def applied(text: str, edit: TextEdit) -> str:
    return text[: edit.start] + edit.new_text + text[edit.end :]


def test_two_separate_changes_are_two_hunks_with_exact_lines() -> None:
    before = "one\r\ntwo\r\nthree\r\nfour\r\n"
    now = "ONE\r\ntwo\r\nthree\r\nfour\r\nfive\r\n"
    first, second = hunks_of("/f", before, now)
    assert (first.start, first.old, first.new) == (0, ("one\r\n",), ("ONE\r\n",))
    assert (second.start, second.old, second.new) == (4, (), ("five\r\n",))


def test_form_feed_and_line_separator_do_not_end_a_line() -> None:
    assert split_lines("a\fb\u2028c\nd\r\ne\rf") == ["a\fb\u2028c\n", "d\r\n", "e\r", "f"]


def test_undoing_the_first_of_two_hunks_leaves_the_second_in_place() -> None:
    before, now = "a\nb\nc\nd\n", "A\nA2\nb\nc\nD\n"
    first, second = hunks_of("/f", before, now)
    after = applied(now, undo(now, first))
    assert after == "a\nb\nc\nD\n"
    (left,) = hunks_of("/f", before, after)
    assert (left.id, left.start) == (second.id, 3)


def test_equal_hunks_have_different_names() -> None:
    now = "x\na\nx\n"
    names = [hunk.id for hunk in hunks_of("/f", "a\n", now)]
    assert len(names) == len(set(names)) == 2


def test_what_the_user_types_outside_a_hunk_is_theirs() -> None:
    baseline, current = "a\nb\nc\n", "a\nB\nc\n"
    typed = "top\na\nB\nc\nend\n"
    moved = rebase(baseline, current, typed)
    assert moved == "top\na\nb\nc\nend\n"
    (hunk,) = hunks_of("/f", moved, typed)
    assert (hunk.old, hunk.new, hunk.start) == (("b\n",), ("B\n",), 2)


def test_what_the_user_types_inside_a_hunk_stays_part_of_it() -> None:
    baseline, current, typed = "a\nb\nc\n", "a\nB\nc\n", "a\nB!\nc\n"
    assert rebase(baseline, current, typed) == baseline
    (hunk,) = hunks_of("/f", baseline, typed)
    assert hunk.new == ("B!\n",)


def test_a_created_file_is_one_hunk_even_when_it_is_empty() -> None:
    assert len(hunks_of("/f", None, "")) == 1
    assert len(hunks_of("/f", None, "a\nb\n")) == 1


@given(TEXTS, TEXTS)
def test_undoing_every_hunk_gives_the_baseline(before: str, now: str) -> None:
    text = now
    for hunk in reversed(hunks_of("/f", before, now)):
        text = applied(text, undo(text, hunk))
    assert text == before


@given(TEXTS, TEXTS)
def test_keeping_every_hunk_gives_the_present_text(before: str, now: str) -> None:
    baseline = before
    for hunk in reversed(hunks_of("/f", before, now)):
        baseline = keep(baseline, hunk)
    assert baseline == now


@given(TEXTS, TEXTS, st.data())
def test_keeping_one_hunk_leaves_the_others_as_they_were(
    before: str, now: str, data: st.DataObject
) -> None:
    hunks = hunks_of("/f", before, now)
    if not hunks:
        return
    chosen = data.draw(st.sampled_from(hunks))
    left = hunks_of("/f", keep(before, chosen), now)
    kept_and_left = sum(len(hunk.new) + len(hunk.old) for hunk in left)
    assert kept_and_left <= sum(len(hunk.new) + len(hunk.old) for hunk in hunks if hunk != chosen)


@given(TEXTS, TEXTS, TEXTS)
def test_undoing_after_a_foreign_change_never_loses_lines_outside_hunks(
    before: str, now: str, typed: str
) -> None:
    """With everything undone, exactly the rebased baseline is left."""
    baseline = rebase(before, now, typed)
    assert baseline is not None
    text = typed
    for hunk in reversed(hunks_of("/f", baseline, typed)):
        text = applied(text, undo(text, hunk))
    assert text == baseline
