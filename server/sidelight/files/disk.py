"""Text files on the bare disk: snapshots, and edits of several files, all or none."""

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sidelight.core.errors import BinaryFileError, FileTooLargeError, HostError
from sidelight.core.host import EditOutcome, FileEdit, FileSnapshot, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.files.atomic import NotWritable, Removal, Staged, stage
from sidelight.files.encoding import Decoded, decode, encode

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Larger files are not held in memory as one text."""
KEPT_BYTES = 8 * 1024 * 1024
NOT_WAITING = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)


def read_snapshot(path: str) -> FileSnapshot:
    """The text of a file on disk; blocking.

    Raises FileNotFoundError, IsADirectoryError, PermissionError, BinaryFileError (which names
    what was found), FileTooLargeError, or HostError for what is no file (pipe, device).
    """
    return _snapshot(path, _read_bytes(Path(path)))


def read_up_to(path: Path, count: int) -> bytes:
    """The first bytes of a file; never waits for a writer. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | NOT_WAITING | BINARY)
    size = os.fstat(descriptor).st_size
    with os.fdopen(descriptor, "rb") as stream:
        # The types do not say so, but without waiting there may be nothing.
        # Room for the whole limit would cost time; a file that grows meanwhile is read on.
        data: Any = stream.read(min(count, size + 1) if size else count)
        if data and size < len(data) < count:
            data += stream.read(count - len(data)) or b""
    if data is None:
        raise BlockingIOError(errno.EAGAIN, "has nothing to be read now", str(path))
    return data


def apply_text_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """The text after sorted edits that do not overlap; raises ValueError for any others."""
    pieces: list[str] = []
    done = 0
    for edit in edits:
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError(
                f"edit {edit.start}-{edit.end} overlaps another, is unsorted, or lies outside "
                f"a text of {len(text)} characters"
            )
        pieces += (text[done : edit.start], edit.new_text)
        done = edit.end
    return "".join((*pieces, text[done:]))


def apply_on_disk(edits: Sequence[FileEdit]) -> EditOutcome:
    """Write all edits or none; blocking, raises nothing for what a disk can do.

    Every file is checked against its base, its new bytes are put beside it and synced, and only
    then are they renamed into place. Encoding, byte-order mark, mode, owner and symbolic links
    are kept. `after` is read back from the disk. A file to be removed loses its name at once and
    its bytes when all has gone well.
    """
    plans: list[_Plan] = []
    staged: list[Staged | Removal] = []
    try:
        for edit in edits:
            plans.append(_plan(edit, {plan.target for plan in plans}))
        for plan, edit in zip(plans, edits, strict=True):
            target = plan.target
            staged.append(Removal(target) if edit.removes else stage(target, plan.new, plan.old))
        for plan, item in zip(plans, staged, strict=True):
            _check_unchanged(plan)
            item.commit()
        after = tuple(read_snapshot(edit.path) for edit in edits if not edit.removes)
    except _Refused as refusal:
        _take_back(staged)
        return EditOutcome(applied=False, failure=refusal.failure, detail=str(refusal))
    except FileExistsError as error:
        _take_back(staged)
        detail = f"{error.filename or error}: it exists already"
        return EditOutcome(applied=False, failure="stale", detail=detail)
    except (NotWritable, HostError) as error:
        _take_back(staged)
        return EditOutcome(applied=False, failure="refused", detail=str(error))
    except OSError as error:
        _take_back(staged)
        what = f"{error.filename or 'the file'}: {error.strerror or error}"
        detail = f"{what}; nothing was changed"
        return EditOutcome(applied=False, failure="refused", detail=detail)
    for item in staged:
        if isinstance(item, Removal):
            item.finish()
    note = " ".join(item.note for item in staged if item.note)
    return EditOutcome(applied=True, note=note, after=after)


class _Refused(Exception):
    def __init__(self, failure: Literal["stale", "refused", "gone"], detail: str) -> None:
        super().__init__(detail)
        self.failure: Literal["stale", "refused", "gone"] = failure


@dataclass(frozen=True, slots=True)
class _Plan:
    """One file's change, worked out in memory. `target` is the file behind all links."""

    target: Path
    old: bytes | None
    new: bytes


def _plan(edit: FileEdit, taken: set[Path]) -> _Plan:
    target = Path(os.path.realpath(edit.path))
    if target.is_symlink():
        raise _Refused("refused", f"{edit.path} is a symbolic link that leads to itself")
    if target in taken:
        raise _Refused("refused", f"{edit.path} is named twice in one edit")
    if edit.base is None:
        if target.exists():
            raise _Refused("stale", f"{edit.path} exists already")
        return _Plan(target, None, encode(apply_text_edits("", edit.edits), "utf-8", ""))
    try:
        old = _read_bytes(target)
    except FileNotFoundError:
        raise _Refused("gone", f"{edit.path} does not exist any more") from None
    before = _snapshot(edit.path, old)
    if before.digest != edit.base:
        raise _Refused("stale", f"{edit.path} has changed since it was read")
    try:
        text = apply_text_edits(before.text, edit.edits)
    except ValueError as error:
        raise _Refused("refused", f"{edit.path}: {error}") from error
    return _Plan(target, old, encode(text, before.encoding, before.bom))


def _check_unchanged(plan: _Plan) -> None:
    """The last look before the rename: what another program wrote meanwhile is not lost."""
    if plan.old is not None and _read_bytes(plan.target) != plan.old:
        raise _Refused("stale", f"{plan.target} has changed while it was being written")


def _take_back(staged: Sequence[Staged | Removal]) -> None:
    for item in reversed(staged):
        item.rollback()


class _Last:
    """What was decoded last: an edit looks at the same bytes again and again."""

    kept: tuple[bytes, Decoded, str] = (b"", decode(b""), digest_of(""))

    @classmethod
    def read(cls, data: bytes) -> tuple[Decoded, str]:
        """The text and its digest; raises BinaryFileError. Threads may meet here: one value."""
        before, decoded, digest = cls.kept
        if data != before:
            decoded = decode(data)
            digest = digest_of(decoded.text)
            if len(data) <= KEPT_BYTES:
                cls.kept = (data, decoded, digest)
        return decoded, digest


def _snapshot(path: str, data: bytes) -> FileSnapshot:
    try:
        decoded, digest = _Last.read(data)
    except BinaryFileError as error:
        raise BinaryFileError(f"{path} is {error}") from error
    return FileSnapshot(
        path=path,
        text=decoded.text,
        digest=digest,
        encoding=decoded.encoding,
        bom=decoded.bom,
    )


def _read_bytes(path: Path) -> bytes:
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(21, "is a folder", str(path))
    if not stat.S_ISREG(status.st_mode):
        # Opening a pipe would wait for its other end.
        raise HostError(f"{path} is not a regular file but a pipe, a socket or a device")
    if status.st_size > MAX_TEXT_BYTES:
        raise FileTooLargeError(
            f"{path} has {status.st_size:,} bytes; texts above {MAX_TEXT_BYTES:,} are not edited"
        )
    data = read_up_to(path, MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise FileTooLargeError(f"{path} has more bytes than it says; it is not edited")
    return data
