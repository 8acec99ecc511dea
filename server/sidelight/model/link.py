"""The process's link to a model: found when first needed, changed when the user sets a key."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread

from sidelight.core.errors import ModelError
from sidelight.core.model import ModelClient, ModelEvent, ModelRequest
from sidelight.model.anthropic import LOCAL, AnthropicClient, Deadlines
from sidelight.model.catalog import ModelCard, card
from sidelight.model.demonstration import MODEL, DemonstrationModel
from sidelight.model.helper import KeyHelper
from sidelight.model.learned import is_fresh, keep, stored
from sidelight.model.network import network_of
from sidelight.model.provider import (
    ADVICE,
    API,
    KeyHeader,
    NoModel,
    Provider,
    find,
    joined,
    profile_files,
    wants_helper,
)

log = logging.getLogger(__name__)

LISTING_S = 10.0
"""Seconds that a provider may take to list its models."""
LISTING_KINDS = frozenset({"anthropic", "gateway", "aws", "google_cloud"})
LONGEST_DEADLINE_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class UserSide:
    """What the user's own settings and editor say of the model; nothing of a folder's.

    `env` is the settings' `env` block, `editor` what the editor told of the network, times are in
    milliseconds.
    """

    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    key_helper: str = ""
    key_header: KeyHeader = "authorization"
    first_byte_ms: int | None = None
    silence_ms: int | None = None
    editor: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Linked:
    """Who answers: the source in words, the model's id for a name, and what to know of it.

    `way` says how it is reached, for people; empty when there is nothing special about it.
    `offered` are the models of a server on this computer.
    """

    source: str
    client: ModelClient
    model: Callable[[str], str]
    warning: str = ""
    demonstration: bool = False
    way: str = ""
    offered: tuple[str, ...] = ()
    fingerprint: str = ""


class ModelLink:
    """Implements ModelClient over whatever is found; one a process, shared by its sessions.

    `folder` keeps what providers tell of their models; without one nothing is kept. `cwd` is where
    the user's helper runs.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        user: Callable[[], UserSide],
        *,
        folder: Path | None = None,
        cwd: str = ".",
        today: Callable[[], date] = date.today,
    ) -> None:
        self._environ = environ
        self._user = user
        self._folder = folder
        self._cwd = cwd
        self._today = today
        self._key: str | None = None
        self._helper = KeyHelper()
        self._state: Linked | NoModel | None = None
        self._finding = anyio.Lock()
        self._reloaded = False
        self._streams: dict[AnthropicClient, int] = {}

    @property
    def state(self) -> Linked | NoModel | None:
        """What was found; None before the first look."""
        return self._state

    def play(self, demonstration: DemonstrationModel) -> None:
        """From here on prewritten replies answer."""
        self._state = Linked(
            "prewritten replies", demonstration, lambda name: MODEL, demonstration=True
        )

    def card(self, name: str) -> ModelCard:
        """The card of the model that answers for a name; before the first look the shipped one."""
        provider = self._provider
        return provider.card(name) if provider else card(name)

    async def connect(self, key: str | None = None) -> Linked | NoModel:
        """Look again; a key given here is kept in memory only, and wins.

        A demonstration stays until a key is given. Answers under way go on.
        """
        async with self._finding:
            if isinstance(self._state, Linked) and self._state.demonstration and not key:
                return self._state
            if key is not None:
                self._key = key or None
            return await self._use(await self._look())

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As ModelClient; without a model the error says what to do next.

        When the provider refuses the credential it is looked for anew; `error.reloaded` then says
        that another one is in use, with which to ask once more.
        """
        state = await self._current()
        if isinstance(state, NoModel):
            raise ModelError("no_model", str(state))
        stream = cast("AsyncGenerator[ModelEvent]", state.client.stream(request))
        self._count(state.client, 1)
        try:
            async with aclosing(stream):
                async for event in stream:
                    yield event  # noqa: ASYNC119 (whoever iterates closes, and this closes with it)
            self._reloaded = False
        except ModelError as error:
            if error.kind in {"authentication", "permission"}:
                error.reloaded = await self._reload(state)
            raise
        finally:
            self._count(state.client, -1)
            await self._close_unused()

    async def warm(self) -> None:
        """Load what the first request needs, ahead of time; never raises."""
        state = self._state or await self.connect()
        if isinstance(state, Linked) and isinstance(state.client, AnthropicClient):
            with suppress(ModelError):  # the first request meets it again, and tells
                await state.client.warm()

    async def prepare(self) -> None:
        """`warm`, then `learn`: what may be done while the user still thinks. Never raises."""
        await self.warm()
        if problem := await self.learn():
            log.info("%s", problem)

    async def learn(self) -> str | None:
        """Ask the provider for its models and keep the answer for the next connection.

        At most once a day; a sentence when that failed, else None. Takes `LISTING_S` seconds at
        most; cancellable.
        """
        state, provider = self._state, self._provider
        if not isinstance(state, Linked) or provider is None or self._folder is None:
            return None
        if provider.kind not in LISTING_KINDS:
            return None
        _, as_of = await anyio.to_thread.run_sync(stored, self._folder, provider.host)
        if is_fresh(as_of, self._today()):
            return None
        try:
            with anyio.fail_after(LISTING_S):
                listed = await cast("AnthropicClient", state.client).list_models()
            await anyio.to_thread.run_sync(keep, self._folder, provider.host, listed, self._today())
        except (ModelError, OSError, TimeoutError) as error:
            return f"The list of models was not refreshed: {error or 'no answer'}"
        return None

    async def known(self) -> tuple[list[ModelCard], str]:
        """The models that the provider told of, and the day; none and "" when it has not."""
        provider = self._provider
        if provider is None or self._folder is None:
            return [], ""
        cards, as_of = await anyio.to_thread.run_sync(stored, self._folder, provider.host)
        return list(cards.values()), as_of

    async def aclose(self) -> None:
        """Close connections."""
        self._state = None
        self._streams = dict.fromkeys(self._streams, 0)
        await self._close_unused()

    @property
    def _provider(self) -> Provider | None:
        client = self._state.client if isinstance(self._state, Linked) else None
        return client.provider if isinstance(client, AnthropicClient) else None

    async def _current(self) -> Linked | NoModel:
        if not isinstance(self._state, Linked):
            # A server may have been started, or a helper mended, since it was last looked for.
            return await self.connect()
        if self._helper.is_due:
            async with self._finding:
                return await self._use(await self._look())
        return self._state

    async def _reload(self, refused: Linked) -> bool:
        """Look for the credential anew; whether another one is in use than was refused.

        Only once between two answers, so that helpers that print new nonsense each time end.
        """
        async with self._finding:
            if self._state is not refused:
                return isinstance(self._state, Linked)  # another session was quicker
            if self._reloaded or refused.demonstration:
                return False
            self._reloaded = True
            await self._use(await self._look(anew=True))
            return self._state is not refused

    async def _look(self, *, anew: bool = False) -> Linked | NoModel:
        user = self._user()
        env = joined(self._environ, user.env)
        try:
            network = network_of(env, user.editor)
            deadlines = _deadlines(env, user)
            helped = None
            if user.key_helper and wants_helper(self._environ, user.env, self._key):
                helped = await self._helper.key(user.key_helper, env=env, cwd=self._cwd, anew=anew)
        except ValueError as error:
            return NoModel((str(error),), f"Correct this: {error}\n{ADVICE}")
        found = await find(
            self._environ,
            user_env=user.env,
            key=self._key,
            helped=helped,
            key_header=user.key_header,
        )
        if isinstance(found, NoModel):
            return found
        if self._folder is not None:
            learned, _ = await anyio.to_thread.run_sync(stored, self._folder, found.host)
            found = replace(found, learned=learned)
        files = await anyio.to_thread.run_sync(profile_files, found, self._environ)
        known = repr((found, found.secrets, found.headers, network, network.proxies, files))
        client = AnthropicClient(
            found,
            deadlines=replace(LOCAL if found.local else Deadlines(), **deadlines),
            network=network,
        )
        return Linked(
            found.source,
            client,
            lambda name: found.card(name).id,
            found.warning,
            way=network.way(found.base_url or API) if network.is_special else "",
            offered=tuple(model.id for model in found.models),
            fingerprint=sha256(known.encode()).hexdigest(),
        )

    async def _use(self, found: Linked | NoModel) -> Linked | NoModel:
        """Take what was found into use, unless it is what is in use already."""
        now = self._state
        if isinstance(now, Linked) and isinstance(found, Linked):  # noqa: SIM102 - see the types
            if now.fingerprint == found.fingerprint:
                return now
        self._state = found
        if isinstance(found, Linked):
            self._count(found.client, 0)
        await self._close_unused()
        return found

    def _count(self, client: ModelClient, change: int) -> None:
        if isinstance(client, AnthropicClient):
            self._streams[client] = self._streams.get(client, 0) + change

    async def _close_unused(self) -> None:
        """Close the clients that nobody streams from and that are not in use any more."""
        now = self._state.client if isinstance(self._state, Linked) else None
        for client in [each for each, count in self._streams.items() if count <= 0]:
            if client is not now:
                del self._streams[client]
                with anyio.CancelScope(shield=True):
                    await client.aclose()


def _deadlines(env: Mapping[str, str], user: UserSide) -> dict[str, float]:
    """The deadlines that the user set, in seconds. Raises ValueError naming the variable."""
    asked = (
        ("first_byte", "API_TIMEOUT_MS", user.first_byte_ms),
        ("between", "CLAUDE_STREAM_IDLE_TIMEOUT_MS", user.silence_ms),
    )
    found: dict[str, float] = {}
    for name, variable, setting in asked:
        text = env.get(variable, "").strip()
        if text and not (text.isdecimal() and 0 < int(text) <= LONGEST_DEADLINE_MS):
            raise ValueError(f"{variable} is {text!r}; it must be a number of milliseconds.")
        milliseconds = int(text) if text else setting
        if milliseconds is not None:
            found[name] = milliseconds / 1000
    return found
