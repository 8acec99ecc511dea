"""What became of a change: the text as the host says it is now, or why there is none."""

from sidelight.core.errors import ToolError, ToolErrorKind
from sidelight.core.host import EditOutcome, FileSnapshot
from sidelight.tools.target import Target


def saved(target: Target, outcome: EditOutcome, expected: str) -> tuple[FileSnapshot, list[str]]:
    """The file after saving, and remarks for the model where it is not what was written."""
    remarks = [outcome.note] if outcome.note else []
    after = next((s for s in outcome.after if s.path == target.path), None)
    if after is None:
        raise ToolError(
            f"The editor says that {target.path} was changed, but not what is in it now. "
            "Read it before going on."
        )
    if after.text != expected:
        remarks.append(
            "On saving, the file was changed further (a formatter, most likely). What is shown "
            "here is the file as it is now."
        )
    return after, remarks


def refusal(target: Target, outcome: EditOutcome) -> ToolError:
    """The error for an edit that the host did not apply."""
    detail = outcome.detail.rstrip(".") or "the editor gave no reason"
    kinds: dict[str, tuple[ToolErrorKind, str]] = {
        "stale": ("stale", "Read it again before the next try."),
        "gone": ("not_found", "Use Write if it is to be made anew."),
    }
    kind, advice = kinds.get(outcome.failure, ("failed", ""))
    return ToolError(f"{target.path} was not changed: {detail}. {advice}".rstrip(), kind)
