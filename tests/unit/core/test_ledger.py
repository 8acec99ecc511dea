"""What the model has seen of a file adds up."""

import sys

from sidelight.core.ledger import PLAIN_BYTES, FileLedger


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


def test_many_texts_are_kept_in_little_memory_and_are_all_there() -> None:
    """A thousand files of 40 kB as text would take 40 MB."""
    ledger = FileLedger()
    texts = ["".join(f"{n}: line {k} of it \ud83d\n" for k in range(1600)) for n in range(300)]
    for number, text in enumerate(texts):
        ledger.note_read(f"{number}", text, whole=True)
    kept = [seen for n in range(300) if (seen := ledger.seen(f"{n}"))]
    assert [seen.text for seen in kept] == texts
    plain = [sys.getsizeof(seen.kept) for seen in kept if isinstance(seen.kept, str)]
    assert 0 < sum(plain) <= PLAIN_BYTES
    assert isinstance(kept[-1].kept, str)
    packed = [len(seen.kept) for seen in kept if isinstance(seen.kept, bytes)]
    assert packed
    assert max(packed) * 3 < len(texts[0])


def test_one_text_is_never_packed_however_large() -> None:
    ledger = FileLedger()
    ledger.note_write("f", "x" * (PLAIN_BYTES + 1))
    ledger.note_write("f", "y" * (PLAIN_BYTES + 1))
    seen = ledger.seen("f")
    assert seen is not None
    assert isinstance(seen.kept, str)
