"""The one place that starts programs: in a group of their own, bounded in time and memory.

The event loop's own `wait` returns only when every holder of the pipes is gone, so this file
listens to the loop's subprocess protocol itself: a command is over when its leader has exited.
"""

import asyncio
import math
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import anyio

from sidelight.process import group
from sidelight.process.capture import Capture
from sidelight.process.guard import GUARD

PATIENCE = 0.3
"""Seconds that children of an ended command may still take to write their last words."""
LATE_BYTES = 1 << 20
TERM_GRACE = 0.5
KILL_WAIT = 5.0
POLL = 0.02
HIGH, LOW = 1 << 20, 1 << 18


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `exit_code` is None when `signal` ended it.

    `truncated` says that stdout or stderr lost its middle; `leftovers` that the command had left
    processes behind, which were ended.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    duration_s: float
    truncated: bool
    leftovers: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of output; `stream` is 1 for stdout, 2 for stderr."""

    stream: int
    data: bytes


class _Pipes(asyncio.SubprocessProtocol):
    """What the loop reports of one command; holds output back when nobody takes it."""

    def __init__(self, streams: set[int]) -> None:
        self.pieces: deque[Piece] = deque()
        self.open = streams
        self.exited = anyio.Event()
        self.lost = anyio.Event()
        self.news = anyio.Event()
        self._waiting = 0
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.pieces.append(Piece(fd, data))
        self._waiting += len(data)
        if self._waiting > HIGH:
            for pipe in self._readers():
                pipe.pause_reading()
        self.news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.open.discard(fd)
        self.news.set()

    def process_exited(self) -> None:
        self.exited.set()
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()

    def take(self) -> Piece:
        """The oldest piece not yet taken."""
        piece = self.pieces.popleft()
        self._waiting -= len(piece.data)
        if self._waiting < LOW:
            for pipe in self._readers():
                pipe.resume_reading()
        return piece

    def _readers(self) -> list[asyncio.ReadTransport]:
        if self._transport is None:
            return []
        pipes = [self._transport.get_pipe_transport(fd) for fd in self.open]
        return [cast("asyncio.ReadTransport", pipe) for pipe in pipes if pipe is not None]


class Child:
    """A running command; whoever started it calls `end`, however it went."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes) -> None:
        self._transport = transport
        self._pipes = pipes
        self._patience = PATIENCE
        self._late = 0
        self._started = anyio.current_time()
        self.pid = transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while running and after a signal."""
        code = self._transport.get_returncode()
        return code if code is not None and code >= 0 else None

    @property
    def signal(self) -> int | None:
        """The signal that ended the command, if one did."""
        code = self._transport.get_returncode()
        return -code if code is not None and code < 0 else None

    @property
    def duration_s(self) -> float:
        """Seconds since the start."""
        return anyio.current_time() - self._started

    async def next_output(self) -> Piece | None:
        """The next piece of output; None when the command has exited and all is read.

        Children that hold the pipes open are waited for `PATIENCE` seconds in all. May be
        cancelled and called again without loss.
        """
        while not self._pipes.pieces:
            if not self._pipes.open:
                await self._pipes.exited.wait()
                return None
            if not await self._news():
                return None
        piece = self._pipes.take()
        if self._pipes.exited.is_set():
            self._late += len(piece.data)
        return piece if self._late <= LATE_BYTES else None

    async def _news(self) -> bool:
        """Wait for something to happen; False when the command is over and has lost its turn."""
        over = self._pipes.exited.is_set()
        if over and self._patience <= 0:
            return False
        began = anyio.current_time()
        self._pipes.news = anyio.Event()
        with anyio.move_on_after(self._patience if over else math.inf):
            await self._pipes.news.wait()
        if over:
            self._patience -= anyio.current_time() - began
        return True

    def feed(self, data: bytes) -> None:
        """Write to the standard input of a command that was started with `hold`; never blocks."""
        pipe = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        if not pipe.is_closing():
            pipe.write(data)

    async def end(self) -> bool:
        """End what is left: TERM to the whole family, then KILL; True if anything was left.

        Never raises and cannot be cancelled; takes at most a few seconds. Calling it again does
        nothing.
        """
        left = False
        with anyio.CancelScope(shield=True):
            left = await self._outlives(self._patience if self._pipes.exited.is_set() else 0)
            if left:
                family = group.send(self.pid, signal.SIGTERM)
                if await self._outlives(TERM_GRACE, family):
                    group.send(self.pid, getattr(signal, "SIGKILL", signal.SIGTERM), family)
                    await self._outlives(PATIENCE, family)  # the kernel takes a moment
                with anyio.move_on_after(KILL_WAIT):
                    await self._pipes.exited.wait()
            self._patience = 0
            GUARD.forget(self.pid)
            self._transport.close()
            with anyio.move_on_after(KILL_WAIT):
                await self._pipes.lost.wait()
        return left

    async def _outlives(self, seconds: float, family: frozenset[int] = frozenset()) -> bool:
        """Whether any of the command's group or family is still there after so many seconds."""
        deadline = anyio.current_time() + seconds
        while not self._pipes.exited.is_set() or group.is_alive(self.pid, family):
            if anyio.current_time() >= deadline:
                return True
            await anyio.sleep(POLL)
        return False


async def start(
    command: Sequence[str] | str,
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes | None = None,
    hold: bool = False,
    merge: bool = False,
) -> Child:
    """Start a program (a sequence) or a line for `sh -c` (a string); the caller ends it.

    `stdin` is given to it in full, without one it reads end of file; with `hold` it stays open
    for `Child.feed`, and closes when this process ends, however it ends. `merge` sends stderr
    into stdout. Raises OSError when the program or `cwd` is not there or may not be run.
    """
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    pipes = _Pipes({1} if merge else {1, 2})
    loop = asyncio.get_running_loop()
    transport: asyncio.SubprocessTransport | None = None
    # Cancelled half-way, the loop would leave a process that nobody knows.
    GUARD.open()
    with anyio.CancelScope(shield=True):
        transport, _ = await loop.subprocess_exec(
            lambda: pipes,
            *words,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    assert transport is not None, "a shield swallows nothing"
    if stdin is not None:
        feed = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        feed.write(stdin)
        if not hold:
            feed.write_eof()
    child = Child(transport, pipes)
    GUARD.watch(child.pid)
    return child


async def run(
    command: Sequence[str] | str,
    *,
    cwd: str,
    env: Mapping[str, str],
    stdin: bytes | None = None,
    timeout: float | None = None,
    on_output: Callable[[bytes], None] | None = None,
    limit: int = 1 << 20,
) -> Finished:
    """Run a program (a sequence) or a line for `sh -c` (a string) to its end.

    `timeout` is in seconds from the start and covers everything; `limit` is in bytes for each of
    stdout and stderr, beyond it head and tail are kept. `on_output` sees every byte; what it
    raises ends the command. Cancelling ends the command with its whole family. Raises OSError
    when the program or `cwd` is not there or may not be run.
    """
    kept = {1: Capture(limit), 2: Capture(limit)}
    child = await start(command, cwd=cwd, env=env, stdin=stdin)
    leftovers = True
    try:
        with anyio.move_on_after(timeout) as clock:
            while (piece := await child.next_output()) is not None:
                kept[piece.stream].add(piece.data)
                if on_output is not None:
                    on_output(piece.data)
    finally:
        leftovers = await child.end()
    return Finished(
        exit_code=child.exit_code,
        signal=child.signal,
        stdout=kept[1].content(),
        stderr=kept[2].content(),
        timed_out=clock.cancelled_caught,
        duration_s=child.duration_s,
        truncated=any(capture.dropped for capture in kept.values()),
        leftovers=leftovers and not clock.cancelled_caught,
    )
