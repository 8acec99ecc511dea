"""A bounded memory of a stream: its beginning and its end."""


class Capture:
    """Keeps at most `limit` bytes: all of a short stream, head and tail of a long one."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self.total += len(data)
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Cut in large steps: cutting at each piece would copy the tail each time.
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit or None]

    @property
    def dropped(self) -> int:
        """How many bytes of the middle are not kept."""
        return max(0, self.total - self._head_limit - self._tail_limit)

    def content(self) -> bytes:
        """What is kept; a line in the place of the missing middle says how much is missing."""
        tail = bytes(self._tail[-self._tail_limit :]) if self._tail_limit else b""
        if not self.dropped:
            return bytes(self._head) + tail
        return bytes(self._head) + b"\n[... %d bytes left out ...]\n" % self.dropped + tail
