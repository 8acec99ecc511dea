"""What is piped into a run besides its task."""

import select
import stat
import sys
from os import fstat

PATIENCE_S = 3.0
LONGEST_INPUT = 10_000_000


def piped_text(*, needed: bool) -> str | None:
    """The text on standard input, "" when nothing was piped; blocks until it ends.

    When it is not `needed` and a pipe stays silent for some seconds, None: whoever started us may
    never close it. Raises ValueError for text that is no UTF-8 or too long.
    """
    source = sys.stdin
    if source is None or source.closed or source.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        return ""
    if not needed and not _speaks(source.fileno()):
        return None
    text = source.read(LONGEST_INPUT + 1)
    if len(text) > LONGEST_INPUT:
        raise ValueError(f"standard input is longer than {LONGEST_INPUT} characters")
    return text


def _speaks(number: int) -> bool:
    """Whether something to read, or the end, comes soon."""
    if stat.S_ISREG(fstat(number).st_mode):
        return True
    if sys.platform == "win32":
        return False  # a pipe there cannot be waited for
    readable, _, _ = select.select([number], [], [], PATIENCE_S)
    return bool(readable)
