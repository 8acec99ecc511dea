"""Read: a file as numbered lines, or a picture."""

import base64
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.content import Image, Json, Text
from sidelight.core.errors import BinaryFileError, FileTooLargeError, ToolError
from sidelight.core.host import FileEdit, FileSnapshot
from sidelight.core.record import PlainRecord
from sidelight.core.tokens import CHARACTERS_PER_TOKEN, estimate
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.files.window import read_window
from sidelight.tools.picture import MAX_BYTES, MAX_SIDE, BrokenPicture, inspect, is_picture
from sidelight.tools.target import Target, read_access, read_text, target_of
from sidelight.tools.text.lines import lines_of, numbered

DEFAULT_LINES = 2000
DEFAULT_TOKENS = 25_000


class ReadInput(PlainRecord):
    """What to read."""

    file_path: str = Field(description="Absolute path of the file")
    offset: int | None = Field(
        None, ge=0, description="First line to read, counted from 1; for files too long to read"
    )
    limit: int | None = Field(None, ge=1, description="How many lines to read; 2000 if absent")


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines to show; `cut` is the length of a line that had to be shortened, else 0."""

    first: int
    lines: list[str]
    total: int
    capped: bool = False
    cut: int = 0

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


class ReadTool:
    """Reads through the host, so unsaved text of an open editor is what is seen.

    `max_tokens` bounds one result, by rough count.
    """

    name = "Read"
    input_type = ReadInput

    def __init__(self, max_tokens: int = DEFAULT_TOKENS) -> None:
        self.max_tokens = max_tokens

    def summary(self, input: ReadInput) -> str:
        """The path, with the lines if only some are read."""
        if input.offset is None and input.limit is None:
            return input.file_path
        first = max(input.offset or 1, 1)
        last = first + (input.limit or DEFAULT_LINES) - 1
        return f"{input.file_path}:{first}-{last}"

    def touches(self, input: ReadInput, shell: Shell) -> Sequence[Access]:
        """The file, read."""
        return read_access(target_of(input.file_path, shell))

    async def preview(self, input: ReadInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: reading edits nothing."""
        return ()

    async def run(
        self, input: ReadInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """The numbered lines; raises ToolError."""
        target = target_of(input.file_path, context.shell)
        try:
            snapshot = await read_text(context.host, target, context.shell)
        except BinaryFileError as error:
            yield await _picture(target, str(error))
            return
        except FileTooLargeError:
            yield await self._large(target, input)
            return
        yield self._text(target, snapshot, input, context)

    def _text(
        self, target: Target, snapshot: FileSnapshot, input: ReadInput, context: ToolContext
    ) -> ToolOutput:
        lines = lines_of(snapshot.text)
        first = max(input.offset or 1, 1)
        if not lines or first > len(lines):
            if not lines:
                context.ledger.note_read(target.real, snapshot.text, whole=True)
            return _output(target, _Page(first, [], len(lines)), _nothing(first, len(lines)), ())
        page = self._page(lines, first, input)
        if not page.cut:
            whole = page.first == 1 and page.last == page.total
            shown = (page.first, page.last)
            context.ledger.note_read(target.real, snapshot.text, whole=whole, lines=shown)
            seen = context.ledger.seen(target.real)
            if seen is not None and seen.covers(1, page.total):
                context.ledger.note_read(target.real, snapshot.text, whole=True)
        body = "\n".join(numbered(page.first + i, line) for i, line in enumerate(page.lines))
        return _output(target, page, body, (*_about(snapshot), *_partial(page)))

    def _page(self, lines: list[str], first: int, input: ReadInput) -> _Page:
        total = len(lines)
        wanted = lines[first - 1 : first - 1 + (input.limit or DEFAULT_LINES)]
        room = self.max_tokens * CHARACTERS_PER_TOKEN
        kept = 0
        for number, line in enumerate(wanted, first):
            room -= len(numbered(number, line)) + 1
            if room < 0:
                break
            kept += 1
        if kept == len(wanted):
            return _Page(first, wanted, total)
        if kept == 0:
            shown = self.max_tokens * CHARACTERS_PER_TOKEN
            return _Page(first, [wanted[0][:shown]], total, capped=True, cut=len(wanted[0]))
        if input.offset is not None or input.limit is not None:
            size = estimate("\n".join(wanted))
            raise ToolError(
                f"Lines {first}-{first + len(wanted) - 1} are about {size:,} tokens; one Read "
                f"shows {self.max_tokens:,}. Read them with limit={kept}, or use Grep to "
                "find the part that matters.",
                "invalid_input",
            )
        return _Page(first, wanted[:kept], total, capped=True)

    async def _large(self, target: Target, input: ReadInput) -> ToolOutput:
        first = max(input.offset or 1, 1)
        room = self.max_tokens * CHARACTERS_PER_TOKEN
        try:
            window = await anyio.to_thread.run_sync(
                read_window, target.path, first, input.limit or DEFAULT_LINES, room
            )
        except (OSError, BinaryFileError) as error:
            raise ToolError(f"{target.path} cannot be read: {error}") from error
        cut = len(window.lines[-1]) if window.cut else 0
        page = _Page(first, window.lines, window.total, window.cut, cut)
        if not window.lines:
            return _output(target, page, _nothing(first, window.total), ())
        body = "\n".join(numbered(first + i, line) for i, line in enumerate(window.lines))
        about = "The file is too large for Edit and Write; change it with a program."
        return _output(target, page, body, (about, *_partial(page)))


def _output(target: Target, page: _Page, body: str, notes: tuple[str, ...]) -> ToolOutput:
    text = "\n\n".join((body, *(f"({note})" for note in notes)))
    file: Json = {
        "filePath": target.path,
        "content": "\n".join(page.lines),
        "numLines": len(page.lines),
        "startLine": page.first,
        "totalLines": page.total,
    }
    if page.capped:
        file["truncatedByTokenCap"] = True
    return ToolOutput.of(text, data={"type": "text", "file": file})


def _nothing(first: int, total: int) -> str:
    if total == 0:
        return "(The file exists and is empty.)"
    return f"(The file has {total} lines; line {first} is past its end. Use a smaller offset.)"


def _about(snapshot: FileSnapshot) -> tuple[str, ...]:
    notes: list[str] = []
    if snapshot.unsaved:
        notes.append("This is the text in the editor; it has changes that are not saved yet.")
    if snapshot.encoding != "utf-8":
        notes.append(f"The file's encoding is {snapshot.encoding}; edits keep it.")
    return tuple(notes)


def _partial(page: _Page) -> tuple[str, ...]:
    if page.cut:
        shown = len(page.lines[-1])
        return (
            f"PARTIAL view: line {page.last} of {page.total} was cut after {shown:,} characters. "
            "Use Grep with -o to find text inside it.",
        )
    if page.first == 1 and page.last == page.total:
        return ()
    more = f" Read on with offset={page.last + 1}." if page.last < page.total else ""
    return (f"PARTIAL view: lines {page.first}-{page.last} of {page.total}.{more}",)


async def _picture(target: Target, what: str) -> ToolOutput:
    data = await anyio.to_thread.run_sync(_picture_bytes, Path(target.path))
    if data is None:
        raise ToolError(
            f"{what}. Read shows text and pictures (PNG, JPEG, GIF, WebP); for other formats run "
            "a program that turns them into text.",
            "invalid_input",
        )
    try:
        picture = inspect(data)
    except BrokenPicture as error:
        raise ToolError(f"{what}, and {error}: it cannot be shown.") from error
    if len(data) > MAX_BYTES or max(picture.width, picture.height) > MAX_SIDE:
        raise ToolError(
            f"{what}, {picture.width} x {picture.height} pixels, and too large to be shown: the "
            f"limits are {MAX_BYTES:,} bytes and {MAX_SIDE} pixels a side. Make a smaller copy.",
            "invalid_input",
        )
    encoded = base64.b64encode(data).decode("ascii")
    size = {"originalWidth": picture.width, "originalHeight": picture.height}
    file: Json = {
        "base64": encoded,
        "type": picture.media_type,
        "originalSize": len(data),
        "dimensions": size,
    }
    return ToolOutput(
        content=(
            Text(text=f"{target.path} ({picture.media_type}, {picture.width} x {picture.height})"),
            Image(media_type=picture.media_type, data=encoded),
        ),
        data={"type": "image", "file": file},
    )


def _picture_bytes(path: Path) -> bytes | None:
    """The file's bytes if it begins like a picture, one more than allowed at most."""
    with path.open("rb") as stream:
        head = stream.read(16)
        return head + stream.read(MAX_BYTES + 1 - len(head)) if is_picture(head) else None
