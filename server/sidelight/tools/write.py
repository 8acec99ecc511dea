"""Write: make a file, or replace all of its text."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.content import Json
from sidelight.core.errors import HostError, ToolError
from sidelight.core.host import EditOutcome, FileEdit, FileSnapshot, TextEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.files.disk import apply_text_edits
from sidelight.tools.preconditions import read_for_change, require_encodable, require_seen
from sidelight.tools.saved import refusal, saved
from sidelight.tools.target import Target, target_of, write_access
from sidelight.tools.text.lines import lines_of
from sidelight.tools.text.patch import changed_lines, difference, structured_patch
from sidelight.tools.text.splice import main_line_end, whole_text

SHOWN_LINES = 40


class WriteInput(PlainRecord):
    """A file and its whole text."""

    file_path: str = Field(description="Absolute path of the file")
    content: str = Field(description="The whole text of the file, nothing left out")


@dataclass(frozen=True, slots=True)
class _Plan:
    """A write worked out against one state of the file; `before` is None for a new one."""

    before: FileSnapshot | None
    edits: tuple[TextEdit, ...]
    notes: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        return apply_text_edits(self.before.text if self.before else "", self.edits)


class WriteTool:
    """Writes through the host; an existing file must have been read as it is now."""

    name = "Write"
    input_type = WriteInput

    def summary(self, input: WriteInput) -> str:
        """The path."""
        return input.file_path

    def touches(self, input: WriteInput, shell: Shell) -> Sequence[Access]:
        """The file, written."""
        return write_access(target_of(input.file_path, shell))

    async def preview(self, input: WriteInput, context: ToolContext) -> Sequence[FileEdit]:
        """The edit from the present text; raises ToolError where `run` would."""
        target = target_of(input.file_path, context.shell)
        plan = await _plan(input, target, context)
        return (_file_edit(target, plan),) if _does_something(plan) else ()

    async def run(
        self, input: WriteInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Write the file; raises ToolError."""
        target = target_of(input.file_path, context.shell)
        plan = await _plan(input, target, context)
        if not _does_something(plan):
            text = f"{target.path} has exactly this content already; nothing was written."
            yield ToolOutput.of(text, data=_data(input, target, plan, []))
            return
        try:
            edit = _file_edit(target, plan)
            outcome = await context.host.apply_edit((edit,), f"Write {target.path}")
        except HostError as error:
            raise ToolError(f"{target.path} was not written: {error}") from error
        if not outcome.applied:
            raise refusal(target, outcome)
        yield _report(input, target, plan, outcome, context)


async def _plan(input: WriteInput, target: Target, context: ToolContext) -> _Plan:
    require_encodable("content", input.content)
    try:
        before = await read_for_change(context.host, target, context.shell)
    except ToolError as error:
        if error.kind != "not_found":
            raise
        return _Plan(None, (TextEdit(start=0, end=0, new_text=input.content),))
    _require_known(target, before, context)
    content, notes = _in_style(input.content, before)
    return _Plan(before, whole_text(before.text, content), notes)


def _require_known(target: Target, before: FileSnapshot, context: ToolContext) -> None:
    if not before.text:
        return  # nothing to lose
    seen = require_seen(context.ledger, target)
    if seen.digest != before.digest:
        raise ToolError(
            f"{target.path} has changed since you read it. Read it again, so that those changes "
            "are not lost; for a small change use Edit.",
            "stale",
        )
    if not seen.whole:
        raise ToolError(
            f"Only a part of {target.path} has been read. Read the rest before replacing all of "
            "it, or change the part with Edit.",
            "invalid_input",
        )


def _in_style(content: str, before: FileSnapshot) -> tuple[str, tuple[str, ...]]:
    """The content with the file's own mark and line ends, where it has one kind of them."""
    if before.bom:
        content = content.removeprefix("\ufeff")
    end = main_line_end(before.text)
    if end in {None, "\n"} or "\r" in content or "\n" not in content:
        return content, ()
    name = "CR LF" if end == "\r\n" else "CR"
    return content.replace("\n", end or "\n"), (f"The file's line ends ({name}) were kept.",)


def _does_something(plan: _Plan) -> bool:
    return plan.before is None or bool(plan.edits)


def _file_edit(target: Target, plan: _Plan) -> FileEdit:
    base = plan.before.digest if plan.before else None
    return FileEdit(path=target.path, base=base, edits=plan.edits)


def _report(
    input: WriteInput, target: Target, plan: _Plan, outcome: EditOutcome, context: ToolContext
) -> ToolOutput:
    snapshot, remarks = saved(target, outcome, plan.expected)
    after = snapshot.text
    context.ledger.note_write(target.real, after, digest=snapshot.digest)
    count = len(lines_of(after))
    size = f"{count} line{'' if count == 1 else 's'}"
    if plan.before is None:
        head, shown, patch = f"Created {target.path} ({size}).", "", []
        if remarks:
            shown = changed_lines(difference(plan.expected, after), 2, SHOWN_LINES)
    else:
        head = f"Replaced the text of {target.path} ({size}). What changed:"
        differs = difference(plan.before.text, after)
        shown, patch = changed_lines(differs, 1, SHOWN_LINES), structured_patch(differs)
    text = "\n\n".join(part for part in (head, shown, *remarks, *plan.notes) if part)
    data = _data(input, target, plan, patch)
    return ToolOutput.of(text, paths_changed=(target.path,), data=data)


def _data(input: WriteInput, target: Target, plan: _Plan, patch: list[Json]) -> dict[str, object]:
    return {
        "type": "create" if plan.before is None else "update",
        "filePath": target.path,
        "content": input.content,
        "structuredPatch": patch,
        "originalFile": plan.before.text if plan.before else None,
        "userModified": False,
    }
