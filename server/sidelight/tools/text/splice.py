"""From a place and a new text to the smallest edit, in the file's own line ends."""

from collections.abc import Sequence

from sidelight.core.host import TextEdit
from sidelight.tools.text.lines import LINE_END, View, common_head, common_tail
from sidelight.tools.text.match import Span


def splice(view: View, places: Sequence[Span], new: str, *, literal: bool) -> tuple[TextEdit, ...]:
    """Edits of the exact text that put `new` at the places (sorted, apart).

    What old and new have in common at both ends is not touched, so its line ends stay as they
    are; line ends in between follow the ones they replace, or those nearby. A `literal` text is
    put in as it is.
    """
    if literal:
        return tuple(
            TextEdit(start=view.back(place.start), end=view.back(place.end), new_text=new)
            for place in places
        )
    edits = (_edit(view, place, new) for place in places)
    return tuple(edit for edit in edits if edit.start < edit.end or edit.new_text)


def whole_text(exact: str, new: str) -> tuple[TextEdit, ...]:
    """The one edit that turns a text into another; () if they are equal. Line ends are exact."""
    head = common_head(exact, new)
    if head and exact[head - 1 : head] == "\r":
        head -= 1
    tail = common_tail(exact, new, head)
    if tail and exact[len(exact) - tail] == "\n":
        tail -= 1
    if exact == new:
        return ()
    middle = new[head : len(new) - tail]
    return (TextEdit(start=head, end=len(exact) - tail, new_text=middle),)


def main_line_end(exact: str) -> str | None:
    """The line end of a text that has only one kind, else None."""
    kinds = set(LINE_END.findall(exact))
    return kinds.pop() if len(kinds) == 1 else None


def _edit(view: View, place: Span, new: str) -> TextEdit:
    old = view.text[place.start : place.end]
    head = common_head(old, new)
    tail = common_tail(old, new, head)
    start, end = view.back(place.start + head), view.back(place.end - tail)
    middle = new[head : len(new) - tail]
    return TextEdit(start=start, end=end, new_text=_in_style(view.exact, start, end, middle))


def _in_style(exact: str, start: int, end: int, new: str) -> str:
    if "\n" not in new:
        return new
    ends: list[str] = LINE_END.findall(exact[start:end]) or [_nearby(exact, start, end)]
    pieces = new.split("\n")
    joints = (ends[min(index, len(ends) - 1)] for index in range(len(pieces) - 1))
    return pieces[0] + "".join(
        joint + piece for joint, piece in zip(joints, pieces[1:], strict=True)
    )


def _nearby(exact: str, start: int, end: int) -> str:
    last = max(exact.rfind("\n", 0, start), exact.rfind("\r", 0, start))
    if last >= 0:
        return "\r\n" if exact[max(last - 1, 0) : last + 1] == "\r\n" else exact[last]
    after = LINE_END.search(exact, end)
    return after[0] if after else "\n"
