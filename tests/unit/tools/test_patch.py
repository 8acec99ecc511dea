"""What changed between two texts; only the part that differs is split into lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.core.content import Json
from sidelight.tools.text.lines import LINE_END, common_head, common_tail, line_count
from sidelight.tools.text.patch import (
    changed_count,
    changed_lines,
    difference,
    split,
    structured_patch,
)

pieces = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "\r", "x\n", "\u2028"]), max_size=14)
texts = pieces.map("".join)


def applied(before: str, patch: list[Json]) -> list[str]:
    """The lines of the new text without their ends, by the hunks alone."""
    old = [line.rstrip("\r\n") for line in split(before)]
    new: list[str] = []
    done = 0
    for hunk in patch:
        start = hunk["oldStart"] - 1 if hunk["oldLines"] else hunk["oldStart"]
        new += old[done:start]
        assert hunk["newStart"] == (len(new) + 1 if hunk["newLines"] else len(new))
        rows = [row for row in hunk["lines"] if not row.startswith("\\")]
        assert [row[1:] for row in rows if row[0] in " -"] == old[start : start + hunk["oldLines"]]
        new += [row[1:] for row in rows if row[0] in " +"]
        done = start + hunk["oldLines"]
    return new + old[done:]


@given(texts, texts)
def test_the_hunks_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    expected = [line.rstrip("\r\n") for line in split(after)]
    assert applied(before, structured_patch(difference(before, after))) == expected
    assert (changed_count(before, after) == 0) == (before == after)


@given(texts, texts, texts, st.integers(0, 3))
def test_what_stands_around_a_change_only_shifts_its_lines(
    around: str, before: str, after: str, context: int
) -> None:
    """In a long text the same lines are shown as in a short one."""
    far = "1\n2\n3\n4\n5\n6\n7\n8\n"
    near = structured_patch(difference(far + before + far, far + after + far))
    head = around + "\n" + far
    differs = difference(head + before + far, head + after + far)
    shifted = structured_patch(differs)
    by = line_count(around + "\n")
    for hunk in near:
        hunk["oldStart"] += by
        hunk["newStart"] += by
    assert shifted == near
    shown = changed_lines(differs, context, 99)
    assert all(int(row.split("\t")[0]) > by for row in LINE_END.split(shown) if "\t" in row)


@given(texts, texts)
def test_what_is_common_is_common_and_what_follows_differs(one: str, other: str) -> None:
    head = common_head(one, other)
    tail = common_tail(one, other, head)
    assert one[:head] == other[:head]
    assert one[len(one) - tail :] == other[len(other) - tail :]
    assert head + tail <= min(len(one), len(other))
    if head < min(len(one), len(other)):
        assert one[head] != other[head]
    if head + tail < min(len(one), len(other)):
        assert one[len(one) - tail - 1] != other[len(other) - tail - 1]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a\nb\nc\nd\n", "a\nb\nC\nd\n", "     2\tb\n     3\tC\n     4\td"),
        ("a\r\nb\r\n", "a\r\nb\n", "     1\ta\n     2\tb"),
        ("a\rb", "a\r\nb", "     1\ta\n     2\tb"),
        ("a\n", "a\na\n", "     1\ta\n     2\ta"),
    ],
)
def test_changed_lines_are_numbered_as_in_the_file(before: str, after: str, shown: str) -> None:
    assert changed_lines(difference(before, after), 1, 99) == shown
