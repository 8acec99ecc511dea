"""Edit: replace one exact text in a file by another."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.errors import HostError, ToolError
from sidelight.core.host import EditOutcome, FileEdit, FileSnapshot, TextEdit
from sidelight.core.ledger import Seen
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.files.disk import apply_text_edits
from sidelight.tools.preconditions import read_for_change, require_encodable, require_seen
from sidelight.tools.saved import refusal, saved
from sidelight.tools.target import Target, target_of, write_access
from sidelight.tools.text.diagnosis import explain_missing
from sidelight.tools.text.lines import View, line_at
from sidelight.tools.text.match import Found, Span, apart, find
from sidelight.tools.text.patch import (
    carried,
    changed_count,
    changed_lines,
    difference,
    structured_patch,
)
from sidelight.tools.text.splice import splice

FURTHER_TRIES = 2
SHOWN_LINES = 60
OTHER_LINES = 200
NAMED_PLACES = 20


class EditInput(PlainRecord):
    """What to replace by what."""

    file_path: str = Field(description="Absolute path of the file")
    old_string: str = Field(description="The exact text to replace, without line numbers")
    new_string: str = Field(description="The text to put in its place; must differ")
    replace_all: bool = Field(
        False, description="Replace every occurrence instead of requiring exactly one"
    )


@dataclass(frozen=True, slots=True)
class _Plan:
    """An edit worked out against one state of the file."""

    before: FileSnapshot
    seen: Seen
    edits: tuple[TextEdit, ...]
    lines: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def expected(self) -> str:
        return apply_text_edits(self.before.text, self.edits)


class EditTool:
    """Replaces text through the host; the file must have been read before."""

    name = "Edit"
    input_type = EditInput

    def summary(self, input: EditInput) -> str:
        """The path."""
        return input.file_path

    def touches(self, input: EditInput, shell: Shell) -> Sequence[Access]:
        """The file, written."""
        return write_access(target_of(input.file_path, shell))

    async def preview(self, input: EditInput, context: ToolContext) -> Sequence[FileEdit]:
        """The edit for the present text; raises ToolError where `run` would."""
        target = target_of(input.file_path, context.shell)
        return (_file_edit(target, await _plan(input, target, context)),)

    async def run(
        self, input: EditInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """Apply the edit, worked out anew if the file changes meanwhile; raises ToolError."""
        target = target_of(input.file_path, context.shell)
        plan = await _plan(input, target, context)
        outcome = await _apply(target, plan, context)
        for _ in range(FURTHER_TRIES):
            if outcome.failure != "stale":
                break
            plan = await _plan(input, target, context)
            outcome = await _apply(target, plan, context)
        if not outcome.applied:
            raise refusal(target, outcome)
        yield _report(input, target, plan, outcome, context)


async def _apply(target: Target, plan: _Plan, context: ToolContext) -> EditOutcome:
    try:
        return await context.host.apply_edit((_file_edit(target, plan),), f"Edit {target.path}")
    except HostError as error:
        raise ToolError(f"{target.path} was not changed: {error}") from error


def _file_edit(target: Target, plan: _Plan) -> FileEdit:
    return FileEdit(path=target.path, base=plan.before.digest, edits=plan.edits)


async def _plan(input: EditInput, target: Target, context: ToolContext) -> _Plan:
    _check_input(input)
    before = await read_for_change(context.host, target, context.shell)
    seen = require_seen(context.ledger, target)
    view = View.of(before.text)
    found = find(view, input.old_string, input.new_string)
    if not found.places:
        raise _missing(input, target, before, seen)
    if len(found.places) > 1 and not input.replace_all:
        raise _ambiguous(target, view, found)
    notes: list[str] = []
    if seen.digest != before.digest:
        notes.append(_other_changes(target, seen, before, found))
    _require_shown(input, target, seen)
    if found.stripped:
        notes.append("Line numbers copied from the Read view were taken off both strings.")
    places = apart(found.places)
    edits = splice(view, places, found.new, literal=found.literal)
    if not edits:
        raise ToolError(f"The text was found, and {target.path} already reads so.", "invalid_input")
    lines = tuple(line_at(view.text, place.start) for place in places)
    return _Plan(before, seen, edits, lines, tuple(notes))


def _check_input(input: EditInput) -> None:
    if not input.old_string:
        raise ToolError(
            "old_string is empty, which matches everywhere. Name the text next to which something "
            "is to be added, or use Write for a new file.",
            "invalid_input",
        )
    if input.old_string == input.new_string:
        raise ToolError(
            "old_string and new_string are equal; nothing would change.", "invalid_input"
        )
    require_encodable("new_string", input.new_string)


def _missing(input: EditInput, target: Target, before: FileSnapshot, seen: Seen) -> ToolError:
    why = explain_missing(before.text, input.old_string, input.new_string)
    text = f"old_string was not found in {target.path}; the file is unchanged. {why}"
    if seen.digest != before.digest:
        return ToolError(f"{text}\nThe file has changed since you read it: Read it again.", "stale")
    return ToolError(text, "not_found")


def _ambiguous(target: Target, view: View, found: Found) -> ToolError:
    lines = [line_at(view.text, place.start) for place in found.places]
    named = ", ".join(str(line) for line in lines[:NAMED_PLACES])
    more = f" and {len(lines) - NAMED_PLACES} more" if len(lines) > NAMED_PLACES else ""
    return ToolError(
        f"old_string occurs {len(lines)} times in {target.path} (lines {named}{more}); the file is "
        "unchanged. Add a neighbouring line or two so that it is unique, or set replace_all to "
        "change every one.",
        "invalid_input",
    )


def _other_changes(target: Target, seen: Seen, before: FileSnapshot, found: Found) -> str:
    """What else changed since the model read the file; raises ToolError if that is too much."""
    stale = f"{target.path} has changed since you read it. Read it again before editing it."
    if len(found.places) != 1:
        raise ToolError(stale, "stale")
    if changed_count(seen.text, before.text) > OTHER_LINES:
        raise ToolError(stale, "stale")
    shown = changed_lines(difference(seen.text, before.text), 1, 4 * OTHER_LINES)
    return (
        "The file had changed since you read it, by the user or a program; those changes are "
        f"kept. They are, as lines of the file before this edit:\n{shown}"
    )


def _require_shown(input: EditInput, target: Target, seen: Seen) -> None:
    """After a partial view only what was in view may be edited."""
    if seen.whole:
        return
    view = View.of(seen.text)
    found = find(view, input.old_string, input.new_string)
    if found.places and all(_in_view(seen, view, place) for place in found.places):
        return
    parts = ", ".join(f"{first}-{last}" for first, last in seen.lines) or "none"
    lines = ", ".join(str(line_at(view.text, place.start)) for place in found.places[:NAMED_PLACES])
    where = f" (lines {lines})" if lines else ""
    raise ToolError(
        f"Only lines {parts} of {target.path} have been read, and old_string lies outside of "
        f"them{where}. Read that part first.",
        "invalid_input",
    )


def _in_view(seen: Seen, view: View, place: Span) -> bool:
    last = line_at(view.text, max(place.end - 1, place.start))
    return seen.covers(line_at(view.text, place.start), last)


def _report(
    input: EditInput, target: Target, plan: _Plan, outcome: EditOutcome, context: ToolContext
) -> ToolOutput:
    before = plan.before.text
    snapshot, remarks = saved(target, outcome, plan.expected)
    after, seen = snapshot.text, plan.seen
    lines = None if seen.whole else carried(seen.lines, seen.text, after)
    context.ledger.note_write(target.real, after, digest=snapshot.digest, lines=lines)
    places = ", ".join(str(line) for line in plan.lines[:NAMED_PLACES])
    many = f"{len(plan.lines)} places, first in" if len(plan.lines) > NAMED_PLACES else "in"
    head = f"Edited {target.path}, {many} line{'s' if len(plan.lines) > 1 else ''} {places}."
    differs = difference(before, after)
    shown = changed_lines(differs, 2, SHOWN_LINES)
    text = "\n\n".join(part for part in (head, shown, *remarks, *plan.notes) if part)
    return ToolOutput.of(
        text,
        paths_changed=(target.path,),
        data={
            "filePath": target.path,
            "oldString": input.old_string,
            "newString": input.new_string,
            "originalFile": before,
            "structuredPatch": structured_patch(differs),
            "userModified": False,
            "replaceAll": input.replace_all,
        },
    )
