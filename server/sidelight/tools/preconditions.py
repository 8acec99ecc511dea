"""What must hold before a file is changed: it is text, and the model knows what is in it."""

from sidelight.core.errors import BinaryFileError, FileTooLargeError, ToolError
from sidelight.core.host import FileSnapshot, Host
from sidelight.core.ledger import FileLedger, Seen
from sidelight.core.tool import Shell
from sidelight.tools.target import Target, read_text


async def read_for_change(host: Host, target: Target, shell: Shell) -> FileSnapshot:
    """The file's text; raises ToolError, also for what is not text."""
    try:
        return await read_text(host, target, shell)
    except (BinaryFileError, FileTooLargeError) as error:
        raise ToolError(
            f"{error}. Edit and Write change text only; use a program for it.", "invalid_input"
        ) from error


def require_seen(ledger: FileLedger, target: Target) -> Seen:
    """How the model last saw the file; raises ToolError if it never did."""
    seen = ledger.seen(target.real)
    if seen is None:
        raise ToolError(
            f"{target.path} has not been read in this conversation. Read it first.",
            "invalid_input",
        )
    return seen


def require_encodable(name: str, text: str) -> None:
    """Refuse halves of surrogate pairs: no encoding of files holds them."""
    at = next((i for i, c in enumerate(text) if "\ud800" <= c <= "\udfff"), None)
    if at is not None:
        raise ToolError(
            f"{name} holds half of a surrogate pair (U+{ord(text[at]):04X}) at character {at}. "
            "Write the whole character.",
            "invalid_input",
        )
