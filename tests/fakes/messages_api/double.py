"""The double as tests hold it: a Messages API on a loopback port, run by a thread of its own.

with running_double([reply(text("Hel", gate("more"), "lo")), reply("Bye")]) as double:
    client = AsyncAnthropic(base_url=double.base_url, api_key=double.api_key)
    ...                               # the code under test asks in a task of its own
    await double.until_gate("more")   # "Hel" is out, the stream stands still
    double.open("more")
    assert double.prefix_problems() == []
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio.to_thread

from tests.fakes.messages_api.binding import Memory
from tests.fakes.messages_api.cache import PromptCache
from tests.fakes.messages_api.connection import Listener
from tests.fakes.messages_api.models import Model
from tests.fakes.messages_api.playlist import Entry, Playlist
from tests.fakes.messages_api.prefix import prefix_problems
from tests.fakes.messages_api.request import Json, Problem, Request
from tests.fakes.messages_api.script import HttpError, Script
from tests.fakes.messages_api.server import Outcome, Service, State

API_KEY = "sk-ant-test-key"


class DoubleFailure(AssertionError):
    """The code under test asked for what the script did not foresee, or broke the API's rules."""


class Double:
    """A running double. All properties may be read, and all methods called, from any thread."""

    def __init__(self, script: Script, *, strict: bool = True, api_key: str = API_KEY) -> None:
        self._state = State(Playlist(script), api_key, strict)
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service = Service(self._state, self._notify)
        self._listener = Listener(self._service.serve)
        self.base_url = ""

    def start(self, port: int = 0) -> None:
        """Listen on loopback; 0 takes a free port. Returns when connections are accepted.

        Raises OSError when the port is taken.
        """
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="messages-api-double", daemon=True
        )
        self._thread.start()
        listening = asyncio.run_coroutine_threadsafe(self._listener.start(port), self._loop)
        try:
            self.base_url = f"http://127.0.0.1:{listening.result(5)}"
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Break off whatever is being answered, free the port and end the thread."""
        if self._thread is None or self._loop is None:
            return
        asyncio.run_coroutine_threadsafe(self._listener.close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()
        self._thread = self._loop = None

    @property
    def api_key(self) -> str:
        """The one credential that is accepted; may be set at any time."""
        return self._state.api_key

    @api_key.setter
    def api_key(self, value: str) -> None:
        self._state.api_key = value

    @property
    def all_requests(self) -> list[Request]:
        """Every request but those to /_control, in order of arrival."""
        return list(self._state.requests)

    @property
    def requests(self) -> list[Request]:
        """The requests to POST /v1/messages, refused ones included, in order of arrival."""
        return [r for r in self.all_requests if (r.method, r.path) == ("POST", "/v1/messages")]

    @property
    def refusals(self) -> list[tuple[Request, Problem]]:
        """Requests that broke a rule of the API, and the rule's words."""
        return list(self._state.refusals)

    @property
    def failures(self) -> list[str]:
        """What went wrong with the script itself: it ran out, or one of its functions raised."""
        return list(self._state.failures)

    @property
    def connections(self) -> int:
        """How many connections were accepted; a client that reuses one makes no second."""
        return self._listener.accepted

    @property
    def unplayed(self) -> int:
        """How many replies of the script were not asked for."""
        return self._state.playlist.unplayed

    @property
    def memory(self) -> Memory:
        """What the double remembers of its replies, to hand to `check_request`."""
        return self._state.memory

    @property
    def models(self) -> dict[str, Model]:
        """The models that are served and listed; a test may add, replace and remove some."""
        return self._state.memory.models

    @property
    def models_error(self) -> HttpError | None:
        """What GET /v1/models answers instead of the list; may be set at any time."""
        return self._state.models_error

    @models_error.setter
    def models_error(self, answer: HttpError | None) -> None:
        self._state.models_error = answer

    @property
    def usages(self) -> list[Json]:
        """The usage that each answered message request was told, in order of arrival."""
        return [usage for _, usage in sorted(self._state.usages.items())]

    def know_again(self, other: Double) -> None:
        """Take over what another double remembers of its replies, as one service restarted."""
        self._state.memory.thinking.update(other.memory.thinking)
        self._state.memory.paused.update(other.memory.paused)
        self._state.memory.block_types.update(other.memory.block_types)

    @property
    def cache(self) -> PromptCache:
        """The prompt cache that `usage` accounts; its entries expire when a test says so."""
        return self._state.cache

    def outcome(self, request: Request) -> Outcome | None:
        """How the answer to a request ended, or None while it is under way."""
        return self._state.outcomes.get(request.number)

    def prefix_problems(self, where: Callable[[Request], bool] | None = None) -> list[str]:
        """Where a request did not extend the one before it, among the accepted ones in `where`."""
        refused = {request.number for request, _ in self.refusals}
        chosen = [r for r in self.requests if r.number not in refused and (not where or where(r))]
        return prefix_problems(chosen)

    def add(self, *entries: Entry) -> None:
        """Append replies to the script."""
        self._state.playlist.add(entries)

    def open(self, *names: str) -> None:
        """Open gates for good; streams that wait there go on."""
        if self._loop is None:
            raise RuntimeError("The double is not running.")
        for name in names:
            self._loop.call_soon_threadsafe(self._service.open_gate, name)

    def wait_for_requests(self, count: int, timeout: float = 5.0) -> None:
        """Block until so many requests have arrived at /v1/messages. Raises TimeoutError."""
        self._wait(lambda: len(self.requests) >= count, f"{count} requests", timeout)

    def wait_for_gate(self, name: str, timeout: float = 5.0) -> None:
        """Block until a stream has sent all before the gate and waits. Raises TimeoutError."""
        self._wait(lambda: name in self._state.waiting_at, f"a stream at gate {name!r}", timeout)

    def wait_for_outcome(self, number: int, timeout: float = 5.0) -> Outcome:
        """Block until request `number` of `requests` is over; gives how. Raises TimeoutError."""

        def over() -> bool:
            return len(self.requests) > number and self.outcome(self.requests[number]) is not None

        self._wait(over, f"the end of request {number}", timeout)
        outcome = self.outcome(self.requests[number])
        assert outcome is not None
        return outcome

    async def until_requests(self, count: int, timeout: float = 5.0) -> None:
        """`wait_for_requests` for async tests."""
        await anyio.to_thread.run_sync(
            self.wait_for_requests, count, timeout, abandon_on_cancel=True
        )

    async def until_gate(self, name: str, timeout: float = 5.0) -> None:
        """`wait_for_gate` for async tests."""
        await anyio.to_thread.run_sync(self.wait_for_gate, name, timeout, abandon_on_cancel=True)

    async def until_outcome(self, number: int, timeout: float = 5.0) -> Outcome:
        """`wait_for_outcome` for async tests."""
        return await anyio.to_thread.run_sync(
            self.wait_for_outcome, number, timeout, abandon_on_cancel=True
        )

    def check(self, *, allow_refusals: bool = False) -> None:
        """Raise DoubleFailure when the script failed or, unless allowed, a request was refused."""
        problems = self.failures
        if not allow_refusals:
            problems += [
                f"request {request.number} was refused with {problem.status}: {problem.message}"
                for request, problem in self.refusals
            ]
        if problems:
            raise DoubleFailure("; ".join(problems))

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _wait(self, reached: Callable[[], bool], what: str, timeout: float) -> None:
        with self._changed:
            if self._changed.wait_for(reached, timeout):
                return
        raise TimeoutError(
            f"No {what} within {timeout:g} s; seen {len(self.requests)} requests, "
            f"gates reached {self._state.waiting_at}, failures {self.failures}, "
            f"refusals {[problem.message for _, problem in self.refusals]}"
        )


@contextmanager
def running_double(
    script: Script = (),
    *,
    strict: bool = True,
    api_key: str = API_KEY,
    allow_refusals: bool = False,
) -> Generator[Double]:
    """Run a double for the length of a `with` block.

    At its end it raises DoubleFailure when the script ran out or, unless `allow_refusals`, when a
    request was refused; an error of the block itself goes first, with these as notes.
    """
    double = Double(script, strict=strict, api_key=api_key)
    double.start()
    try:
        yield double
    except BaseException as error:
        for failure in double.failures:
            error.add_note(failure)
        for request, problem in double.refusals:
            error.add_note(f"request {request.number} was refused: {problem.message}")
        raise
    else:
        double.check(allow_refusals=allow_refusals)
    finally:
        double.close()
