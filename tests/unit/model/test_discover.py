"""Servers on this computer are known by what they answer, and by nothing else."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from sidelight.model.discover import Candidate, LocalModel, LocalServer, ServerKind, discover
from sidelight.model.provider import NoModel, Provider, find

pytestmark = [pytest.mark.anyio, pytest.mark.req("MODEL-06")]


@dataclass(frozen=True)
class Refused:
    """A page that is kept back, with what is said instead."""

    body: Any
    status: int = 401


Pages = dict[str, Any]
# Long enough for a busy machine; one test shows that a probe ends without an answer.
PATIENT = 4.0


def listed(*entries: Any) -> Any:
    return {"object": "list", "data": list(entries)}


@asynccontextmanager
async def serving(pages: Pages | bytes | None) -> AsyncGenerator[tuple[int, list[str]]]:
    """A server on a free port: pages as JSON, bytes as they are, or (None) silence.

    Gives the port and the request lines it saw.
    """
    seen: list[str] = []
    over = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.append(head.splitlines()[0])
        assert "authorization" not in head.lower()
        if pages is None:
            await over.wait()
        elif isinstance(pages, bytes):
            writer.write(pages)
        else:
            path = head.split(" ")[1]
            page = pages.get(path)
            status = "200 OK" if path in pages else "404 Not Found"
            if isinstance(page, Refused):
                page, status = page.body, f"{page.status} No"
            body = json.dumps(page).encode()
            head = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            writer.write(head.encode() + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], seen
    finally:
        over.set()
        server.close()


async def found(kind: ServerKind, pages: Pages | bytes | None) -> LocalServer | None:
    with anyio.fail_after(10):
        async with serving(pages) as (port, _):
            servers = await discover([Candidate(kind, port)], probe_s=PATIENT)
    return servers[0] if servers else None


@pytest.mark.parametrize(
    ("kind", "pages", "title", "models"),
    [
        (
            "ollama",
            {"/api/version": {"version": "0.14.2"}, "/v1/models": listed({"id": "qwen3:8b"})},
            "Ollama",
            (LocalModel("qwen3:8b"),),
        ),
        (
            "lmstudio",
            {"/v1/models": listed({"id": "a", "max_context_length": 4_096}, {"id": "b"})},
            "LM Studio",
            (LocalModel("a", 4_096), LocalModel("b")),
        ),
        (
            "llamacpp",
            {
                "/health": {"status": "ok"},
                "/v1/models": listed(
                    {"id": "m.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8_192}}
                ),
            },
            "llama.cpp",
            (LocalModel("m.gguf", 8_192),),
        ),
        (
            "vllm",
            {
                "/version": {"version": "0.20.0"},
                "/v1/models": listed({"id": "q", "owned_by": "vllm", "max_model_len": 32_768}),
            },
            "vLLM",
            (LocalModel("q", 32_768),),
        ),
        (
            "litellm",
            {"/health/liveliness": "I'm alive!", "/v1/models": listed({"id": "gpt"})},
            "LiteLLM",
            (LocalModel("gpt"),),
        ),
    ],
)
async def test_each_kind_is_known_by_its_answers_and_tells_its_models(
    kind: ServerKind, pages: Pages, title: str, models: tuple[LocalModel, ...]
) -> None:
    server = await found(kind, pages)
    assert server is not None
    assert (server.kind, server.models, server.problem) == (kind, models, "")
    assert server.title == f"{title} at {server.base_url}"


@pytest.mark.parametrize(
    ("kind", "pages"),
    [
        ("ollama", {"/api/version": {"version": 3}}),
        ("lmstudio", {"/v1/models": {"error": "no"}}),
        ("llamacpp", {"/health": {"status": "ok"}}),
        ("llamacpp", {"/health": {"status": "ok"}, "/v1/models": listed({"id": "x"})}),
        (
            "vllm",
            {"/version": {"version": "1"}, "/v1/models": listed({"id": "x", "owned_by": "y"})},
        ),
        ("litellm", {"/health/liveliness": {"alive": True}}),
        ("lmstudio", {}),
        ("lmstudio", b"SSH-2.0-OpenSSH_9.2\r\n"),
        ("lmstudio", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n<html"),
        ("lmstudio", b"HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n" + b" " * 3_000_000),
        ("lmstudio", b""),
    ],
)
async def test_another_service_on_the_port_is_not_taken_for_a_model_server(
    kind: ServerKind, pages: Pages | bytes
) -> None:
    assert await found(kind, pages) is None


@pytest.mark.parametrize(
    ("kind", "pages"),
    [
        (
            "llamacpp",
            {
                "/health": {"status": "ok"},
                "/v1/models": Refused(
                    {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication"}}
                ),
            },
        ),
        ("vllm", {"/version": {"version": "1"}, "/v1/models": Refused({"error": "Unauthorized"})}),
        (
            "litellm",
            {
                "/health/liveliness": "I'm alive!",
                "/v1/models": Refused({"error": {"message": "No api key passed in."}}),
            },
        ),
        ("lmstudio", {"/v1/models": Refused({"error": {"message": "A token is wanted."}}, 403)}),
    ],
)
async def test_a_server_that_wants_a_key_is_named_with_what_to_set(
    kind: ServerKind, pages: Pages
) -> None:
    async with serving(pages) as (port, _):
        model = await find({}, places=[Candidate(kind, port)], probe_s=PATIENT)
    assert isinstance(model, NoModel)
    url = f"http://127.0.0.1:{port}"
    assert model.tried[-1].endswith(
        f" at {url}: found, but it wants a key: set ANTHROPIC_BASE_URL={url} "
        "and ANTHROPIC_AUTH_TOKEN"
    )


async def test_a_probe_that_gets_no_answer_ends_by_itself() -> None:
    with anyio.fail_after(10):
        async with serving(None) as (port, seen):
            assert await discover([Candidate("lmstudio", port)], probe_s=0.2) == ()
    assert seen == ["GET /v1/models HTTP/1.1"]


async def test_an_old_version_is_found_and_said_to_be_too_old() -> None:
    server = await found("ollama", {"/api/version": {"version": "0.9.1"}})
    assert server is not None
    assert server.problem == "its version is 0.9.1; update it to 0.14 or later"


async def test_a_server_without_a_model_is_no_use() -> None:
    server = await found("lmstudio", {"/v1/models": listed()})
    assert server is not None
    assert server.problem == "it offers no model"


async def test_loopback_is_asked_past_any_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert await found("lmstudio", {"/v1/models": listed({"id": "a"})}) is not None


async def test_the_first_usable_server_answers_in_the_order_of_the_places() -> None:
    old = {"/api/version": {"version": "0.9.1"}}
    good = {"/v1/models": listed({"id": "a"})}
    async with (
        serving(old) as (first, _),
        serving(good) as (second, _),
        serving(good) as (third, _),
    ):
        places = [
            Candidate("ollama", first),
            Candidate("lmstudio", second),
            Candidate("lmstudio", third),
        ]
        model = await find({}, places=places, probe_s=PATIENT)
    assert isinstance(model, Provider)
    assert (model.kind, model.local, model.credential) == ("local", True, None)
    assert model.base_url == f"http://127.0.0.1:{second}"


async def test_when_no_server_can_be_used_it_is_said_why() -> None:
    async with serving({"/api/version": {"version": "0.9.1"}}) as (port, _):
        model = await find({}, places=[Candidate("ollama", port)], probe_s=PATIENT)
    assert isinstance(model, NoModel)
    assert model.tried[-1] == (
        f"Ollama at http://127.0.0.1:{port}: found, but its version is 0.9.1; "
        "update it to 0.14 or later"
    )
    model = await find({}, places=[Candidate("ollama", port)], probe_s=PATIENT)
    assert isinstance(model, NoModel)
    assert model.tried[-1] == f"a model server at 127.0.0.1, ports {port}: none"
