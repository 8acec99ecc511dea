"""What waits for review, in the wire's words."""

from collections.abc import Callable

from sidelight.review.hunks import Hunk
from sidelight.review.ledger import PendingFile, ReviewLedger
from sidelight.wire.reviewing import Changes, FileInfo, HunkInfo


def changes_of(session_id: str, review: ReviewLedger, uri_of: Callable[[str], str]) -> Changes:
    """All files with hunks that wait; `uri_of` gives the address of a path."""
    return Changes(
        session_id=session_id,
        files=tuple(_file(file, uri_of) for file in review.pending()),
        redo=sum(undone.hunks for undone in review.undone()),
    )


def _file(file: PendingFile, uri_of: Callable[[str], str]) -> FileInfo:
    hunks = tuple(_hunk(hunk) for hunk in file.hunks)
    return FileInfo(
        uri=uri_of(file.path),
        path=file.path,
        added=sum(hunk.added for hunk in hunks),
        removed=sum(hunk.removed for hunk in hunks),
        creates=file.creates,
        hunks=hunks,
    )


def _hunk(hunk: Hunk) -> HunkInfo:
    telling = next((line.strip() for line in (*hunk.new, *hunk.old) if line.strip()), "")
    return HunkInfo(
        id=hunk.id,
        line=hunk.start + 1,
        lines=len(hunk.new),
        added=len(hunk.new),
        removed=len(hunk.old),
        text=telling,
    )
