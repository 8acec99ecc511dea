"""What the model has seen of a file adds up."""

from sidelight.core.ledger import FileLedger


def test_shown_lines_join_while_the_text_stays() -> None:
    ledger = FileLedger()
    for lines in ((10, 20), (1, 5), (21, 30)):
        ledger.note_read("f", "text", whole=False, lines=lines)
    seen = ledger.seen("f")
    assert seen is not None
    assert seen.lines == ((1, 5), (10, 30))
    assert (seen.covers(12, 28), seen.covers(4, 11), seen.covers(31, 31)) == (True, False, False)


def test_another_text_begins_anew_and_a_whole_view_stays_whole() -> None:
    ledger = FileLedger()
    ledger.note_read("f", "text", whole=True)
    ledger.note_read("f", "text", whole=False, lines=(1, 1))
    seen = ledger.seen("f")
    assert seen is not None
    assert seen.whole
    ledger.note_read("f", "other", whole=False, lines=(3, 4))
    seen = ledger.seen("f")
    assert seen is not None
    assert (seen.whole, seen.lines) == (False, ((3, 4),))
