"""Which hooks of a trusted folder may run: those that the person has let run as they are now."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from sidelight.core.decision import Allow
from sidelight.core.host import UserOption, UserQuestion
from sidelight.core.ids import new_id
from sidelight.permissions.trust import FOLDER_SOURCES, StartUp, judge_start
from sidelight.session.moments import LET_RUN, NOT_NOW
from sidelight.settings.approved import approve, approved, digest_of
from sidelight.settings.schema import HookEntry
from sidelight.wire.visible import visible

log = logging.getLogger(__name__)

TITLE = "Hooks of this folder are new or changed since you trusted it. Let them run?"
DETAIL = "They run commands on this computer:\n{hooks}"
LABELS = ("Let them run", "Not now")
LONGEST = 500
MOST_SHOWN = 12


class HookConsent:
    """One session's. Trusting a folder covers the hooks that it has when it is first looked at.

    `for_this_run` lets all run and remembers nothing: the person has just said so. Whoever owns
    this sets `on_change`, which is called when more hooks may run.
    """

    def __init__(
        self, state_home: Path, folder: str, *, trusted: bool, for_this_run: bool = False
    ) -> None:
        self._state_home, self._folder = state_home, folder
        self._trusted, self._for_this_run = trusted, for_this_run
        self.on_change: Callable[[], None] = lambda: None
        self._held: tuple[HookEntry, ...] = ()
        self._refused: frozenset[str] = frozenset()

    def may_run(self, entries: Sequence[HookEntry]) -> tuple[HookEntry, ...]:
        """Those that may run now; the others are held back. Blocks: reads our own state."""
        if self._for_this_run:
            return tuple(entries)
        known = approved(self._state_home, self._folder)
        if known is None and self._trusted:
            brought = [entry for entry in entries if entry.source in FOLDER_SOURCES]
            known = frozenset(map(digest_of, brought))
            self._remember(brought)
        allowed = tuple(e for e in entries if _allowed(e, known or frozenset(), self._trusted))
        self._held = tuple(entry for entry in entries if entry not in allowed)
        return allowed

    def notice(self) -> str:
        """A sentence about what is held back; empty when nothing is."""
        if not self._held:
            return ""
        named = ", ".join(f"{e.event} in {e.path}" for e in dict.fromkeys(self._held))
        return (
            f"Hooks of this folder are new or changed since you trusted it, so they do not run: "
            f"{named}. Look at them; at your next prompt you are asked, or `sidelight trust` "
            "lets them run."
        )

    def question(self) -> UserQuestion | None:
        """What to ask before the next turn; None when there is nothing (more) to ask."""
        asked = frozenset(map(digest_of, self._held))
        if not asked - self._refused:
            return None
        lines = [_line(entry) for entry in self._held[:MOST_SHOWN]]
        if len(self._held) > MOST_SHOWN:
            lines.append(f"… +{len(self._held) - MOST_SHOWN}")
        return UserQuestion(
            id=new_id(),
            title=TITLE,
            detail=DETAIL,
            options=(
                UserOption(id=LET_RUN, label=LABELS[0]),
                UserOption(id=NOT_NOW, label=LABELS[1]),
            ),
            fields={"hooks": "\n".join(lines)},
        )

    def let_run(self) -> None:
        """The person agreed. Blocks: writes our own state."""
        self._remember(self._held)
        self.on_change()

    def refuse(self) -> None:
        """The person wants none of them in this session."""
        self._refused |= frozenset(map(digest_of, self._held))

    def _remember(self, entries: Sequence[HookEntry]) -> None:
        try:
            approve(self._state_home, self._folder, entries)
        except OSError as error:
            log.error("what hooks may run could not be kept: %s", error)


def _allowed(entry: HookEntry, known: frozenset[str], trusted: bool) -> bool:
    digest = digest_of(entry)
    start = StartUp(
        action="run_hook",
        source=entry.source,
        digest=digest,
        approved=digest if digest in known else None,
    )
    return isinstance(judge_start(start, trusted), Allow)


def _line(entry: HookEntry) -> str:
    """Event, matcher and the whole command, so far as a person can read it."""
    handler = entry.handler
    words = visible(" ".join((handler.command or handler.type, *(handler.args or ()))))
    if len(words) > LONGEST:
        half = LONGEST // 2
        words = f"{words[:half]} … {words[-half:]} ({len(words)} characters, see {entry.path})"
    matcher = f" ({visible(entry.matcher)})" if entry.matcher else ""
    return f"{entry.event}{matcher}: {words}"
