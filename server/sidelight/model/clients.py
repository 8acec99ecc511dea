"""The provider's SDK made ready for one provider: its class, its credential, the way there."""

import re
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import httpx2

from sidelight.core.content import Json
from sidelight.core.errors import ModelError
from sidelight.model.clouds import BY_KIND, NOBODY, Cloud
from sidelight.model.failures import kind_of_status
from sidelight.model.network import Network, masked
from sidelight.model.provider import API, Credential, Provider

LONGEST_TITLE = 120
LONGEST_PAGE = 65_536
"""Bytes read of a page that is not the model's, to find its title."""


def connect(
    anthropic: ModuleType, provider: Provider, network: Network, timeout: httpx2.Timeout
) -> Any:
    """The SDK's client. Raises ModelError with a sentence for the user, or the SDK's own error.

    Reads the files of certificates; blocks for some 40 ms.
    """
    try:
        return _connected(anthropic, provider, network, timeout)
    except ValueError as error:
        raise ModelError("no_model", str(error)) from error


def _connected(
    anthropic: ModuleType, provider: Provider, network: Network, timeout: httpx2.Timeout
) -> Any:
    cloud = BY_KIND.get(provider.kind)
    if cloud is not None:
        check_extra(cloud, provider)
    url = provider.base_url or API
    routes = network.transport()
    routes.prepare(url)

    async def refuse_pages(response: httpx2.Response) -> None:
        await _refuse_pages(response, network)

    options: Json = {
        "http_client": anthropic.DefaultAsyncHttpxClient(
            transport=routes, trust_env=False, event_hooks={"response": [refuse_pages]}
        ),
        "timeout": timeout,
        "max_retries": 0,
        "open_telemetry": False,
    }
    if provider.headers:
        options["default_headers"] = dict(provider.headers)
    if cloud is not None:
        return getattr(anthropic, cloud.client)(**options, **provider.parameters)
    if provider.base_url is not None:
        options["base_url"] = provider.base_url
    return anthropic.AsyncAnthropic(**options, **_identity(provider.credential))


def check_extra(cloud: Cloud, provider: Provider) -> None:
    """Raise ModelError when the package that signs for a cloud is not installed."""
    # A token that was handed over needs no signing; a stream of Bedrock's needs the package anyway.
    token = {"access_token", "skip_auth", "api_key"} & provider.parameters.keys()
    if not cloud.needs or (token and cloud.kind != "bedrock"):
        return
    if not _is_installed(cloud.needs):
        raise ModelError(
            "no_model",
            f"{cloud.title} needs a package that is not installed. "
            f"Run `pip install 'sidelight[{cloud.extra}]'`, then try again.",
        )


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _identity(credential: Credential | None) -> Json:
    if credential is None:
        return {"api_key": NOBODY}
    if credential.kind == "federation":
        return {}
    if credential.kind == "profile":
        return {"profile": credential.profile}
    return {credential.kind: credential.secret}


async def _refuse_pages(response: httpx2.Response, network: Network) -> None:
    """A model never answers with a page of HTML; whoever did stands between, and is named."""
    if "html" not in response.headers.get("content-type", "").lower():
        return
    page = b""
    async for chunk in response.aiter_bytes():
        page += chunk
        if len(page) > LONGEST_PAGE:
            break
    await response.aclose()
    title = re.search(r"<title[^>]*>(.*?)</title>", page.decode(errors="replace"), re.S | re.I)
    words = f" “{' '.join(title[1].split())[:LONGEST_TITLE]}”" if title else ""
    url = str(response.request.url)
    proxy = network.proxy_for(url)
    whose = (
        f"It may come from the proxy {masked(proxy)} ({network.source})."
        if proxy
        else "Something on the way, or another program at that address, answers instead: "
        "check the address, and whether the network wants you to log in."
    )
    status = response.status_code
    raise ModelError(
        "permission" if status < 400 else kind_of_status(status),
        f"{response.request.url.host} answered with a web page (status {status}){words}, "
        f"not as a model does. {whose}",
        status=status if status >= 400 else None,
    )
