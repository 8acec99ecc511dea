"""The small model as the editor's server sees it: a process that starts at the first question."""

import json
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import anyio
import httpx2

from sidelight.core.content import Json, as_list, as_object
from sidelight.core.errors import AgentError
from sidelight.model.local.weights import Store
from sidelight.process.environment import child_environment
from sidelight.process.run import Child, start

IDLE_S = 600.0
"""Seconds without a question after which the process ends and its memory is free again."""
START_S = 120.0
ANSWER_S = 300.0
LATEST_WORDS = 4000
COMMAND = (sys.executable, "-P", "-m", "sidelight", "local", "serve")


class LocalModelError(AgentError):
    """The small model gave no answer; read by the user."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with everything that belongs to it; `schema` binds the answer's form."""

    system: str
    user: str
    most_tokens: int
    schema: Json | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said; `whole` is False when it was cut at the limit of tokens."""

    text: str
    whole: bool


class LocalModel:
    """Starts the process when it is needed; one question at a time. Owned by one event loop.

    The process ends itself after `idle_s` seconds without a question and when this process ends.
    """

    def __init__(self, store: Store, environ: Mapping[str, str], *, idle_s: float = IDLE_S) -> None:
        self.store = store
        self._environ = environ
        self._idle_s = idle_s
        self._turn = anyio.Lock()
        self._child: Child | None = None
        self._address = ""
        self._key = ""

    @property
    def pid(self) -> int | None:
        """The process, while it runs."""
        child = self._child
        return child.pid if child and child.exit_code is None and child.signal is None else None

    async def ask(self, question: Question) -> Answer:
        """Ask; starts the process if there is none. Raises LocalModelError. Cancellable."""
        async with self._turn:
            for last in (False, True):
                child = await self._running()
                child.feed(b"+")
                try:
                    return await self._post(question)
                except httpx2.TimeoutException as error:
                    await self._end()
                    words = f"The small local model did not answer within {ANSWER_S:.0f} seconds."
                    raise LocalModelError(words) from error
                except httpx2.HTTPError as error:
                    await self._end()
                    if last:
                        words = f"The small local model's process ended: {error}"
                        raise LocalModelError(words) from error
                finally:
                    child.feed(b"-")
        raise AssertionError("the second try returns or raises")

    async def stop(self) -> None:
        """End the process; the next question starts another."""
        await self._end()

    async def _running(self) -> Child:
        if self._child is not None and self.pid is not None:
            return self._child
        await self._end()
        problem = self.store.problem()
        if problem:
            raise LocalModelError(f"The small local model cannot run: {problem}")
        self._key = secrets.token_urlsafe(24)
        order = {
            "path": str(self.store.path),
            "window": self.store.weights.window,
            "key": self._key,
            "idle_s": self._idle_s,
        }
        child = await start(
            COMMAND,
            cwd=str(self.store.folder),
            env=child_environment(self._environ),
            stdin=json.dumps(order).encode() + b"\n",
            hold=True,
        )
        self._child = child
        try:
            self._address = await _address(child)
        except BaseException:
            await self._end()
            raise
        return child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    async def _post(self, question: Question) -> Answer:
        body: Json = {
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "max_tokens": question.most_tokens,
            "temperature": 0,
        }
        if question.schema is not None:
            form = {"name": "answer", "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        headers = {"Authorization": f"Bearer {self._key}"}
        # Loopback goes through no proxy; plain http needs no certificates.
        async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=ANSWER_S) as client:
            url = f"{self._address}/v1/chat/completions"
            response = await client.post(url, json=body, headers=headers)
        answer = as_object(_json(response))
        if response.status_code != 200:
            raise LocalModelError(_refusal(response.status_code, as_object(answer.get("error"))))
        choice = as_object(next(iter(as_list(answer.get("choices"))), None))
        text = as_object(choice.get("message")).get("content")
        if not isinstance(text, str):
            raise LocalModelError("The small local model answered without any words.")
        return Answer(text.strip(), choice.get("finish_reason") == "stop")


async def _address(child: Child) -> str:
    """Wait for the line that says where it listens; raises LocalModelError when none comes."""
    said, complaint = b"", b""
    with anyio.move_on_after(START_S):
        while (piece := await child.next_output()) is not None:
            if piece.stream == 2:
                complaint = (complaint + piece.data)[-LATEST_WORDS:]
                continue
            said = (said + piece.data)[-LATEST_WORDS:]
            for line in said.splitlines(keepends=True):
                if line.startswith(b'{"address"') and line.endswith(b"\n"):
                    return str(as_object(json.loads(line))["address"])
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    why = lines[-1] if lines else f"it was not ready after {START_S:.0f} seconds"
    raise LocalModelError(
        f"The small local model did not start: {why}. Is there enough free memory (2 GB)? "
        "`sidelight local status` checks the rest."
    )


def _json(response: httpx2.Response) -> object:
    try:
        return response.json()
    except ValueError:
        return None


def _refusal(status: int, error: Json) -> str:
    if error.get("type") == "exceed_context_size_error":
        return "This is too long for the small local model; select less."
    return f"The small local model refused: {error.get('message') or status}"
