"""NotebookEdit: replace, insert or delete one cell; the rest of the file keeps its bytes."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.errors import HostError, ToolError
from sidelight.core.host import FileEdit, FileSnapshot, TextEdit
from sidelight.core.ledger import Seen
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.files.disk import apply_text_edits
from sidelight.tools.notebook.change import deleted, inserted, replaced
from sidelight.tools.notebook.parse import SUFFIX, Cell, Notebook, NotebookError, parse
from sidelight.tools.preconditions import read_for_change, require_encodable, require_seen
from sidelight.tools.saved import refusal, saved
from sidelight.tools.target import Target, target_of, write_access
from sidelight.tools.text.patch import carried

NAMED_CELLS = 30


class NotebookEditInput(PlainRecord):
    """Which cell, and what becomes of it."""

    notebook_path: str = Field(description="Absolute path of the .ipynb file")
    new_source: str = Field(description="The whole text of the cell; empty for delete")
    cell_id: str | None = Field(
        None,
        description="Id of the cell as Read shows it; an insert goes behind it, without it to the "
        "front",
    )
    cell_type: Literal["code", "markdown"] | None = Field(
        None, description="Kind of the cell; needed for insert, else the kind stays"
    )
    edit_mode: Literal["replace", "insert", "delete"] = Field(
        "replace", description="What to do with the cell"
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """A change worked out against one state of the file."""

    before: FileSnapshot
    seen: Seen
    edits: tuple[TextEdit, ...]
    id: str
    kind: str
    language: str
    old: Cell | None

    @property
    def expected(self) -> str:
        return apply_text_edits(self.before.text, self.edits)


class NotebookEditTool:
    """Changes one cell through the host; the cell must have been read before."""

    name = "NotebookEdit"
    input_type = NotebookEditInput

    def summary(self, input: NotebookEditInput) -> str:
        """The path and the cell."""
        cell = f" {input.cell_id}" if input.cell_id else ""
        return f"{input.notebook_path}{cell}".replace("\n", " ")

    def touches(self, input: NotebookEditInput, shell: Shell) -> Sequence[Access]:
        """The file, written."""
        return write_access(target_of(input.notebook_path, shell))

    async def preview(self, input: NotebookEditInput, context: ToolContext) -> Sequence[FileEdit]:
        """The edit that would be made now; raises ToolError where `run` would."""
        target = target_of(input.notebook_path, context.shell)
        return (_file_edit(target, await _plan(input, target, context)),)

    async def run(
        self, input: NotebookEditInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Make the change; raises ToolError."""
        target = target_of(input.notebook_path, context.shell)
        plan = await _plan(input, target, context)
        try:
            edit = _file_edit(target, plan)
            outcome = await context.host.apply_edit((edit,), f"Edit {target.path}")
        except HostError as error:
            raise ToolError(f"{target.path} was not changed: {error}") from error
        if not outcome.applied:
            raise refusal(target, outcome)
        snapshot, remarks = saved(target, outcome, plan.expected)
        after = snapshot.text
        lines = None if plan.seen.whole else carried(plan.seen.lines, plan.before.text, after)
        context.ledger.note_write(target.real, after, digest=snapshot.digest, lines=lines)
        text = "\n\n".join((_said(input, target, plan), *remarks))
        data = _data(input, target, plan, after)
        yield ToolOutput.of(text, paths_changed=(target.path,), data=data)


def _file_edit(target: Target, plan: _Plan) -> FileEdit:
    return FileEdit(path=target.path, base=plan.before.digest, edits=plan.edits)


async def _plan(input: NotebookEditInput, target: Target, context: ToolContext) -> _Plan:
    require_encodable("new_source", input.new_source)
    if not target.path.endswith(SUFFIX):
        raise ToolError(f"{target.path} is no {SUFFIX} file; use Edit for it.", "invalid_input")
    before = await read_for_change(context.host, target, context.shell)
    seen = require_seen(context.ledger, target)
    if seen.digest != before.digest:
        raise ToolError(
            f"{target.path} has changed since you read it. Read it again before editing it.",
            "stale",
        )
    try:
        book = parse(before.text)
    except NotebookError as error:
        raise ToolError(
            f"{target.path} cannot be edited as a notebook: {error}. Nothing was changed; repair "
            "its text with Edit first.",
            "invalid_input",
        ) from error
    cell = _cell(input, target, book)
    if cell is not None:
        _require_shown(book, cell, target, seen)
    edits, name, kind = _change(input, book, cell, context.tool_use_id)
    old = None if input.edit_mode == "insert" else cell
    return _Plan(before, seen, edits, name, kind, book.language, old)


def _cell(input: NotebookEditInput, target: Target, book: Notebook) -> Cell | None:
    """The cell that the call names; None for an insert at the front."""
    if input.cell_id is None:
        if input.edit_mode == "insert":
            return None
        raise ToolError(f"cell_id is missing: which cell is to {input.edit_mode}?", "invalid_input")
    found = [cell for cell in book.cells if cell.id == input.cell_id]
    if len(found) == 1:
        return found[0]
    if found:
        raise ToolError(
            f"{target.path} has {len(found)} cells with the id {input.cell_id}; the file is "
            "unchanged. Give them ids of their own with Edit first.",
            "invalid_input",
        )
    names = ", ".join(cell.id for cell in book.cells[:NAMED_CELLS]) or "none"
    more = f" and {len(book.cells) - NAMED_CELLS} more" if len(book.cells) > NAMED_CELLS else ""
    raise ToolError(
        f"{target.path} has no cell with the id {input.cell_id}. Its cells are {names}{more}.",
        "not_found",
    )


def _require_shown(book: Notebook, cell: Cell, target: Target, seen: Seen) -> None:
    if not seen.covers(*book.lines(cell)):
        raise ToolError(
            f"The cell {cell.id} of {target.path} has not been read. Read it first, with "
            f"offset={cell.index + 1}.",
            "invalid_input",
        )


def _change(
    input: NotebookEditInput, book: Notebook, cell: Cell | None, key: str
) -> tuple[tuple[TextEdit, ...], str, str]:
    """The edits, and the cell's name and kind after them."""
    if input.edit_mode == "insert":
        if input.cell_type is None:
            raise ToolError("cell_type is missing: insert needs code or markdown.", "invalid_input")
        edits, name = inserted(book, cell, input.new_source, input.cell_type, key)
        return edits, name, input.cell_type
    assert cell is not None  # only an insert goes without one
    if input.edit_mode == "delete":
        return deleted(book, cell), cell.id, cell.kind
    kind = input.cell_type or cell.kind
    if (kind, input.new_source) == (cell.kind, cell.source):
        raise ToolError(f"The cell {cell.id} already reads so; nothing changed.", "invalid_input")
    return replaced(book, cell, input.new_source, kind), cell.id, kind


def _said(input: NotebookEditInput, target: Target, plan: _Plan) -> str:
    if input.edit_mode == "insert":
        where = f"behind {input.cell_id}" if input.cell_id else "at the front"
        return f"Inserted the {plan.kind} cell {plan.id} {where} in {target.path}."
    if input.edit_mode == "delete":
        return f"Deleted the cell {plan.id} of {target.path}."
    results = " Its old outputs were removed with its old text." if _had_outputs(plan) else ""
    return f"Replaced the text of the {plan.kind} cell {plan.id} in {target.path}.{results}"


def _had_outputs(plan: _Plan) -> bool:
    return plan.old is not None and bool(plan.old.value.get("outputs"))


def _data(input: NotebookEditInput, target: Target, plan: _Plan, after: str) -> dict[str, object]:
    data: dict[str, object] = {
        "new_source": input.new_source,
        "cell_id": plan.id,
        "cell_type": plan.kind,
        "language": plan.language,
        "edit_mode": input.edit_mode,
        "notebook_path": target.path,
        "original_file": plan.before.text,
        "updated_file": after,
    }
    if plan.old is not None:
        data["old_source"] = plan.old.source
    return data
