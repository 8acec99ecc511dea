"""What a tool call is called on the wire: its kind, and the files that it is about."""

from sidelight.core.content import Json, ToolUse

KINDS = {
    "Read": "read",
    "Edit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
    "Glob": "search",
    "Grep": "search",
    "Bash": "execute",
    "PowerShell": "execute",
    "Monitor": "execute",
    "WebFetch": "fetch",
}
PATH_FIELDS = ("file_path", "path", "notebook_path")


def kind_of(tool: str) -> str:
    """The protocol's word for what a tool does."""
    return KINDS.get(tool, "other")


def locations_of(call: ToolUse) -> list[Json]:
    """The file that a call names, with the line from which it reads."""
    for name in PATH_FIELDS:
        path = call.input.get(name)
        if isinstance(path, str) and path:
            line = call.input.get("offset")
            known = isinstance(line, int) and not isinstance(line, bool) and line >= 0
            known = known and not path.endswith(".ipynb")  # there it counts cells
            return [{"path": path, "line": line}] if known else [{"path": path}]
    return []
