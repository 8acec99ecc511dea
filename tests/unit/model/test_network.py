"""Which way a request goes, and what is said of it."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.model.network import Network, checked_proxy, masked, network_of

P = "http://proxy:3128"
Q = "http://other:8080"


@pytest.mark.parametrize(
    ("env", "url", "expected"),
    [
        ({"HTTPS_PROXY": P}, "https://api.example", P),
        ({"https_proxy": P, "HTTPS_PROXY": Q}, "https://api.example", P),
        ({"HTTPS_PROXY": P}, "http://api.example", None),
        ({"HTTP_PROXY": P}, "http://api.example", P),
        ({"ALL_PROXY": P, "HTTPS_PROXY": Q}, "https://api.example", Q),
        ({"ALL_PROXY": P, "HTTPS_PROXY": Q}, "http://api.example", P),
        ({"HTTPS_PROXY": "proxy:3128"}, "https://api.example", P),
        ({"HTTPS_PROXY": " "}, "https://api.example", None),
        ({}, "https://api.example", None),
    ],
)
def test_the_proxy_is_chosen_by_the_scheme_of_the_address(
    env: dict[str, str], url: str, expected: str | None
) -> None:
    assert network_of(env).proxy_for(url) == expected


@pytest.mark.parametrize(
    ("direct", "host", "is_direct"),
    [
        ("example.com", "example.com", True),
        ("example.com", "api.example.com", True),
        (".example.com", "api.example.com", True),
        ("*.example.com", "api.example.com", True),
        ("example.com", "notexample.com", False),
        ("EXAMPLE.com", "api.example.COM", True),
        ("example.com.", "example.com", False),
        ("example.com:443", "example.com", True),
        ("example.com:8443", "example.com", False),
        ("a.example, b.example", "b.example", True),
        ("a.example b.example", "b.example", True),
        ("*", "anything.example", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("fd00::/8", "[fd00::1]", True),
        ("[fd00::1]", "[fd00::1]", True),
        ("10.0.0.0/8", "ten.example", False),
        ("", "example.com", False),
        (",", "example.com", False),
    ],
)
def test_no_proxy_names_hosts_ranges_and_ports(direct: str, host: str, is_direct: bool) -> None:
    network = network_of({"HTTPS_PROXY": P, "NO_PROXY": direct})
    assert (network.proxy_for(f"https://{host}/v1") is None) is is_direct


@given(
    st.dictionaries(
        st.sampled_from(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"]), st.just(P)
    ),
    st.sampled_from(["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "LOCALHOST", "localhost."]),
    st.sampled_from(["http", "https"]),
)
def test_the_loopback_never_goes_through_a_proxy(
    env: dict[str, str], host: str, scheme: str
) -> None:
    network = network_of(env, {"proxy": Q})
    assert network.proxy_for(f"{scheme}://{host}:11434") is None


def test_the_editors_proxy_counts_for_all_and_its_exceptions_join_the_environments() -> None:
    env = {"HTTPS_PROXY": P, "NO_PROXY": "a.example"}
    network = network_of(env, {"proxy": Q, "noProxy": ["b.example"]})
    hosts = ("a.example", "b.example", "c.example")
    assert [network.proxy_for(f"https://{host}") for host in hosts] == [None, None, Q]
    assert network.source == "the editor's setting http.proxy"


def test_the_systems_proxy_counts_where_nothing_else_is_set() -> None:
    system = {"http": P, "https": Q, "ftp": "http://ftp"}
    network = network_of({}, system=lambda: system)
    assert network.proxy_for("https://api.example") == Q
    assert (network.source, network.proxies.get("ftp")) == ("the system's settings", None)
    own = network_of({"HTTPS_PROXY": P}, system=lambda: system)
    assert own.proxy_for("https://api.example") == P


@pytest.mark.parametrize(
    "value", ["ftp://proxy:1", "http://", "http://user:pa55@proxy:99999", "http://user:pa55@"]
)
def test_a_proxy_that_cannot_work_is_named_without_its_password(value: str) -> None:
    with pytest.raises(ValueError, match="The proxy in HTTPS_PROXY is") as caught:
        network_of({"HTTPS_PROXY": value})
    assert "pa55" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://user:pass@proxy:3128", "http://***@proxy:3128"),
        ("http://user:p@ss@proxy:3128", "http://***@proxy:3128"),
        ("user:pass@proxy:3128", "http://***@proxy:3128"),
        ("socks5://token@proxy", "socks5://***@proxy"),
    ],
)
def test_a_proxy_is_shown_without_its_login(url: str, shown: str) -> None:
    assert masked(url) == shown
    network = Network({"https": url}, "HTTPS_PROXY")
    assert f"the proxy {shown} (HTTPS_PROXY)" in network.way("https://api.example")


def test_a_socks_proxy_without_its_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    network = Network({"all": checked_proxy("socks5://proxy:1080", "ALL_PROXY")}, "ALL_PROXY")
    with pytest.raises(ValueError, match="socks5://proxy:1080 .ALL_PROXY. is a SOCKS proxy"):
        network.transport().prepare("https://api.example")


def test_the_plain_way_is_nothing_special() -> None:
    assert not Network().is_special
    assert Network().way("http://api.example") == "without proxy"
