"""Lines of a watched command that wait to be told, within bounds."""

from sidelight.core.content import mended

MOST_LINES = 100
LONGEST_LINE = 500
LONGEST_OPEN = 100_000


class Lines:
    """Splits text into lines and keeps the newest ones; counts what it had to drop."""

    def __init__(self) -> None:
        self._open = ""
        self._lines: list[str] = []
        self._dropped = 0

    @property
    def waiting(self) -> bool:
        """Whether there is a line to tell."""
        return bool(self._lines)

    def feed(self, text: str) -> None:
        """Take the next piece; what has no line end yet waits for it."""
        *whole, rest = (self._open + text).split("\n")
        self._open = rest[:LONGEST_OPEN]
        for line in whole:
            self._add(line)

    def close(self) -> None:
        """No more will come: the open line is one."""
        self._add(self._open)
        self._open = ""

    def take(self) -> str:
        """What waits, as text; empties it."""
        lines, dropped = self._lines, self._dropped
        self._lines, self._dropped = [], 0
        note = [f"[... {dropped} earlier lines left out ...]"] if dropped else []
        return "\n".join((*note, *lines))

    def _add(self, line: str) -> None:
        if not line.strip():
            return
        cut = line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}... (line cut)"
        self._lines.append(mended(cut.rstrip("\r")))
        if len(self._lines) > MOST_LINES:
            del self._lines[0]
            self._dropped += 1
