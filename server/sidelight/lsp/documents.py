"""Files as the user sees them: the open buffer first, then the disk."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.to_thread

from sidelight.core.errors import HostError
from sidelight.core.host import FileSnapshot
from sidelight.core.ledger import digest_of
from sidelight.files.disk import read_snapshot
from sidelight.files.encoding import encode
from sidelight.lsp.buffers import Buffer, BufferEvent, Buffers
from sidelight.lsp.convert import is_uri

REPLACEMENT = "\ufffd"
GAP = re.compile(f"{REPLACEMENT}+")


@dataclass(frozen=True, slots=True)
class View:
    """An open document. `disk` is its file, None when there is none that can be read as text.

    `stale` means that the buffer is untouched and older than its file: then the disk is what the
    user will see, and `snapshot` is of the disk. `garbled` means that the editor reads the file
    in a wrong encoding: what it saves would put replacement characters in the place of letters.
    """

    buffer: Buffer
    snapshot: FileSnapshot
    disk: FileSnapshot | None
    stale: bool = False
    garbled: bool = False


async def read(buffers: Buffers, path: str) -> FileSnapshot:
    """The open buffer, else the file; raises as `Host.read_text` does."""
    view = await look(buffers, path)
    if view is not None:
        return view.snapshot
    if is_uri(path):
        raise FileNotFoundError(2, "is not open in the editor", path)
    return await anyio.to_thread.run_sync(read_snapshot, path)


async def unsaved(buffers: Buffers) -> list[FileSnapshot]:
    """The open documents whose text is not what their file holds."""
    views = [await _view(one, one.path) for one in buffers.all() if not is_uri(one.path)]
    return [view.snapshot for view in views if view.snapshot.unsaved]


async def look(buffers: Buffers, path: str) -> View | None:
    """An open document beside its file; None when it is not open."""
    buffer = buffers.find(path)
    return None if buffer is None else await _view(buffer, path)


async def _view(buffer: Buffer, path: str) -> View:
    disk = await read_disk(buffer.path)
    text = buffer.text
    garbled = disk is not None and _is_garbled(text, disk)
    if disk is not None and not same_lines(disk.text, text):
        untouched = _is_left_behind(buffer, text) or (garbled and _is_garbling_of(disk, text))
        if untouched:
            snapshot = disk.model_copy(update={"path": path, "version": buffer.version})
            return View(buffer, snapshot, disk, stale=True, garbled=garbled)
    snapshot = FileSnapshot(
        path=path,
        text=text,
        digest=digest_of(text),
        version=buffer.version,
        unsaved=disk is None or not same_lines(disk.text, text),
        encoding=disk.encoding if disk else "utf-8",
        bom=disk.bom if disk else "",
    )
    return View(buffer, snapshot, disk, garbled=garbled)


async def read_disk(path: str) -> FileSnapshot | None:
    """The file's text, None when it is not there or is no text."""
    if is_uri(path):
        return None
    try:
        return await anyio.to_thread.run_sync(read_snapshot, path)
    except (OSError, HostError):
        return None


def same_lines(one: str, other: str) -> bool:
    """Equal but for line ends: an editor shows one kind where a file mixes them."""
    return one == other or _unix(one) == _unix(other)


async def until(buffers: Buffers, done: Callable[[], bool], seconds: float) -> bool:
    """Wait for what the editor reports of its documents; False when it did not come in time."""
    happened = anyio.Event()

    def listen(_: Buffer, __: BufferEvent) -> None:
        happened.set()

    buffers.listeners.append(listen)
    try:
        with anyio.move_on_after(seconds):
            while not done():
                await happened.wait()
                happened = anyio.Event()
        return done()
    finally:
        buffers.listeners.remove(listen)


def _is_left_behind(buffer: Buffer, text: str) -> bool:
    """Nothing was typed since the last save, and the file was changed by another since then."""
    return buffer.disk_changed and buffer.saved_text == text


def _is_garbled(text: str, disk: FileSnapshot) -> bool:
    legacy = not disk.encoding.startswith("utf-")
    return legacy and REPLACEMENT in text and REPLACEMENT not in disk.text


def _is_garbling_of(disk: FileSnapshot, text: str) -> bool:
    """Whether the text is the file read as UTF-8; editors differ in how many signs a gap gets."""
    data = encode(disk.text, disk.encoding, disk.bom)
    read = _unix(data.decode("utf-8", "replace"))
    return GAP.sub(REPLACEMENT, read) == GAP.sub(REPLACEMENT, _unix(text))


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
