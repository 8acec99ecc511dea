"""Answers requests: checks them against the rules, picks the scripted reply and plays it.

Everything here runs on the one event loop of the double.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.fakes.messages_api import rules, script_json
from tests.fakes.messages_api.binding import Memory
from tests.fakes.messages_api.cache import PromptCache
from tests.fakes.messages_api.connection import BadRequest, Connection, Incoming, json_bytes
from tests.fakes.messages_api.models import model_info, model_page
from tests.fakes.messages_api.play import Context, Played, play
from tests.fakes.messages_api.playlist import Playlist
from tests.fakes.messages_api.request import Json, Problem, Request, mapping
from tests.fakes.messages_api.script import Answer, Cut, Gate, HangUp, HttpError, Reply
from tests.fakes.messages_api.tokens import count_tokens

Outcome = Literal["complete", "cut", "client left", "refused", "error", "hung up"]
_SECRETS = ("authorization", "x-api-key", "proxy-authorization", "cookie")


@dataclass(slots=True)
class State:
    """All that the double has seen and been told; read by tests, written by the server."""

    playlist: Playlist
    api_key: str
    strict: bool
    requests: list[Request] = field(default_factory=list[Request])
    refusals: list[tuple[Request, Problem]] = field(default_factory=list[tuple[Request, Problem]])
    failures: list[str] = field(default_factory=list[str])
    outcomes: dict[int, Outcome] = field(default_factory=dict[int, Outcome])
    open_gates: set[str] = field(default_factory=set[str])
    waiting_at: list[str] = field(default_factory=list[str])  # every gate a stream stopped at
    usages: dict[int, Json] = field(default_factory=dict[int, Json])
    memory: Memory = field(default_factory=lambda: Memory(strangers=False))
    models_error: HttpError | None = None
    cache: PromptCache = field(init=False)

    def __post_init__(self) -> None:
        self.cache = PromptCache(self.memory.models)


class Service:
    """Serves connections of one double; `changed` is called after each change of the state."""

    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        self._state = state
        self._notify = changed
        self._tick = asyncio.Event()

    async def serve(self, connection: Connection) -> None:
        """Answer requests of one connection until either side closes it."""
        try:
            await self._serve(connection)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client left, which the outcome of its request says
        except Exception as error:  # a fault of the double must fail the test, not hide in a log
            self._state.failures.append(f"the double itself failed: {error!r}")
            self.changed()
            raise

    async def _serve(self, connection: Connection) -> None:
        while True:
            try:
                incoming = await connection.read()
            except BadRequest as error:
                await connection.answer(400, str(error).encode(), {"connection": "close"})
                return
            if incoming is None or not await self._route(connection, incoming):
                return
            if incoming.headers.get("connection", "").lower() == "close":
                return

    def open_gate(self, name: str) -> None:
        """Let every stream pass that waits, or will wait, at the gate."""
        self._state.open_gates.add(name)
        self.changed()

    def changed(self) -> None:
        """Wake everybody who waits for a change."""
        tick, self._tick = self._tick, asyncio.Event()
        tick.set()
        self._notify()

    async def _until(self, reached: Callable[[], bool]) -> None:
        while not reached():
            await self._tick.wait()

    async def _route(self, connection: Connection, incoming: Incoming) -> bool:
        parts = urlsplit(incoming.target)
        if parts.path.startswith("/_control/"):
            await self._control(connection, incoming, parts.path.removeprefix("/_control/"))
            return True
        request = self._record(incoming, parts.path)
        match (incoming.method, parts.path):
            case ("POST", "/v1/messages"):
                return await self._messages(connection, request)
            case ("POST", "/v1/messages/count_tokens"):
                await self._count(connection, request)
            case ("GET" | "HEAD", "/"):
                head = incoming.method == "HEAD"
                await connection.answer(
                    200, b"ok\n", {"content-type": "text/plain"}, head_only=head
                )
            case ("GET", path) if path.startswith("/v1/models"):
                await self._models(connection, request, path, dict(parse_qsl(parts.query)))
            case _:
                await self._refuse(
                    connection, request, Problem("Not found", "not_found_error", 404)
                )
        return True

    def _record(self, incoming: Incoming, path: str) -> Request:
        headers = {
            name: "***" if name in _SECRETS else value for name, value in incoming.headers.items()
        }
        sent = incoming.headers.get("authorization") or incoming.headers.get("x-api-key")
        right = sent in (f"Bearer {self._state.api_key}", self._state.api_key)
        try:
            body = mapping(json.loads(incoming.body or b"{}"))
        except ValueError:
            body = {}
        request = Request(
            body=body,
            raw=incoming.body,
            headers=headers,
            number=len(self._state.requests),
            arrived=time.monotonic(),
            method=incoming.method,
            path=path,
            credential="none" if not sent else "right" if right else "wrong",
        )
        self._state.requests.append(request)
        self.changed()
        return request

    async def _messages(self, connection: Connection, request: Request) -> bool:
        if problem := self._problem(request, [*rules.STREAM_RULES, *rules.BODY_RULES]):
            await self._refuse(connection, request, problem)
            return True
        if self._state.strict and rules.window_is_full(request, self._state.memory):
            full = Reply(steps=(), stop_reason="model_context_window_exceeded")
            return await self._finish(connection, request, full)
        try:
            answer = self._state.playlist.take(request)
        except Exception as error:  # a test's own function: its failure must not pass unseen
            await self._fail(connection, request, f"the responder raised {error!r}")
            return True
        if answer is None:
            hint = request.last_text[-120:]
            message = f"the script has no reply left for it; its last text ends with {hint!r}"
            await self._fail(connection, request, message)
            return True
        return await self._finish(connection, request, answer)

    async def _finish(self, connection: Connection, request: Request, answer: Answer) -> bool:
        """Give the answer; whether the connection can take another request."""
        outcome: Outcome = "client left"
        try:
            outcome = await self._answer(connection, request, answer)
        finally:
            self._state.outcomes[request.number] = outcome
            self.changed()
        whole = isinstance(answer, Reply) and answer.cut is not None and answer.cut.how == "end"
        return outcome in ("complete", "error") or (outcome == "cut" and whole)

    def _problem(self, request: Request, applied: list[rules.Rule]) -> Problem | None:
        if not self._state.strict:
            return rules.credential(request, self._state.memory)
        return rules.first_problem(request, self._state.memory, applied)

    async def _answer(self, connection: Connection, request: Request, answer: Answer) -> Outcome:
        if answer.hold is not None and not await self._pass_gate(connection, answer.hold):
            return "client left"
        if isinstance(answer, HangUp):
            return "hung up"
        if isinstance(answer, HttpError):
            problem = Problem(answer.message, answer.type, answer.status, answer.details)
            await self._error(connection, request, problem, answer)
            return "error"
        return await self._play(connection, request, answer)

    async def _play(self, connection: Connection, request: Request, reply: Reply) -> Outcome:
        played = play(reply, self._context(request))
        self._state.usages[request.number] = played.usage
        self._state.memory.remember(request.body, played.sent, stop_reason=reply.stop_reason)
        connection.start_stream({"request-id": _request_id(request), **reply.headers})
        if not await self._send(connection, played, reply):
            return "client left"
        if reply.cut is None or reply.cut.how == "end":
            await connection.end_stream()
        elif reply.cut.how == "reset":
            await connection.reset()
        return "complete" if reply.cut is None else "cut"

    async def _send(self, connection: Connection, played: Played, reply: Reply) -> bool:
        waiting: list[bytes] = []
        for piece in cut_off(played.wire, reply.cut):
            if isinstance(piece, bytes):
                waiting.append(piece)
                if not reply.spread:
                    continue
            if waiting:
                await connection.send(b"".join(waiting))
                waiting.clear()
            if isinstance(piece, Gate):
                if not await self._pass_gate(connection, piece.name):
                    return False
            else:
                await asyncio.sleep(reply.pause)  # lets the event leave by itself
            if connection.gone.is_set():
                return False
        if waiting:
            await connection.send(b"".join(waiting))
        return True

    async def _pass_gate(self, connection: Connection, name: str) -> bool:
        """Wait for the gate; False when the client leaves first."""
        self._state.waiting_at.append(name)
        self.changed()
        opened = asyncio.ensure_future(self._until(lambda: name in self._state.open_gates))
        left = asyncio.ensure_future(connection.gone.wait())
        try:
            await asyncio.wait((opened, left), return_when=asyncio.FIRST_COMPLETED)
            return opened.done()
        finally:
            opened.cancel()
            left.cancel()

    def _context(self, request: Request) -> Context:
        usage = self._state.cache.account(request.body)
        model = self._state.memory.models.get(request.model)
        asked = mapping(request.body.get("thinking")).get("display")
        shown = asked or (model.display if model else "summarized")
        return Context(request.model, request.number, usage, shown != "omitted")

    async def _count(self, connection: Connection, request: Request) -> None:
        whole = replace(request, body=request.body and {"max_tokens": 1, **request.body})
        if problem := self._problem(whole, [*rules.COUNT_RULES, *rules.BODY_RULES]):
            await self._refuse(connection, request, problem)
            return
        await self._json(connection, request, {"input_tokens": count_tokens(request.body)})

    async def _models(
        self, connection: Connection, request: Request, path: str, query: dict[str, str]
    ) -> None:
        known = self._state.memory.models
        wanted = unquote(path.removeprefix("/v1/models").removeprefix("/"))
        if problem := self._problem(request, rules.CONNECTION_RULES):
            await self._refuse(connection, request, problem)
        elif (failure := self._state.models_error) is not None:
            refused = Problem(failure.message, failure.type, failure.status, failure.details)
            await self._error(connection, request, refused, failure)
        elif not wanted:
            await self._json(connection, request, model_page(known.values(), query))
        elif wanted in known:
            await self._json(connection, request, model_info(known[wanted]))
        else:
            problem = Problem(f"model: {wanted}", "not_found_error", 404)
            await self._refuse(connection, request, problem)

    async def _refuse(self, connection: Connection, request: Request, problem: Problem) -> None:
        self._state.refusals.append((request, problem))
        self._state.outcomes[request.number] = "refused"
        self.changed()
        await self._error(connection, request, problem)

    async def _fail(self, connection: Connection, request: Request, message: str) -> None:
        failure = f"request {request.number} ({request.method} {request.path}): {message}"
        self._state.failures.append(failure)
        self._state.outcomes[request.number] = "error"
        self.changed()
        problem = Problem(f"The double failed at {failure}", "api_error", 500)
        await self._error(connection, request, problem)

    async def _error(
        self,
        connection: Connection,
        request: Request,
        problem: Problem,
        answer: HttpError | None = None,
    ) -> None:
        error: Json = {"type": problem.type, "message": problem.message}
        if problem.details is not None:
            error["details"] = problem.details
        request_id = _request_id(request)
        body = json_bytes({"type": "error", "error": error, "request_id": request_id})
        headers = {"content-type": "application/json", "request-id": request_id}
        if answer is None:
            headers["x-should-retry"] = "false"
        elif answer.body is not None:
            body, headers["content-type"] = answer.body, "text/html"
        await connection.answer(
            problem.status, body, {**headers, **(answer.headers if answer else {})}
        )

    async def _json(self, connection: Connection, request: Request, value: object) -> None:
        self._state.outcomes[request.number] = "complete"
        headers = {"content-type": "application/json", "request-id": _request_id(request)}
        await connection.answer(200, json_bytes(value), headers)

    async def _control(self, connection: Connection, incoming: Incoming, path: str) -> None:
        """For tests in other processes: open gates, add replies, look at and wait for requests."""
        status, value = 200, cast(object, {"ok": True})
        match (incoming.method, *map(unquote, path.split("/"))):
            case ("POST", "open", name):
                self.open_gate(name)
            case ("POST", "script"):
                try:
                    self._state.playlist.add(script_json.parse_script(json.loads(incoming.body)))
                except ValueError as error:
                    status, value = 400, {"error": str(error)}
            case ("GET", "state"):
                value = self._summary()
            case ("GET", "wait", "requests", number):
                await self._until(lambda: len(self._message_requests()) >= int(number))
            case ("GET", "wait", "gate", name):
                await self._until(lambda: name in self._state.waiting_at)
            case _:
                status, value = 404, {"error": f"no control {incoming.method} {path}"}
        await connection.answer(status, json_bytes(value), {"content-type": "application/json"})

    def _message_requests(self) -> list[Request]:
        return [r for r in self._state.requests if r.path == "/v1/messages"]

    def _summary(self) -> Json:
        state = self._state
        refused = {request.number: problem.message for request, problem in state.refusals}
        return {
            "requests": [
                {
                    "number": request.number,
                    "method": request.method,
                    "path": request.path,
                    "headers": dict(request.headers),
                    "body": request.body,
                    "outcome": state.outcomes.get(request.number),
                    "refused": refused.get(request.number),
                }
                for request in state.requests
            ],
            "failures": state.failures,
            "unplayed": state.playlist.unplayed,
        }


def cut_off(wire: list[bytes | Gate], cut: Cut | None) -> list[bytes | Gate]:
    """The part of a stream that goes out before the cut."""
    if cut is None:
        return wire
    kept: list[bytes | Gate] = []
    events = size = 0
    for piece in wire:
        if isinstance(piece, bytes):
            if cut.event is not None and events >= cut.event:
                break
            if cut.byte is not None and size + len(piece) > cut.byte:
                kept.append(piece[: cut.byte - size])
                break
            events += 1
            size += len(piece)
        kept.append(piece)
    return kept


def _request_id(request: Request) -> str:
    return f"req_{request.number:06d}"
