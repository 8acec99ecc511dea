"""The process's link to a model: found when first needed, changed when the user sets a key."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import cast

import anyio

from sidelight.core.errors import ModelError
from sidelight.core.model import ModelClient, ModelEvent, ModelRequest
from sidelight.model.anthropic import AnthropicClient
from sidelight.model.demonstration import MODEL, DemonstrationModel
from sidelight.model.provider import NoModel, Provider, find


@dataclass(frozen=True, slots=True)
class Linked:
    """Who answers: the source in words, the model's id for a name, and what to know of it."""

    source: str
    client: ModelClient
    model: Callable[[str], str]
    warning: str = ""
    demonstration: bool = False


class ModelLink:
    """Implements ModelClient over whatever is found; one a process, shared by its sessions."""

    def __init__(
        self, environ: Mapping[str, str], user_env: Callable[[], Mapping[str, str]]
    ) -> None:
        self._environ = environ
        self._user_env = user_env
        self._key: str | None = None
        self._state: Linked | NoModel | None = None
        self._finding = anyio.Lock()

    @property
    def state(self) -> Linked | NoModel | None:
        """What was found; None before the first look."""
        return self._state

    def play(self, demonstration: DemonstrationModel) -> None:
        """From here on prewritten replies answer."""
        self._state = Linked(
            "prewritten replies", demonstration, lambda name: MODEL, demonstration=True
        )

    async def connect(self, key: str | None = None) -> Linked | NoModel:
        """Look again; a key given here is kept in memory only, and wins.

        A demonstration stays until a key is given.
        """
        async with self._finding:
            if isinstance(self._state, Linked) and self._state.demonstration and not key:
                return self._state
            if key is not None:
                self._key = key or None
            await self._close()
            found = await find(self._environ, user_env=self._user_env(), key=self._key)
            self._state = found if isinstance(found, NoModel) else _linked(found)
            return self._state

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As ModelClient; without a model the error says what to do next."""
        state = self._state or await self.connect()
        if isinstance(state, NoModel):
            raise ModelError("no_model", str(state))
        stream = cast("AsyncGenerator[ModelEvent]", state.client.stream(request))
        async with aclosing(stream):
            async for event in stream:
                yield event  # noqa: ASYNC119 (whoever iterates closes, and this closes with it)

    async def warm(self) -> None:
        """Load what the first request needs, ahead of time; never raises."""
        state = self._state or await self.connect()
        if isinstance(state, Linked) and isinstance(state.client, AnthropicClient):
            with suppress(ModelError):  # the first request meets it again, and tells
                await state.client.warm()

    async def aclose(self) -> None:
        """Close connections."""
        await self._close()

    async def _close(self) -> None:
        if isinstance(self._state, Linked) and isinstance(self._state.client, AnthropicClient):
            await self._state.client.aclose()
        self._state = None


def _linked(provider: Provider) -> Linked:
    client = AnthropicClient(provider)
    return Linked(provider.source, client, lambda name: provider.card(name).id, provider.warning)
