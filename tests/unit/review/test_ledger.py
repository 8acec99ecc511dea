"""The review ledger: what waits, what was settled, and what the model hears."""

from pathlib import Path

from sidelight.core.host import FileEdit
from sidelight.review.ledger import PendingFile, ReviewLedger
from sidelight.review.store import ReviewStore

BEFORE = "a\nb\nc\nd\ne\n"
AFTER = "A\nb\nc\nd\nE\n"


def applied(text: str, edit: FileEdit) -> str:
    for part in reversed(edit.edits):
        text = text[: part.start] + part.new_text + text[part.end :]
    return text


def pending(ledger: ReviewLedger) -> PendingFile:
    (file,) = ledger.pending()
    return file


def test_undoing_one_of_two_hunks_tells_the_model_once_and_keeps_the_other_waiting() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    first, second = pending(ledger).hunks
    ((edit, count),) = ledger.undo_edits(hunk_id=first.id)
    ledger.note_undone(edit, applied(AFTER, edit))
    assert count == 1
    assert pending(ledger).hunks[0].id == second.id
    assert ledger.take_news() == (
        "The user undid a change of yours in /f at line 1. These lines are gone again; "
        "do not put them back unless asked:\nA",
    )
    assert ledger.take_news() == ()


def test_keeping_the_last_hunk_ends_the_review_of_the_file() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    first, second = pending(ledger).hunks
    assert ledger.keep(hunk_id=first.id) == 1
    assert ledger.original("/f") == "A\nb\nc\nd\ne\n"
    assert ledger.keep(hunk_id=second.id) == 1
    assert ledger.pending() == ()
    assert ledger.original("/f") is None


def test_a_second_edit_joins_the_first_and_what_the_user_typed_between_is_theirs() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    typed = "A\nb\nmine\nc\nd\nE\n"
    ledger.note_edit("/f", typed, typed.replace("d\n", "D\n"))
    assert ledger.original("/f") == "a\nb\nmine\nc\nd\ne\n"
    assert [hunk.new for hunk in pending(ledger).hunks] == [("A\n",), ("D\n", "E\n")]


def test_undoing_a_creation_removes_the_file() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/new", None, "x\n")
    ((edit, _),) = ledger.undo_edits(path="/new")
    assert edit.removes
    ledger.note_undone(edit, None)
    assert ledger.pending() == ()


def test_an_edit_that_is_reverted_by_the_agent_leaves_nothing_to_review() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    ledger.note_edit("/f", AFTER, BEFORE)
    assert ledger.pending() == ()


def test_an_unknown_hunk_changes_nothing() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    assert ledger.keep(hunk_id="gone") == 0
    assert ledger.undo_edits(hunk_id="gone") == ()


def test_what_waits_survives_a_restart_and_what_is_settled_does_not(tmp_path: Path) -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    ledger.note_edit("/g", None, "new\n")
    store = ReviewStore(tmp_path / "review")
    store.save(ledger.files())
    ledger.keep(path="/g")
    store.save(ledger.files())
    again = ReviewLedger.of(ReviewStore(tmp_path / "review").load())
    assert again.files() == ledger.files()
    assert again.pending() == ledger.pending()


def test_a_damaged_store_file_is_said_kept_aside_and_the_others_are_taken_up(
    tmp_path: Path,
) -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    ReviewStore(tmp_path).save(ledger.files())
    for text in ("{", '{"path": "/g"}'):
        (tmp_path / "x.json").write_text(text, encoding="utf-8")
        store = ReviewStore(tmp_path)
        assert store.load() == ledger.files()
        (said,) = store.problems
        assert "It is kept as" in said
        kept = Path(said.partition("kept as ")[2].partition("; ")[0])
        assert kept.read_text(encoding="utf-8") == text
        assert not (tmp_path / "x.json").exists()
    assert sorted(path.name for path in tmp_path.glob("x.*")) == ["x.unread", "x.unread1"]


def test_what_was_undone_can_be_put_back_until_the_text_is_another() -> None:
    ledger = ReviewLedger()
    ledger.note_edit("/f", BEFORE, AFTER)
    ((edit, _),) = ledger.undo_edits()
    ledger.note_undone(edit, applied(AFTER, edit))
    (undone,) = ledger.undone()
    assert applied(BEFORE, undone.edit()) == AFTER
    ledger.note_redone(undone, AFTER)
    assert (ledger.undone(), ledger.take_news()) == ((), ())
    assert ledger.original("/f") == BEFORE
    ((edit, _),) = ledger.undo_edits()
    ledger.note_undone(edit, applied(AFTER, edit))
    ledger.take_news()
    ledger.note_redone(ledger.undone()[0], AFTER)
    assert ledger.take_news() == ("The user put back what was undone in /f.",)
    ((edit, _),) = ledger.undo_edits()
    ledger.note_undone(edit, applied(AFTER, edit))
    ledger.text_changed("/f", "typed\n")
    assert ledger.undone() == ()
