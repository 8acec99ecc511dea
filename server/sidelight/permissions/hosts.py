"""The host that an address would contact, read as a browser reads it."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
FORBIDDEN = re.compile(r"[\x00-\x20#/:<>?@\[\\\]^|%\x7f]")
LOCAL_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa")


@dataclass(frozen=True, slots=True)
class Host:
    """A host in lower case and ASCII, without the final dot; `public` is False for our own nets."""

    name: str
    public: bool


@dataclass(frozen=True, slots=True)
class BadAddress:
    """Why the address contacts nothing; `refused` when the tool must not even ask."""

    reason: str
    refused: bool


def host_of(url: str) -> Host | BadAddress:
    """The host of an http or https address."""
    text = re.sub(r"[\t\n\r]", "", url.strip("".join(map(chr, range(0x21)))))
    scheme = SCHEME.match(text)
    if scheme is None:
        return BadAddress("it is no full address", refused=True)
    if scheme[1].lower() not in {"http", "https"}:
        return BadAddress(f"the scheme {scheme[1].lower()} is not http or https", refused=True)
    rest = text[scheme.end() :].replace("\\", "/").lstrip("/")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return _host(authority.rpartition("@")[2])


def _host(text: str) -> Host | BadAddress:
    if text.startswith("["):
        inside, closed, _ = text[1:].partition("]")
        return _six(inside) if closed else BadAddress("its host cannot be read", refused=True)
    name = _ascii(text.partition(":")[0])
    if not name or FORBIDDEN.search(name):
        return BadAddress("its host cannot be read", refused=True)
    number = _four(name)
    if number == "bad":
        return BadAddress("its host is no address", refused=True)
    if number:
        return Host(number, _is_public(number))
    return Host(name, _named_public(name))


def _ascii(text: str) -> str:
    try:
        name = unquote_to_bytes(text).decode()
        encoded = name.lower() if name.isascii() else name.encode("idna").decode().lower()
    except UnicodeError:
        return ""
    return encoded.removesuffix(".")


def _six(text: str) -> Host | BadAddress:
    try:
        address = ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return BadAddress("its host is no address", refused=True)
    return Host(str(address), _is_public(str(address)))


def _four(name: str) -> str:
    """The usual form of an IPv4 address in any spelling; empty for names, `bad` for nonsense."""
    parts = name.split(".")
    last = parts[-1]
    if not re.fullmatch(r"\d+|0[xX][0-9a-fA-F]*", last):
        return ""
    numbers = [_number(part) for part in parts]
    if len(parts) > 4 or any(number is None for number in numbers):
        return "bad"
    values = [number for number in numbers if number is not None]
    *front, tail = values
    if any(value > 255 for value in front) or tail >= 256 ** (5 - len(values)):
        return "bad"
    total = tail + sum(value * 256 ** (3 - index) for index, value in enumerate(front))
    return str(ipaddress.IPv4Address(total))


def _number(text: str) -> int | None:
    try:
        if text.lower().startswith("0x"):
            return int(text[2:] or "0", 16)
        return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)
    except ValueError:
        return None


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text)
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_global and not address.is_multicast


def _named_public(name: str) -> bool:
    """Names without a dot and the usual names of inner nets are not public."""
    return "." in name and not any(
        name == local or name.endswith("." + local) for local in LOCAL_NAMES
    )


def host_matches(pattern: str, host: Host) -> bool:
    """Whether a rule's host pattern covers the host.

    `*` covers public hosts; `*.x` the subdomains of x at any depth; another `*` what stands
    between two dots. Inner hosts have to be named.
    """
    wanted = pattern.strip().lower().removesuffix(".")
    if not wanted.isascii():
        wanted = _ascii(wanted)
    if wanted.strip("[]") == host.name:
        return True
    if "*" not in wanted or not host.public:
        return False
    if wanted == "*":
        return True
    front, rest = ("(?:[^.]+\\.)+", wanted[2:]) if wanted.startswith("*.") else ("", wanted)
    body = "[^.]*".join(re.escape(part) for part in rest.split("*"))
    return re.fullmatch(front + body, host.name) is not None
