"""Proxies, authorities and client certificates, against a proxy and TLS of our own."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import anyio
import pytest
import trustme

from sidelight.core.content import Text
from sidelight.core.errors import ModelError
from sidelight.core.model import ModelRequest, PromptMessage, ResponseEnded, SystemPrompt
from sidelight.model.link import Linked, ModelLink, UserSide
from sidelight.model.network import network_of
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply, text
from tests.fakes.network import Front, Proxy, listening

pytestmark = [pytest.mark.anyio, pytest.mark.req("MODEL-08")]

MODEL = "model.example"
LOGIN = "alice:s3cret"
PAGE = (
    b"HTTP/1.1 503 Blocked\r\ncontent-type: text/html\r\nconnection: close\r\n"
    b"content-length: 54\r\n\r\n<html><title>Web filter: blocked</title>Go away</html>"
)
REQUEST = ModelRequest(
    model="sonnet",
    system=SystemPrompt(stable="s"),
    tools=(),
    messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
)


@dataclass
class Office:
    """A network: a model behind TLS, reached through a proxy; both have the office's authority."""

    authority: trustme.CA
    authority_file: Path
    double: Double
    front: Front
    proxy: Proxy
    scheme: str

    @property
    def proxy_url(self) -> str:
        login = f"{self.proxy.login}@" if self.proxy.login else ""
        return f"{self.scheme}://{login}127.0.0.1:{self.proxy.port}"

    def env(self, **more: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": f"https://{MODEL}",
            "ANTHROPIC_API_KEY": self.double.api_key,
            "HTTPS_PROXY": self.proxy_url,
            "NODE_EXTRA_CA_CERTS": str(self.authority_file),
            **more,
        }


@asynccontextmanager
async def office(
    tmp_path: Path,
    *,
    login: str = "",
    answer: bytes = b"",
    tls_proxy: bool = False,
    client_certificate: bool = False,
) -> AsyncGenerator[Office]:
    authority = trustme.CA(organization_name="Office")
    file = tmp_path / "office.pem"
    authority.cert_pem.write_to_path(file)
    with running_double([reply(text("hello"))]) as double:
        front = Front(int(urlsplit(double.base_url).port or 0))
        async with AsyncExitStack() as stack:
            context = served(authority, MODEL)
            if client_certificate:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(cadata=authority.cert_pem.bytes().decode())
            await stack.enter_async_context(listening(front, context))
            proxy = Proxy({MODEL: front.port}, login=login, answer=answer)
            shown = served(authority, "127.0.0.1") if tls_proxy else None
            await stack.enter_async_context(listening(proxy, shown))
            scheme = "https" if tls_proxy else "http"
            yield Office(authority, file, double, front, proxy, scheme)


def served(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with authority.issue_cert(name).private_key_and_cert_chain_pem.tempfile() as file:
        context.load_cert_chain(file)
    return context


async def asked(env: dict[str, str], **editor: object) -> str:
    """The answer to one prompt."""
    link = ModelLink(env, lambda: UserSide(editor=editor))
    try:
        with anyio.fail_after(20):
            events = [event async for event in link.stream(REQUEST)]
    finally:
        await link.aclose()
    blocks = cast("ResponseEnded", events[-1]).message.content
    return "".join(block.text for block in blocks if isinstance(block, Text))


async def refused(env: dict[str, str], **editor: object) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await asked(env, **editor)
    return caught.value


@pytest.mark.parametrize("tls_proxy", [False, True])
async def test_a_model_is_reached_through_a_proxy_with_the_office_authority(
    tmp_path: Path, tls_proxy: bool
) -> None:
    async with office(tmp_path, tls_proxy=tls_proxy) as net:
        assert await asked(net.env()) == "hello"
        assert net.proxy.seen == [f"CONNECT {MODEL}:443 HTTP/1.1"]


async def test_ssl_cert_file_replaces_the_authorities_and_the_extra_ones_add_to_it(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    async with office(tmp_path) as net:
        own = str(net.authority_file)
        error = await refused(net.env(SSL_CERT_FILE=str(other), NODE_EXTRA_CA_CERTS=""))
        assert f"authorities: {other} (SSL_CERT_FILE)" in error.message
        net.double.add(reply(text("hello")))
        assert await asked(net.env(SSL_CERT_FILE=own, NODE_EXTRA_CA_CERTS="")) == "hello"
        assert await asked(net.env(SSL_CERT_FILE=str(other))) == "hello"


async def test_an_unknown_authority_is_refused_at_once_with_proxy_and_authorities_named(
    tmp_path: Path,
) -> None:
    async with office(tmp_path, login=LOGIN) as net:
        error = await refused(net.env(NODE_EXTRA_CA_CERTS=""))
        where = f"http://***@127.0.0.1:{net.proxy.port} (HTTPS_PROXY)"
    assert error.kind == "permission", "asking again is no use"
    assert f"The certificate of https://{MODEL} is not trusted" in error.message
    assert f"through the proxy {where}, authorities: this computer's own" in error.message
    assert "NODE_EXTRA_CA_CERTS" in error.message


async def test_a_proxy_gets_its_login_and_its_password_is_never_shown(tmp_path: Path) -> None:
    async with office(tmp_path, login=LOGIN) as net:
        assert await asked(net.env()) == "hello"
        error = await refused(net.env(HTTPS_PROXY=f"http://bob:wr0ng@127.0.0.1:{net.proxy.port}"))
        assert "407" in error.message
        assert f"http://***@127.0.0.1:{net.proxy.port}" in error.message
        assert "wr0ng" not in error.message
        assert error.kind == "permission"
        network = network_of(net.env())
        assert "s3cret" not in repr(network) + network.way(f"https://{MODEL}")


async def test_the_editors_proxy_goes_before_the_environments(tmp_path: Path) -> None:
    async with office(tmp_path) as net:
        env = net.env(HTTPS_PROXY="http://127.0.0.1:9")
        assert await asked(env, proxy=net.proxy_url) == "hello"
        error = await refused(env)
        assert "through the proxy http://127.0.0.1:9 (HTTPS_PROXY)" in error.message
        assert error.kind == "connection"


async def test_a_client_certificate_is_shown_where_one_is_wanted(tmp_path: Path) -> None:
    async with office(tmp_path, client_certificate=True) as net:
        issued = net.authority.issue_cert("alice@example.org")
        certificate, key = tmp_path / "alice.pem", tmp_path / "alice.key"
        issued.cert_chain_pems[0].write_to_path(certificate)
        issued.private_key_pem.write_to_path(key)
        env = net.env(CLAUDE_CODE_CLIENT_CERT=str(certificate), CLAUDE_CODE_CLIENT_KEY=str(key))
        assert await asked(env) == "hello"
        assert net.front.certificates == ["(('email', 'alice@example.org'),)"]
        error = await refused(net.env())
        assert MODEL in error.message


async def test_a_page_of_the_proxy_instead_of_the_model_names_the_proxy(tmp_path: Path) -> None:
    async with office(tmp_path, answer=PAGE) as net:
        env = net.env(ANTHROPIC_BASE_URL=f"http://{MODEL}", HTTP_PROXY=net.proxy_url)
        error = await refused(env)
        where = f"http://127.0.0.1:{net.proxy.port}"
        assert error.message == (
            f"{MODEL} answered with a web page (status 503) “Web filter: blocked”, not as a model "
            f"does. It may come from the proxy {where} (HTTP_PROXY, HTTPS_PROXY)."
        )
        assert (error.kind, error.status) == ("overloaded", 503)
        refusal = await refused(net.env())
        assert f"The proxy refuses: 503 Blocked (through the proxy {where}" in refusal.message


async def test_plain_http_goes_through_the_proxy_too(tmp_path: Path) -> None:
    async with office(tmp_path) as net:
        net.proxy.routes = {MODEL: int(urlsplit(net.double.base_url).port or 0)}
        env = net.env(ANTHROPIC_BASE_URL=f"http://{MODEL}", ALL_PROXY=net.proxy_url)
        assert await asked({**env, "HTTPS_PROXY": ""}) == "hello"
        assert net.proxy.seen == [f"POST http://{MODEL}/v1/messages HTTP/1.1"]


async def test_the_loopback_is_reached_without_the_proxy(tmp_path: Path) -> None:
    async with office(tmp_path) as net:
        env = net.env(ANTHROPIC_BASE_URL=net.double.base_url, HTTP_PROXY=net.proxy_url)
        assert await asked(env) == "hello"
        assert net.proxy.seen == []


@pytest.mark.parametrize(
    "name", ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "CLAUDE_CODE_CLIENT_CERT"]
)
async def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, name: str) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate", encoding="ascii")
    env = {"ANTHROPIC_BASE_URL": f"https://{MODEL}", "ANTHROPIC_API_KEY": "key"}
    error = await refused({**env, name: str(broken)})
    assert error.kind == "no_model"
    assert f"{name} names {broken}, which cannot be used" in error.message
    error = await refused({**env, name: str(tmp_path / "nowhere.pem")})
    assert "No such file" in error.message


async def test_the_way_is_told_when_the_model_is_found(tmp_path: Path) -> None:
    async with office(tmp_path) as net:
        link = ModelLink(net.env(), UserSide)
        found = await link.connect()
        await link.aclose()
    assert isinstance(found, Linked)
    assert found.way == (
        f"through the proxy {net.proxy_url} (HTTPS_PROXY), authorities: "
        f"this computer's own and {net.authority_file} (NODE_EXTRA_CA_CERTS)"
    )
