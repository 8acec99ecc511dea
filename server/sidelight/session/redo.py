"""Takes pending hunks back through the editor, and puts them back again."""

from sidelight.core.host import EditOutcome, FileEdit, Host
from sidelight.core.ledger import FileLedger
from sidelight.review.ledger import ReviewLedger


async def undo(
    review: ReviewLedger, host: Host, seen: FileLedger, path: str | None, hunk_id: str | None
) -> tuple[int, str | None]:
    """Undo one hunk, a file's, or all; how many, and why some could not be.

    `host` notes nothing for review. What was undone can be redone until the next undo.
    """
    review.begin_undo()
    done, problem = 0, None
    for edit, count in review.undo_edits(path, hunk_id):
        outcome = await host.apply_edit((edit,), "Undo")
        if not outcome.applied:
            problem = _why(edit, outcome)
            continue
        after = outcome.after[0].text if outcome.after else None
        review.note_undone(edit, after)
        _note(seen, edit.path, after)
        done += count
    return done, problem


async def redo(review: ReviewLedger, host: Host, seen: FileLedger) -> tuple[int, str | None]:
    """Put back what the last undo took; how many hunks, and why some could not be."""
    done, problem = 0, None
    for undone in review.undone():
        edit = undone.edit()
        outcome = await host.apply_edit((edit,), "Redo")
        if not outcome.applied:
            problem = _why(edit, outcome)
            continue
        text = outcome.after[0].text if outcome.after else undone.before
        review.note_redone(undone, text)
        _note(seen, edit.path, text)
        done += undone.hunks
    return done, problem


def _why(edit: FileEdit, outcome: EditOutcome) -> str:
    return outcome.detail or f"{edit.path} changed meanwhile; look at it again."


def _note(seen: FileLedger, path: str, text: str | None) -> None:
    if text is not None and seen.seen(path) is not None:
        seen.note_write(path, text)
