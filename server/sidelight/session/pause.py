"""Holds a session between two steps."""

import anyio


class Pause:
    """A gate that is open unless somebody holds it. All methods run on one event loop."""

    def __init__(self) -> None:
        self._open = anyio.Event()
        self._open.set()

    @property
    def held(self) -> bool:
        """Whether the next step has to wait."""
        return not self._open.is_set()

    def hold(self) -> None:
        """Close the gate; what runs ends first."""
        if not self.held:
            self._open = anyio.Event()

    def release(self) -> None:
        """Open it."""
        self._open.set()

    async def passed(self) -> None:
        """Wait until it is open; cancellable."""
        await self._open.wait()
