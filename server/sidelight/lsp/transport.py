"""Bytes in and out: a reader thread, a writer thread with back-pressure, and safe descriptors.

The library's own loop reads standard input in the thread pool that also runs handlers and writes
on the event loop, so a busy handler blocks input and a client that does not read freezes
everything. Here both ends have a thread of their own.
"""

import asyncio
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator

log = logging.getLogger(__name__)

CHUNK = 1 << 16
HIGH_WATER = 1 << 20
LOW_WATER = 1 << 18
LONGEST_HEADER = 1 << 16


class ConnectionLostError(Exception):
    """The client is gone, or it never was there."""


def claim_stdio() -> tuple[int, int]:
    """Take standard input and output for the protocol; returns the two descriptors.

    Descriptor 0 then reads nothing and 1 is a copy of 2, so that a stray `print` or a child
    process can neither eat nor spoil the protocol's bytes.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing


class FrameParser:
    """Cuts a byte stream into message bodies; what is no frame is logged and skipped."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._length: int | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Take a piece of the stream, of any size; yields the bodies that are complete."""
        self._waiting += chunk
        while True:
            if self._length is None and not self._take_header():
                return
            if self._length is None:
                continue
            if len(self._waiting) < self._length:
                return
            body = bytes(self._waiting[: self._length])
            del self._waiting[: self._length]
            self._length = None
            yield body

    def _take_header(self) -> bool:
        end = self._waiting.find(b"\r\n\r\n")
        if end < 0:
            if len(self._waiting) > LONGEST_HEADER:
                log.error("%d bytes of input are no message header", len(self._waiting))
                del self._waiting[:-3]
            return False
        header = bytes(self._waiting[:end])
        del self._waiting[: end + 4]
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                self._length = int(value)
        if self._length is None:
            log.error("a message header without Content-Length was skipped")
        return True


class Inbox:
    """Bodies on their way from the reader thread to the loop; None stands for the end of input.

    They can be looked at as soon as they are read, even when the loop was busy meanwhile.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._bodies: deque[bytes | None] = deque()
        self._arrived = asyncio.Event()

    def put(self, body: bytes | None) -> None:
        """Add a body, from any thread."""
        self._bodies.append(body)
        try:
            self._loop.call_soon_threadsafe(self._arrived.set)
        except RuntimeError:
            log.debug("input after the end")

    def take(self) -> Iterator[bytes | None]:
        """Everything that is here now."""
        while self._bodies:
            yield self._bodies.popleft()

    async def wait(self) -> None:
        """Until something is here; on the loop, for one waiter."""
        self._arrived.clear()
        if not self._bodies:
            await self._arrived.wait()


def start_reader(descriptor: int, inbox: Inbox) -> threading.Thread:
    """Read frames from a descriptor into the inbox, in a daemon thread."""

    def read() -> None:
        parser = FrameParser()
        try:
            while chunk := os.read(descriptor, CHUNK):
                for body in parser.feed(chunk):
                    inbox.put(body)
        except OSError as error:
            log.error("input failed: %s", error)
        finally:
            inbox.put(None)

    thread = threading.Thread(target=read, name="protocol-input", daemon=True)
    thread.start()
    return thread


class Output:
    """The writing end. `write` never blocks; whoever streams awaits `drain`."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self._descriptor = descriptor
        self._loop = loop
        self._changed = threading.Condition()
        self._pieces: deque[bytes] = deque()
        self._queued = 0
        self._waiters: list[asyncio.Future[None]] = []
        self._closing = False
        self.lost = False
        self._thread = threading.Thread(target=self._work, name="protocol-output", daemon=True)
        self._thread.start()

    @property
    def queued(self) -> int:
        """Bytes that the client has not taken yet."""
        return self._queued

    def write(self, data: bytes) -> None:
        """Queue bytes, from any thread; they are dropped when the client is gone."""
        with self._changed:
            if self.lost or self._closing:
                return
            self._pieces.append(data)
            self._queued += len(data)
            self._changed.notify()

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written; on the loop, cancellable."""
        with self._changed:
            if self.lost or self._queued <= HIGH_WATER:
                return
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
        await waiter

    def close(self, timeout: float) -> None:
        """Write what is queued, for at most `timeout` seconds, then stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout)

    def _work(self) -> None:
        while (data := self._next()) is not None:
            try:
                self._write_all(data)
            except OSError as error:
                log.warning("the client does not listen any more: %s", error)
                self._give_up()
                return

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._pieces:
                if self._closing:
                    return None
                self._changed.wait()
            taken: list[bytes] = []
            size = 0
            while self._pieces and size < HIGH_WATER:
                taken.append(self._pieces.popleft())
                size += len(taken[-1])
        return b"".join(taken)

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.write(self._descriptor, rest)
            rest = rest[written:]
            with self._changed:
                self._queued -= written
                if self._queued <= LOW_WATER:
                    self._wake()

    def _give_up(self) -> None:
        with self._changed:
            self.lost = True
            self._pieces.clear()
            self._queued = 0
            self._wake()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            try:
                self._loop.call_soon_threadsafe(_settle, waiter)
            except RuntimeError:
                return  # the loop is closed: nobody waits any more


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
