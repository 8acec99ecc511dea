"""What joins a session's history before its next step; a cancel must lose nothing of it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import get_args

from sidelight.agent.turn import Arrived
from sidelight.background.tasks import Background
from sidelight.context.attachments import changed_file
from sidelight.core.decision import Mode
from sidelight.core.host import Host
from sidelight.core.ids import new_id
from sidelight.core.ledger import FileLedger
from sidelight.core.messages import Attachment, Message, Origin
from sidelight.review.ledger import ReviewLedger
from sidelight.session.inbox import Inbox, Waiting
from sidelight.session.moments import Moments

MODE = "mode-"
"""Kinds of reminders about the mode begin so; the mode itself follows."""
TASK = "task-"
"""Kinds of reminders about a background task begin so; its id follows."""


class Arrivals:
    """Gathers reminders and prompts. What was gathered and has not joined yet is in `left`.

    `opening` gives the reminders that go ahead of the first prompt, `mode_reminder` what the
    model is told when the mode changed (old, new), `erase` forgets a prompt that a hook refused.
    `history` is what an old conversation holds. The first turn of a process is where SessionStart
    happens: a window that only opens runs nothing.
    """

    def __init__(
        self,
        inbox: Inbox,
        ledger: FileLedger,
        review: ReviewLedger,
        *,
        moments: Moments,
        model: Callable[[], str],
        erase: Callable[[Waiting, str], Awaitable[None]],
        opening: Callable[[], Awaitable[Sequence[Attachment]]],
        mode_reminder: Callable[[Mode, Mode], str | None],
        background: Background,
        history: Sequence[Message],
    ) -> None:
        self._inbox = inbox
        self._ledger = ledger
        self._review = review
        self._moments = moments
        self._model = model
        self._erase = erase
        self._opening = opening
        self._mode_reminder = mode_reminder
        self._background = background
        kinds = [message.kind for message in history if isinstance(message, Attachment)]
        told = [mode for kind in kinds for mode in get_args(Mode) if kind == MODE + mode]
        self._told_mode: Mode = told[-1] if told else "default"
        self._opened = self._resumed = bool(history)
        self.begun = False
        self._touched: set[str] = set()
        self._left: list[Message] = []
        self._first_step = True

    def begin(self) -> None:
        """A turn begins: the prompts of its first step were typed, later ones steer."""
        self._first_step = True

    def touch(self, path: str) -> None:
        """The file may be another one than the model knows."""
        self._touched.add(path)

    async def gather(self, mode: Mode, host: Host) -> Arrived:
        """What joins now: reminders first, then prompts. Cancellable; nothing is lost then."""
        if self._first_step:
            await self._moments.agree(host)
        if not self.begun:
            source = "resume" if self._resumed else "startup"
            self._left.extend(await self._moments.begin(source, self._model()))
            self.begun = True
        if not self._opened:
            self._left.extend(await self._opening())
            self._opened = True
        for path in sorted(self._touched):
            await self._look_at(path, host)
        self._left.extend(self._news(mode))
        refused = await self._prompts("typed" if self._first_step else "steering")
        first, self._first_step = self._first_step, False
        return Arrived(tuple(self._left), refused if first else None)

    async def _prompts(self, origin: Origin) -> str | None:
        """Take up the prompts that hooks let pass; why none joined, if that is so."""
        refused: list[str] = []
        passed = False
        for waiting in self._inbox.fresh():
            judged = await self._moments.judge(waiting)
            if judged.refused is not None:
                refused.append(judged.refused)
                await self._erase(waiting, judged.refused)
            elif self._inbox.take(waiting):
                passed = True
                self._left += [waiting.message(origin), *judged.beside]
        return refused[-1] if refused and not passed else None

    def joined(self, message: Message) -> None:
        """The message is in the history."""
        self._left = [left for left in self._left if left.id != message.id]

    def give_up(self, own: Waiting) -> tuple[Message, ...]:
        """The turn is over: what must still join, its own prompt included; empties `left`.

        A prompt that hooks have not seen waits for the next turn, where they will.
        """
        left, self._left = tuple(self._left), []
        if not self._moments.judges_prompts and self._inbox.take(own):
            left = (*left, own.message("typed"))
        return left

    async def _look_at(self, path: str, host: Host) -> None:
        self._touched.discard(path)
        try:
            reminder = await changed_file(path, self._ledger, host)
        except BaseException:
            self._touched.add(path)
            raise
        if reminder is not None:
            self._left.append(reminder)

    def _news(self, mode: Mode) -> list[Attachment]:
        """What the model must hear once: of the user's undoing, background tasks, the mode."""
        news = [
            Attachment(id=new_id(), kind="review", text=text) for text in self._review.take_news()
        ]
        news += [
            Attachment(id=new_id(), kind=TASK + told.task_id, text=told.text)
            for told in self._background.take_news()
        ]
        if mode != self._told_mode:
            text = self._mode_reminder(self._told_mode, mode)
            if text:
                news.append(Attachment(id=new_id(), kind=MODE + mode, text=text))
            self._told_mode = mode
        return news
