"""Changes of prompts that wait: on disk first, as when they were typed."""

from collections.abc import Callable, Sequence

from sidelight.core.content import UserBlock
from sidelight.core.events import TurnEnded
from sidelight.core.ids import new_id
from sidelight.session.inbox import Inbox
from sidelight.session.recorder import Recorder

Change = Callable[[Sequence[UserBlock]], Sequence[UserBlock]]


async def edit(inbox: Inbox, recorder: Recorder, prompt_id: str, change: Change) -> bool:
    """Give a prompt other content; False when a turn has taken it up already."""
    waiting = inbox.find(prompt_id)
    if waiting is None:
        return False
    waiting.content = tuple(change(waiting.content))
    await recorder.prompt(waiting.id, waiting.content)
    return True


async def remove(inbox: Inbox, recorder: Recorder, prompt_id: str) -> bool:
    """Take a prompt back; False when a turn has taken it up already.

    Whoever waits for it gets `cancelled` when the turn before it is over.
    """
    waiting = inbox.find(prompt_id)
    if waiting is None:
        return False
    inbox.drop(waiting, TurnEnded(turn_id=new_id(), reason="cancelled"))
    await recorder.dropped(waiting.id)
    return True
