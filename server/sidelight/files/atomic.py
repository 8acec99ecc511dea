"""Replacing one file's bytes so that a crash, a full disk or an error leaves the old ones."""

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

WRITABLE_BITS = 0o222


class NotWritable(Exception):
    """The target may not or cannot be written; the message is a sentence."""


@dataclass(slots=True)
class Staged:
    """New bytes that lie beside their target; `commit` puts them there, `rollback` takes back.

    `target` is no symbolic link. `note` says what could not be kept. Owned by one thread.
    """

    target: Path
    new: bytes
    old: bytes | None
    temporary: Path | None = None
    made: list[Path] = field(default_factory=list[Path])
    note: str = ""
    committed: bool = False

    def commit(self) -> None:
        """Put the new bytes in place; raises OSError, and the old bytes stay."""
        if self.old is None and self.temporary is not None:
            _publish(self.temporary, self.target)
        elif self.temporary is not None:
            self.temporary.replace(self.target)
        else:
            _overwrite(self.target, self.new, self.old or b"")
        self.committed = True
        self.temporary = None
        _sync_folder(self.target.parent)

    def rollback(self) -> None:
        """Bring back what was there, as far as the disk lets us; never raises OSError."""
        with contextlib.suppress(OSError):
            if self.temporary is not None:
                self.temporary.unlink(missing_ok=True)
            if self.committed and self.old is None:
                self.target.unlink(missing_ok=True)
            elif self.committed and self.old is not None:
                _overwrite(self.target, self.old, self.new)
            for folder in reversed(self.made):
                folder.rmdir()


@dataclass(slots=True)
class Removal:
    """A file that is put aside by `commit`, for good by `finish`, and back by `rollback`.

    `target` is no symbolic link. Owned by one thread.
    """

    target: Path
    aside: Path | None = None
    note: str = ""

    def commit(self) -> None:
        """Take the file's name away; raises OSError, and the file stays."""
        aside = _beside(self.target.parent)
        self.target.rename(aside)
        self.aside = aside

    def rollback(self) -> None:
        """Give the file its name back, unless another one has it now; never raises OSError."""
        if self.aside is not None:
            with contextlib.suppress(OSError):
                _publish(self.aside, self.target)

    def finish(self) -> None:
        """Delete what was put aside; never raises OSError."""
        if self.aside is not None:
            with contextlib.suppress(OSError):
                self.aside.unlink()
                _sync_folder(self.target.parent)


def stage(target: Path, new: bytes, old: bytes | None) -> Staged:
    """Write `new` beside `target`, synced; `old` is what the file holds, None for a new file.

    Missing parent folders are made. A hard-linked file, or one whose owner and attributes a
    replacement cannot carry, is to be overwritten in place at commit. Raises NotWritable or
    OSError, and leaves nothing behind then.
    """
    staged = Staged(target, new, old)
    if old is None:
        before = None
    else:
        before = target.stat()
        _refuse_read_only(target, before)
        if before.st_nlink > 1:
            staged.note = f"{target.name} has {before.st_nlink} hard links; all of them changed."
            return staged
    try:
        _make_parents(target.parent, staged.made)
        staged.temporary = _write_temporary(target.parent, new, before, target)
    except PermissionError:
        if old is None:
            staged.rollback()
            raise
        staged.note = (
            f"{target.name} was written in place: its owner or attributes, or its folder's "
            "permissions, do not allow a replacement."
        )
    except OSError:
        staged.rollback()
        raise
    return staged


def _refuse_read_only(target: Path, before: os.stat_result) -> None:
    # By the mode, not by access(): root may write everything, and should not by accident.
    if not before.st_mode & WRITABLE_BITS or not os.access(target, os.W_OK):
        mode = stat.S_IMODE(before.st_mode)
        raise NotWritable(
            f"{target} is read-only (mode {mode:04o}). Ask before making it writable; "
            "a generated or locked file is often better changed at its source."
        )


def _make_parents(folder: Path, made: list[Path]) -> None:
    if not folder.exists():
        _make_parents(folder.parent, made)
        folder.mkdir(exist_ok=True)
        made.append(folder)


def _write_temporary(folder: Path, data: bytes, like: os.stat_result | None, target: Path) -> Path:
    temporary = _beside(folder)
    mode = 0o666 if like is None else 0o600
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            if like is not None:
                _carry_over(stream.fileno(), like, target)
            os.fsync(stream.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _beside(folder: Path) -> Path:
    return folder / f".sidelight-{secrets.token_hex(8)}.tmp"


def _carry_over(descriptor: int, like: os.stat_result, target: Path) -> None:
    """Owner, extended attributes (access lists among them), then mode: chown clears its bits."""
    if hasattr(os, "fchown"):
        mine = os.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
            os.fchown(descriptor, like.st_uid, like.st_gid)
    if hasattr(os, "listxattr"):
        for name in _attributes(target):
            _copy_attribute(name, target, descriptor)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _attributes(target: Path) -> list[str]:
    try:
        return os.listxattr(target)
    except OSError:
        return []  # a file system without attributes


def _copy_attribute(name: str, target: Path, descriptor: int) -> None:
    try:
        os.setxattr(descriptor, name, os.getxattr(target, name))
    except OSError as error:
        # Security labels are set by the system for the new file; the rest must not get lost.
        if not name.startswith("security."):
            raise PermissionError(error.errno, f"attribute {name} cannot be copied") from error


def _publish(temporary: Path, target: Path) -> None:
    """Give a new file its name unless somebody was quicker (FileExistsError)."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if target.exists():
            raise FileExistsError(f"{target} already exists") from None
        temporary.rename(target)
        return
    temporary.unlink()


def _overwrite(target: Path, new: bytes, old: bytes) -> None:
    """Write in place; the end is cut last, so that the old bytes can be put back if it fails."""
    descriptor = os.open(target, os.O_WRONLY | _BINARY)
    with os.fdopen(descriptor, "wb") as stream:
        try:
            _write_all(stream.fileno(), new)
        except OSError:
            _write_all(stream.fileno(), old)
            raise


def _write_all(descriptor: int, data: bytes) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    # Windows cannot open folders; the rename is durable there without it.
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems refuse to sync folders; the rename has taken place all the same.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


_BINARY = getattr(os, "O_BINARY", 0)
