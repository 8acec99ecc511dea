"""Read: a file as numbered lines, as a picture, as pages of a PDF, or as cells of a notebook."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import anyio.to_thread
from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.core.errors import BinaryFileError, FileTooLargeError, ToolError
from sidelight.core.host import FileEdit, FileSnapshot
from sidelight.core.record import PlainRecord
from sidelight.core.tokens import CHARACTERS_PER_TOKEN, estimate
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.files.window import read_window
from sidelight.tools.media import is_pdf_file, notebook_view, pdf_view, picture_view
from sidelight.tools.notebook.parse import SUFFIX, NotebookError, parse
from sidelight.tools.target import Target, read_access, read_text, target_of
from sidelight.tools.text.lines import lines_of, numbered

DEFAULT_LINES = 2000
DEFAULT_TOKENS = 25_000
LARGER = 4


class ReadInput(PlainRecord):
    """What to read."""

    file_path: str = Field(description="Absolute path of the file")
    offset: int | None = Field(
        None, ge=0, description="First line to read, counted from 1; of a notebook the first cell"
    )
    limit: int | None = Field(
        None, ge=1, description="How many lines to read, 2000 if absent; of a notebook cells"
    )
    pages: str | None = Field(
        None, description='Pages of a PDF, up to 20, as in "1-5", "3" or "7-"'
    )
    allow_large: bool = Field(
        False, description="Show up to four times as much; only if all of it is needed at once"
    )


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines to show; `cut` says that the one line had to be shortened.

    `total` is None where the end of the file was not looked for.
    """

    first: int
    lines: list[str]
    total: int | None
    capped: bool = False
    cut: bool = False

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
        """The path, with the lines or pages if only some are read."""
        if input.pages:
            return f"{input.file_path} {input.pages}".replace("\n", " ")
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
        if await anyio.to_thread.run_sync(is_pdf_file, target.path):
            yield await pdf_view(target, input.pages)
            return
        if input.pages:
            raise ToolError(
                "pages is for PDF files only. Read parts of other files with offset and limit.",
                "invalid_input",
            )
        try:
            snapshot = await read_text(context.host, target, context.shell)
        except BinaryFileError as error:
            yield await picture_view(target, str(error))
            return
        except FileTooLargeError:
            yield await self._large(target, input)
            return
        if target.path.endswith(SUFFIX) and snapshot.text:
            yield await self._notebook(target, snapshot, input, context)
            return
        yield self._text(target, snapshot, input, context)

    def _room(self, input: ReadInput) -> int:
        return self.max_tokens * (LARGER if input.allow_large else 1)

    async def _notebook(
        self, target: Target, snapshot: FileSnapshot, input: ReadInput, context: ToolContext
    ) -> ToolOutput:
        try:
            book = await anyio.to_thread.run_sync(parse, snapshot.text)
        except NotebookError as error:
            note = f"This is no notebook that can be shown by cells: {error}. It is shown as text."
            return self._text(target, snapshot, input, context, note)
        return await notebook_view(
            target,
            snapshot,
            book,
            context.ledger,
            first=max(input.offset or 1, 1),
            count=input.limit or max(len(book.cells), 1),
            max_tokens=self._room(input),
        )

    def _text(
        self,
        target: Target,
        snapshot: FileSnapshot,
        input: ReadInput,
        context: ToolContext,
        *notes: str,
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
            if seen is not None and seen.covers(1, len(lines)):
                context.ledger.note_read(target.real, snapshot.text, whole=True)
        body = "\n".join(numbered(page.first + i, line) for i, line in enumerate(page.lines))
        return _output(target, page, body, (*notes, *_about(snapshot), *_partial(page)))

    def _page(self, lines: list[str], first: int, input: ReadInput) -> _Page:
        total = len(lines)
        wanted = lines[first - 1 : first - 1 + (input.limit or DEFAULT_LINES)]
        room = shown = self._room(input) * CHARACTERS_PER_TOKEN
        kept = 0
        for number, line in enumerate(wanted, first):
            room -= len(numbered(number, line)) + 1
            if room < 0:
                break
            kept += 1
        if kept == len(wanted):
            return _Page(first, wanted, total)
        if kept == 0:
            return _Page(first, [wanted[0][:shown]], total, capped=True, cut=True)
        if input.offset is not None or input.limit is not None:
            size = estimate("\n".join(wanted))
            raise ToolError(
                f"Lines {first}-{first + len(wanted) - 1} are about {size:,} tokens; one Read "
                f"shows {self._room(input):,}. Read them with limit={kept}, or use Grep to "
                "find the part that matters.",
                "invalid_input",
            )
        return _Page(first, wanted[:kept], total, capped=True)

    async def _large(self, target: Target, input: ReadInput) -> ToolOutput:
        first = max(input.offset or 1, 1)
        room = self._room(input) * CHARACTERS_PER_TOKEN
        try:
            window = await anyio.to_thread.run_sync(
                read_window, target.path, first, input.limit or DEFAULT_LINES, room
            )
        except (OSError, BinaryFileError) as error:
            raise ToolError(f"{target.path} cannot be read: {error}") from error
        page = _Page(first, window.lines, window.total, window.cut, window.cut)
        if not window.lines:
            return _output(target, page, _nothing(first, window.total or 0), ())
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
    }
    if page.total is not None:
        file["totalLines"] = page.total
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
    of = "" if page.total is None else f" of {page.total}"
    if page.cut:
        shown = len(page.lines[-1])
        return (
            f"PARTIAL view: line {page.last}{of} was cut after {shown:,} characters. "
            "Use Grep with -o to find text inside it.",
        )
    if page.first == 1 and page.last == page.total:
        return ()
    ends = page.total is not None and page.last >= page.total
    more = "" if ends else f" Read on with offset={page.last + 1}."
    return (f"PARTIAL view: lines {page.first}-{page.last}{of}.{more}",)
