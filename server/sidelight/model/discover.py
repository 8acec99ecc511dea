"""Looks for model servers on this computer: loopback only, all at once, by what they answer."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import httpx2

from sidelight.core.content import Json, as_list, as_object

ServerKind = Literal["ollama", "lmstudio", "llamacpp", "vllm", "litellm"]

PROBE_S = 0.3
SMALLEST_WINDOW = 16_000
"""Tokens below which an agent has hardly room to work."""
LARGEST_ANSWER = 1_000_000
"""Bytes read of an answer; a server with more to say at these addresses is not one of ours."""
WANTS_KEY = frozenset({401, 403})
OLLAMA_WITH_MESSAGES = (0, 14)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place to look."""

    kind: ServerKind
    port: int


USUAL_PLACES = (
    Candidate("ollama", 11434),
    Candidate("lmstudio", 1234),
    Candidate("llamacpp", 8080),
    Candidate("vllm", 8000),
    Candidate("litellm", 4000),
)


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that a local server offers; `window` in tokens if it says so."""

    id: str
    window: int | None = None


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered as its kind does; `problem` says why it cannot be used."""

    kind: ServerKind
    base_url: str
    models: tuple[LocalModel, ...]
    problem: str = ""

    @property
    def title(self) -> str:
        """Its name and address, for people."""
        return f"{_KINDS[self.kind].title} at {self.base_url}"


async def discover(
    places: Sequence[Candidate] = USUAL_PLACES, *, probe_s: float = PROBE_S
) -> tuple[LocalServer, ...]:
    """The servers that were found, in the order of `places`. Only GET is sent, with no credential.

    A probe takes at most `probe_s` seconds. Raises nothing; cancellable.
    """
    found: list[LocalServer | None] = [None] * len(places)

    async def look(index: int, place: Candidate) -> None:
        with anyio.move_on_after(probe_s):
            found[index] = await _probe(client, place)

    # Loopback goes through no proxy, whatever the environment says. Only plain http is asked, so
    # the certificates need not be loaded (35 ms).
    async with (
        httpx2.AsyncClient(trust_env=False, verify=False, timeout=None) as client,
        anyio.create_task_group() as group,
    ):
        for index, place in enumerate(places):
            group.start_soon(look, index, place)
    return tuple(server for server in found if server is not None)


@dataclass(frozen=True, slots=True)
class _Kind:
    title: str
    path: str
    knows: Callable[[object], bool]
    owner: str = ""  # what its list of models says about their owner
    problem: Callable[[object], str] = lambda answer: ""


async def _probe(client: httpx2.AsyncClient, place: Candidate) -> LocalServer | None:
    kind = _KINDS[place.kind]
    base_url = f"http://127.0.0.1:{place.port}"
    status, answer = await _get(client, base_url + kind.path)
    if status in WANTS_KEY and kind.path == "/v1/models" and "error" in as_object(answer):
        return LocalServer(place.kind, base_url, (), _key_wanted(base_url))
    if status != 200 or not kind.knows(answer):
        return None
    listed = answer
    if kind.path != "/v1/models":
        status, listed = await _get(client, f"{base_url}/v1/models")
    if status in WANTS_KEY:
        return LocalServer(place.kind, base_url, (), kind.problem(answer) or _key_wanted(base_url))
    entries = _entries(listed)
    if kind.owner and not any(entry.get("owned_by") == kind.owner for entry in entries):
        return None
    models = tuple(LocalModel(str(entry["id"]), _window(entry)) for entry in entries)
    problem = kind.problem(answer) or ("" if models else "it offers no model")
    return LocalServer(place.kind, base_url, models, problem)


def _key_wanted(base_url: str) -> str:
    return f"it wants a key: set ANTHROPIC_BASE_URL={base_url} and ANTHROPIC_AUTH_TOKEN"


async def _get(client: httpx2.AsyncClient, url: str) -> tuple[int, Any]:
    """The status and the JSON at an address; 0 and None for anything else."""
    try:
        async with client.stream("GET", url) as response:
            data = b""
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > LARGEST_ANSWER:
                    return 0, None
            return response.status_code, json.loads(data)
    except (httpx2.HTTPError, ValueError):
        return 0, None


def _entries(listed: object) -> list[Json]:
    entries = map(as_object, as_list(as_object(listed).get("data")))
    return [entry for entry in entries if entry.get("id")]


def _window(entry: Json) -> int | None:
    places = (entry, as_object(entry.get("meta")))
    names = ("max_model_len", "max_context_length", "n_ctx", "n_ctx_train")
    values = (place.get(name) for place in places for name in names)
    return next((value for value in values if isinstance(value, int) and value > 0), None)


def _has_version(answer: object) -> bool:
    return isinstance(as_object(answer).get("version"), str)


def _is_list_of_models(answer: object) -> bool:
    return as_object(answer).get("object") == "list" and "data" in as_object(answer)


def _is_well(answer: object) -> bool:
    return as_object(answer).get("status") == "ok"


def _ollama_problem(answer: object) -> str:
    version = str(as_object(answer)["version"])
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    if tuple(numbers) >= OLLAMA_WITH_MESSAGES:
        return ""
    return f"its version is {version}; update it to 0.14 or later"


_KINDS: dict[ServerKind, _Kind] = {
    "ollama": _Kind("Ollama", "/api/version", _has_version, problem=_ollama_problem),
    "lmstudio": _Kind("LM Studio", "/v1/models", _is_list_of_models),
    "llamacpp": _Kind("llama.cpp", "/health", _is_well, owner="llamacpp"),
    "vllm": _Kind("vLLM", "/version", _has_version, owner="vllm"),
    "litellm": _Kind("LiteLLM", "/health/liveliness", lambda answer: answer == "I'm alive!"),
}
