"""The way out of this computer: proxies, certificate authorities, a client's certificate.

One `Network` serves the model and whatever else speaks HTTP. It is made of the user's own
environment and editor only: a repository could otherwise read along.
"""

import re
import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies

import httpx2

from sidelight.core.content import Json, as_list

PROXY_SCHEMES = {"http", "https", "socks5", "socks5h"}
# A connection that a router forgot is noticed, even while the model thinks in silence.
KEEPALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, int(getattr(socket, name)), number)
        for name, number in (
            ("TCP_KEEPIDLE", 60),
            ("TCP_KEEPALIVE", 60),
            ("TCP_KEEPINTVL", 60),
            ("TCP_KEEPCNT", 5),
        )
        if hasattr(socket, name)
    ),
]
LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=60.0)


class NetworkError(httpx2.ConnectError):
    """No connection; the message names the proxy and the authorities that were used.

    `passing` says whether it may work a moment later.
    """

    def __init__(self, message: str, *, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Network:
    """How to reach a server.

    `proxies` has an address for each of `http`, `https` and `all`, with secrets; `direct` lists
    what is reached without (as in NO_PROXY). The files of authorities and of the client's
    certificate come with the name of the variable that names them.
    """

    proxies: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    source: str = ""
    direct: str = ""
    roots: tuple[str, str] | None = None
    extra_roots: tuple[str, str] | None = None
    certificate: tuple[str, str] | None = None
    key: tuple[str, str] | None = None
    passphrase: str = field(default="", repr=False)

    def proxy_for(self, url: str) -> str | None:
        """The proxy for an address, None for the direct way; the loopback is always direct."""
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
        if is_loopback(url) or any(_covers(entry, host, port) for entry in _entries(self.direct)):
            return None
        return self.proxies.get(parts.scheme) or self.proxies.get("all")

    def way(self, url: str) -> str:
        """The way to an address in words, without secrets."""
        proxy = self.proxy_for(url)
        words = [f"through the proxy {masked(proxy)} ({self.source})" if proxy else "without proxy"]
        if urlsplit(url).scheme == "https" or (proxy or "").startswith("https:"):
            words.append(f"authorities: {self.authorities}")
        if self.certificate:
            words.append(f"client certificate {_named(self.certificate)}")
        return ", ".join(words)

    @property
    def authorities(self) -> str:
        """Which certificate authorities are believed, in words."""
        roots = _named(self.roots) if self.roots else "this computer's own"
        return f"{roots} and {_named(self.extra_roots)}" if self.extra_roots else roots

    @property
    def is_special(self) -> bool:
        """Whether anything differs from the plain way."""
        return bool(self.proxies or self.roots or self.extra_roots or self.certificate)

    def tls(self) -> ssl.SSLContext:
        """A context that believes the authorities. Reads files; raises ValueError naming one."""
        context = _trusting(self.roots)
        if self.extra_roots:
            _load(self.extra_roots, lambda path: context.load_verify_locations(cafile=path))
        if self.certificate:
            key = self.key[1] if self.key else None
            _load(
                self.certificate,
                # Without a passphrase OpenSSL would ask for it on the terminal.
                lambda path: context.load_cert_chain(path, key, lambda: self.passphrase),
            )
        return context

    def transport(self) -> "Routes":
        """What sends each request its way; to be given to an HTTP client, which closes it."""
        return Routes(self)


class Routes(httpx2.AsyncBaseTransport):
    """Sends each request directly or through its proxy; says the way when there is none."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._tls: ssl.SSLContext | None = None
        self._ways: dict[tuple[str, str | None], httpx2.AsyncHTTPTransport] = {}

    def prepare(self, url: str) -> httpx2.AsyncHTTPTransport:
        """Get ready for an address, so that its first request does not pay. Raises ValueError."""
        proxy = self.network.proxy_for(url)
        scheme = urlsplit(url).scheme
        way = self._ways.get((scheme, proxy))
        if way is None:
            way = self._ways[scheme, proxy] = self._made(scheme, proxy)
        return way

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request. Raises NetworkError when there is no connection."""
        url = str(request.url)
        try:
            return await self.prepare(url).handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ProxyError) as error:
            raise _explained(error, self.network, url) from error

    async def aclose(self) -> None:
        """Close all connections."""
        for way in self._ways.values():
            await way.aclose()

    def _made(self, scheme: str, proxy: str | None) -> httpx2.AsyncHTTPTransport:
        if scheme != "https" and not (proxy or "").startswith("https:"):
            # No TLS on this way: the authorities need not be loaded (35 ms).
            return self._over(proxy, verify=False)
        self._tls = self._tls or self.network.tls()
        return self._over(proxy, verify=self._tls)

    def _over(
        self, proxy: str | None, *, verify: ssl.SSLContext | bool
    ) -> httpx2.AsyncHTTPTransport:
        options: Json = {"trust_env": False, "limits": LIMITS, "socket_options": KEEPALIVE}
        if proxy is None:
            return httpx2.AsyncHTTPTransport(verify=verify, **options)
        tls = verify if isinstance(verify, ssl.SSLContext) and proxy.startswith("https:") else None
        try:
            through = httpx2.Proxy(proxy, ssl_context=tls)
            return httpx2.AsyncHTTPTransport(verify=verify, proxy=through, **options)
        except ImportError as error:
            raise ValueError(
                f"{masked(proxy)} ({self.network.source}) is a SOCKS proxy; "
                "install the package socksio, or name an HTTP proxy."
            ) from error


def network_of(
    env: Mapping[str, str],
    editor: Mapping[str, object] | None = None,
    *,
    system: Callable[[], Mapping[str, str]] | None = None,
) -> Network:
    """The user's network: the editor's proxy first, then the environment, then the system's.

    `editor` may hold `proxy` (an address) and `noProxy` (a list). Raises ValueError naming what
    is wrong.
    """
    told = editor or {}
    proxy = str(told.get("proxy") or "").strip()
    if proxy:
        found, source = {"all": proxy}, "the editor's setting http.proxy"
    else:
        found, source = _from_environment(env)
    if not found:
        told_by_system = (system or _system_proxies)()
        found = {name: told_by_system[name] for name in ("http", "https") if name in told_by_system}
        source = "the system's settings" if found else ""
    direct = ",".join(
        (_value(env, "NO_PROXY"), *(str(each) for each in as_list(told.get("noProxy"))))
    )
    return Network(
        proxies={scheme: checked_proxy(url, source) for scheme, url in found.items()},
        source=source,
        direct=direct,
        roots=_file(env, "SSL_CERT_FILE", "SSL_CERT_DIR"),
        extra_roots=_file(env, "NODE_EXTRA_CA_CERTS"),
        certificate=_file(env, "CLAUDE_CODE_CLIENT_CERT"),
        key=_file(env, "CLAUDE_CODE_CLIENT_KEY"),
        passphrase=env.get("CLAUDE_CODE_CLIENT_KEY_PASSPHRASE", ""),
    )


def checked_proxy(value: str, source: str) -> str:
    """A proxy's address with its scheme. Raises ValueError, without secrets."""
    url = value.strip() if "://" in value else f"http://{value.strip()}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in PROXY_SCHEMES and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(
            f"The proxy in {source} is {masked(url)!r}; it must look like http://host:port."
        )
    return url


def masked(url: str) -> str:
    """An address without the name and password in it."""
    head, at, tail = url.rpartition("@")
    if not at:
        return url
    scheme = head.partition("://")[0] if "://" in head else "http"
    return f"{scheme}://***@{tail}"


def secrets_of(network: Network) -> tuple[str, ...]:
    """What must never be shown of the proxies, as written and as meant."""
    found: list[str] = []
    for url in network.proxies.values():
        password = urlsplit(url).password
        if password:
            found += [password, unquote(password)]
    return tuple(dict.fromkeys(found))


def is_loopback(url: str) -> bool:
    """Whether an address is on this computer."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origin(url: str) -> str:
    """Scheme, host and port of an address, without secrets."""
    parts = urlsplit(masked(url))
    return urlunsplit((parts.scheme, parts.netloc.removeprefix("***@"), "", "", ""))


def _system_proxies() -> Mapping[str, str]:
    return getproxies() if sys.platform in {"win32", "darwin"} else {}


def _from_environment(env: Mapping[str, str]) -> tuple[dict[str, str], str]:
    names = {"http": "HTTP_PROXY", "https": "HTTPS_PROXY", "all": "ALL_PROXY"}
    found = {
        scheme: value for scheme, name in names.items() if (value := _value(env, name).strip())
    }
    return found, ", ".join(names[scheme] for scheme in found)


def _value(env: Mapping[str, str], name: str) -> str:
    return env.get(name.lower()) or env.get(name) or ""


def _file(env: Mapping[str, str], *names: str) -> tuple[str, str] | None:
    return next(((name, env[name]) for name in names if env.get(name, "").strip()), None)


def _named(file: tuple[str, str]) -> str:
    return f"{file[1]} ({file[0]})"


def _trusting(roots: tuple[str, str] | None) -> ssl.SSLContext:
    if roots is None:
        return httpx2.create_ssl_context(trust_env=False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if Path(roots[1]).is_dir():
        context.load_verify_locations(capath=roots[1])
    else:
        _load(roots, lambda path: context.load_verify_locations(cafile=path))
    return context


def _load(file: tuple[str, str], load: Callable[[str], None]) -> None:
    name, path = file
    try:
        load(path)
    except (OSError, ValueError) as error:
        # OpenSSL's own errors say neither which file nor what to do.
        reason = "it is not what is needed (PEM)" if isinstance(error, ssl.SSLError) else str(error)
        raise ValueError(f"{name} names {path}, which cannot be used: {reason}.") from error


def _entries(direct: str) -> list[str]:
    return [entry for entry in re.split(r"[,\s]+", direct.lower()) if entry]


def _covers(entry: str, host: str, port: int) -> bool:
    """Whether an entry of NO_PROXY means a host: a name with all below it, an address, a range."""
    if entry == "*":
        return True
    try:
        return ip_address(host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # one of the two is a name
    name, _, number = entry.partition(":")
    name = name.removeprefix("*").removeprefix(".")
    return number in {"", str(port)} and bool(name) and (host == name or host.endswith(f".{name}"))


def _explained(error: Exception, network: Network, url: str) -> NetworkError:
    cause = _innermost(error)
    way = network.way(url)
    there = origin(url)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return NetworkError(
            f"The certificate of {there} is not trusted: {cause.verify_message} ({way}). If your "
            "network has its own authority, name its file in NODE_EXTRA_CA_CERTS.",
            passing=False,
        )
    words = str(cause).strip() or type(cause).__name__
    for secret in secrets_of(network):
        words = words.replace(secret, "***")
    if isinstance(error, httpx2.ProxyError):
        refused = words.startswith("407")
        advice = " Put its name and password into the address." if refused else ""
        return NetworkError(f"The proxy refuses: {words} ({way}).{advice}", passing=not refused)
    return NetworkError(f"No connection to {there}: {words} ({way}).", passing=True)


def _innermost(error: BaseException) -> BaseException:
    while (deeper := error.__cause__ or error.__context__) is not None:
        error = deeper
    return error
