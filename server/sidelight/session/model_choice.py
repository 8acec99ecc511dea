"""Another model for a conversation: between two turns, on disk before it counts."""

from collections.abc import Callable

import anyio

from sidelight.core.errors import AgentError
from sidelight.core.model import SystemPrompt
from sidelight.session.recorder import Recorder
from sidelight.transcripts.entry import Opened

BUSY = "A turn is running; choose another model when it has ended, or stop it."


async def choose(
    opened: Opened,
    model: str,
    turns: anyio.Lock,
    recorder: Recorder,
    system_for: Callable[[str], SystemPrompt],
) -> Opened:
    """What the conversation sends from here on; raises AgentError while a turn runs.

    The prefix is written anew, as it names the model; nothing of it is cached there anyway.
    """
    try:
        turns.acquire_nowait()
    except anyio.WouldBlock:
        raise AgentError(BUSY) from None
    try:
        system = await anyio.to_thread.run_sync(system_for, model)
        await recorder.model(model, system)
        return opened.model_copy(update={"model": model, "system": system})
    finally:
        turns.release()
