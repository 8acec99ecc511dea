"""Holds a session between two steps."""

import anyio

from sidelight.core.events import Notice, PauseChanged, Sink
from sidelight.session.moments import Moments


class Gate:
    """Open unless somebody holds it. All methods run on one event loop."""

    def __init__(self) -> None:
        self._open = anyio.Event()
        self._open.set()

    @property
    def held(self) -> bool:
        """Whether the next step has to wait."""
        return not self._open.is_set()

    def hold(self) -> None:
        """Close it; what runs ends first."""
        if not self.held:
            self._open = anyio.Event()

    def release(self) -> None:
        """Open it."""
        self._open.set()

    async def passed(self) -> None:
        """Wait until it is open; cancellable."""
        await self._open.wait()


class Pause:
    """The gate of one session, with what people and hooks are told."""

    def __init__(self, gate: Gate, moments: Moments, tell: Sink) -> None:
        self._gate = gate
        self._moments = moments
        self._tell = tell

    async def hold(self) -> None:
        """What runs ends, the next step waits for `release` or the end of the turn."""
        if not self._gate.held:
            self._gate.hold()
            await self._tell(PauseChanged(paused=True))
            await self._tell(Notice(severity="info", text="Paused: the next step waits."))
            await self._moments.fire("SessionPause", {})

    async def release(self) -> None:
        """Let a held turn go on, once the hooks have run."""
        if self._gate.held:
            await self._moments.fire("SessionResume", {})
            self._gate.release()
            await self._tell(PauseChanged(paused=False))
            await self._tell(Notice(severity="info", text="Going on."))
