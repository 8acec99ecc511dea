"""The model as a server behind the Messages API, asked with the provider's own SDK."""

import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

import anyio
import httpx2
from anyio.lowlevel import checkpoint

from sidelight.core.errors import ModelError
from sidelight.core.model import ModelEvent, ModelRequest
from sidelight.model import sdk
from sidelight.model.clients import connect
from sidelight.model.decode import Answer, is_delta
from sidelight.model.encode import Encoder
from sidelight.model.failures import classify
from sidelight.model.network import Network, masked
from sidelight.model.provider import API, Provider


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long silence may last, in seconds: before the answer begins, and between its bytes."""

    connect: float = 10.0
    first_byte: float = 60.0
    between: float = 90.0


# A model on this computer reads a long prompt for minutes before its first word.
LOCAL = Deadlines(first_byte=900.0, between=300.0)
# Buffered events are handed over without giving way; after a stall thousands may wait.
EVENTS_A_BREATH = 20
# On a stream that trickles every packet wakes the process, which costs more than what is in it.
# So a delta amid others that had to be waited for, but not long, waits itself for what comes next.
FRAME_S = 0.04
# A shorter wait than the first is no wait for the network; one that is longer ends a silence.
WAITED_S, SILENCE_S = 0.001, 0.1
# After the last event the body's end is awaited this long, so that the connection can be reused.
DRAIN_S = 0.25


class AnthropicClient:
    """A `ModelClient` for one provider. Owns one HTTP client: `aclose()` it in the same loop."""

    def __init__(
        self,
        provider: Provider,
        *,
        deadlines: Deadlines | None = None,
        network: Network | None = None,
    ) -> None:
        self.provider = provider
        self._deadlines = deadlines or (LOCAL if provider.local else Deadlines())
        self._network = network or Network()
        self._client: Any = None
        self._encoder = Encoder()
        self._starting = anyio.Lock()

    async def warm(self) -> None:
        """Load the SDK in a thread and get ready to send. Raises ModelError; cancellable."""
        await self._ready()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Stream one answer. Raises ModelError only; closing it ends the HTTP exchange."""
        card = self.provider.card(request.model)
        source = await self._open(self._encoder.body(request, card))
        answer = Answer(writer=card.id)
        count, amid_deltas = 0, False
        try:
            asked = monotonic()
            while not answer.stopped and (event := await self._next(source)) is not None:
                further = amid_deltas and is_delta(event)
                if further and WAITED_S < monotonic() - asked < SILENCE_S:
                    await anyio.sleep(FRAME_S)
                for told in answer.feed(event):
                    yield told
                count, amid_deltas = count + 1, is_delta(event)
                if count % EVENTS_A_BREATH == 0:
                    await checkpoint()
                asked = monotonic()
            yield answer.ended()
            await self._drain(source)
        finally:
            await source.close()

    async def count_tokens(self, request: ModelRequest) -> int:
        """The tokens of a request's prompt, as the server counts them. Raises ModelError."""
        body = self._encoder.count(request, self.provider.card(request.model))
        answer = await self._post("/v1/messages/count_tokens", body)
        try:
            return int(answer["input_tokens"])
        except (LookupError, TypeError, ValueError) as error:
            raise ModelError("server", f"{self._where} does not count tokens.") from error

    async def list_models(self) -> object:
        """The models that the server offers, as it tells them. Raises ModelError."""
        client = await self._ready()
        try:
            return await client.get("/v1/models?limit=1000", cast_to=object)
        except Exception as error:
            raise await self._failed(error) from error

    async def _open(self, body: bytes) -> Any:
        anthropic = await sdk.warm()
        stream_cls = anthropic.AsyncStream[object]
        source = await self._post("/v1/messages", body, stream=True, stream_cls=stream_cls)
        # The transport looks its deadline up when the body begins; a ping counts as a byte.
        source.response.request.extensions["timeout"]["read"] = self._deadlines.between
        return source

    async def _post(self, path: str, body: bytes, **how: Any) -> Any:
        """Send one request through the SDK; the answer's JSON, or its stream of raw events.

        The SDK's documented way for any endpoint, with `object` for "JSON as it came": the typed
        methods would build thousands of classes, and every delta as one of them.
        """
        client = await self._ready()
        # The clients of some clouds move fields of the body elsewhere, and cannot do with bytes.
        ready = isinstance(client, (await sdk.warm()).AsyncAnthropic)
        given = {"content": body} if ready else {"body": json.loads(body)}
        try:
            with anyio.fail_after(self._deadlines.first_byte):
                return await client.post(path, cast_to=object, **given, **how)
        except TimeoutError as error:
            seconds = self._deadlines.first_byte
            message = f"{self._where} did not begin to answer within {seconds:g} s."
            raise ModelError("timeout", message) from error
        except Exception as error:
            raise await self._failed(error) from error

    async def _next(self, source: Any) -> object | None:
        """The next raw event, None at the end. Raises ModelError."""
        try:
            return await anext(source)
        except StopAsyncIteration:
            return None
        except Exception as error:
            raise await self._failed(error) from error

    async def _drain(self, source: Any) -> None:
        """Read the end of the body, so that the connection can be used again."""
        with suppress(ModelError), anyio.move_on_after(DRAIN_S):
            while await self._next(source) is not None:
                pass

    async def _failed(self, error: Exception) -> ModelError:
        failure = classify(error, await sdk.warm(), where=self._where)
        for secret in self.provider.secrets:
            failure.message = failure.message.replace(secret, "[key]")
        if failure.kind == "authentication" and failure.status is not None:
            failure.message = (
                f"{self.provider.host} refused the key from {self.provider.source}: "
                f"{failure.message}. Set another key, or correct it, and try again."
            )
        failure.args = (failure.message,)
        return failure

    @property
    def _where(self) -> str:
        proxy = self._network.proxy_for(self.provider.base_url or API)
        return f"{self.provider.host} (through {masked(proxy)})" if proxy else self.provider.host

    @property
    def _timeout(self) -> httpx2.Timeout:
        # Reading has no deadline here: `_post` limits the wait for an answer, `_open` the silences.
        return httpx2.Timeout(self._deadlines.between, connect=self._deadlines.connect, read=None)

    async def _ready(self) -> Any:
        async with self._starting:
            if self._client is None:
                anthropic = await sdk.warm()
                try:
                    self._client = connect(anthropic, self.provider, self._network, self._timeout)
                except Exception as error:
                    raise await self._failed(error) from error
            return self._client
