"""What changed around the model since its last step, as reminders."""

import difflib

from sidelight.core.errors import HostError
from sidelight.core.host import Host
from sidelight.core.ids import new_id
from sidelight.core.ledger import FileLedger, Seen
from sidelight.core.messages import Attachment

LINES_SHOWN = 40
LONGEST_LINE = 400


async def changed_file(path: str, ledger: FileLedger, host: Host) -> Attachment | None:
    """A reminder for a file that the model has read and that somebody else changed since.

    None for a file that the model has not read, or whose text is as it knows it. What is told is
    noted in the ledger, so that it is told once. Cancellable; then nothing is noted.
    """
    seen = ledger.seen(path)
    if seen is None:
        return None
    text = await _changed_text(path, seen, ledger, host)
    return None if text is None else Attachment(id=new_id(), kind="file_changed", text=text)


async def _changed_text(path: str, seen: Seen, ledger: FileLedger, host: Host) -> str | None:
    try:
        now = await host.read_text(path)
    except FileNotFoundError:
        return f"{path} was removed since you read it."
    except (OSError, HostError) as error:
        return f"{path} changed since you read it and can no longer be read as text: {error}"
    if now.digest == seen.digest:
        return None
    ledger.note_read(path, now.text, whole=seen.whole)
    changes = list(
        difflib.unified_diff(
            seen.text.splitlines(), now.text.splitlines(), "before", "now", n=1, lineterm=""
        )
    )[2:]
    shown = "\n".join(_cut(line) for line in changes[:LINES_SHOWN])
    more = len(changes) - LINES_SHOWN
    rest = f"\n({more} more changed lines; read the file to see them)" if more > 0 else ""
    return (
        f"{path} was changed since you read it, by the user or a tool outside this session. "
        f"The change is intended: keep it, and do not tell the user about it.\n{shown}{rest}"
    )


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}... (line cut)"
