"""Which model server a session talks to, and with what credential; or what to do if there is none.

Every mapping given to this file is the user's own. A repository's settings never reach it: they
could send the user's key to a host of their choice.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from sidelight.model.catalog import ModelCard, card, model_id, plain_card
from sidelight.model.discover import (
    PROBE_S,
    SMALLEST_WINDOW,
    USUAL_PLACES,
    Candidate,
    LocalModel,
    LocalServer,
    discover,
)

API = "https://api.anthropic.com"
FEDERATION = (
    ("ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE"),
    ("ANTHROPIC_FEDERATION_RULE_ID",),
    ("ANTHROPIC_ORGANIZATION_ID",),
)

ProviderKind = Literal["anthropic", "gateway", "local"]
CredentialKind = Literal["api_key", "auth_token", "profile", "federation"]


@dataclass(frozen=True, slots=True)
class Credential:
    """What proves who asks. `secret` is empty where the SDK finds its own (profile: its name)."""

    kind: CredentialKind
    secret: str = field(default="", repr=False)
    profile: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where requests go. `source` says for people where this was found, without secrets.

    `base_url` is None where a profile may bring its own. `local` servers get the plain features.
    """

    kind: ProviderKind
    base_url: str | None
    credential: Credential | None
    source: str
    local: bool = False
    models: tuple[LocalModel, ...] = ()

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url or API).netloc

    @property
    def on_this_computer(self) -> bool:
        """Whether requests stay on the loopback."""
        return is_loopback(self.base_url or API)

    def card(self, name: str) -> ModelCard:
        """The card of the model to ask for a name; a local server knows its own models only."""
        if not self.local:
            return card(name)
        offered = [model for model in self.models if model.id in {name, model_id(name)}]
        chosen = (offered or list(self.models) or [LocalModel(name)])[0]
        return plain_card(chosen.id, chosen.window)

    @property
    def warning(self) -> str:
        """What people should know of a local model before they trust it; empty for others."""
        if not self.local:
            return ""
        window = self.models[0].window if self.models else None
        if window is not None and window < SMALLEST_WINDOW:
            return (
                f"Local model with a context of {window} tokens; "
                f"an agent needs {SMALLEST_WINDOW} or more. Raise it in the server's settings."
            )
        return "Local model: how good the help is depends on the model."


@dataclass(frozen=True, slots=True)
class NoModel:
    """Nobody to ask: what was tried, and what the user can do next."""

    tried: tuple[str, ...]
    advice: str

    def __str__(self) -> str:
        lines = "\n".join(f"  - {line}" for line in self.tried)
        return f"No model is set up.\n{self.advice}\nLooked for:\n{lines}"


ADVICE = """Do one of these, then try again:
  1. Set ANTHROPIC_API_KEY to a key from the console of the Claude API
     (or ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL for a gateway).
  2. Start a model server on this computer: Ollama, LM Studio, llama.cpp, vLLM or LiteLLM.
  3. Run `sidelight demo` to watch the agent at work on prewritten answers, without any model."""


async def find(
    env: Mapping[str, str],
    *,
    user_env: Mapping[str, str] | None = None,
    key: str | None = None,
    home: Path | None = None,
    places: Sequence[Candidate] = USUAL_PLACES,
    probe_s: float = PROBE_S,
) -> Provider | NoModel:
    """`resolve`, and if that finds nothing the first usable server on this computer.

    Looking around takes `probe_s` seconds at most. Raises nothing; cancellable.
    """
    found = resolve(env, user_env=user_env, key=key, home=home)
    if isinstance(found, Provider):
        return found
    servers = await discover(places, probe_s=probe_s)
    for server in servers:
        if not server.problem:
            return local_provider(server)
    ports = ", ".join(str(place.port) for place in places)
    tried = (
        [f"a model server at 127.0.0.1, ports {ports}: none"]
        if not servers
        else [f"{server.title}: found, but {server.problem}" for server in servers]
    )
    return NoModel((*found.tried, *tried), found.advice)


def resolve(
    env: Mapping[str, str],
    *,
    user_env: Mapping[str, str] | None = None,
    key: str | None = None,
    home: Path | None = None,
) -> Provider | NoModel:
    """The provider that the user set up. The first that is there wins; nothing is sent.

    `key` was given by the editor; `env` is the process's; `user_env` the `env` block of the user's
    own settings, read only for what `env` lacks.
    """
    places = (("environment", env), ("user settings", user_env or {}))
    url, url_source = _first(places, "ANTHROPIC_BASE_URL")
    try:
        base_url = checked_url(url) if url else None
        credential, source, tried = _credential(key, places, home or Path.home())
    except ValueError as error:
        return NoModel((str(error),), f"Correct this: {error}\n{ADVICE}")
    if credential is None and base_url is None:
        return NoModel((*tried, "ANTHROPIC_BASE_URL: not set"), ADVICE)
    to = f", to {urlsplit(base_url).netloc} (ANTHROPIC_BASE_URL, {url_source})" if base_url else ""
    from_profile = credential is not None and credential.kind in {"profile", "federation"}
    return Provider(
        kind="gateway" if base_url and base_url != API else "anthropic",
        base_url=base_url or (None if from_profile else API),
        credential=credential,
        source=(source or "no credential") + to,
    )


def local_provider(server: LocalServer, model: str | None = None) -> Provider:
    """The provider for a server that was found; `model` goes first if the user chose one."""
    models = sorted(server.models, key=lambda each: each.id != model)
    return Provider("local", server.base_url, None, server.title, local=True, models=tuple(models))


Places = tuple[tuple[str, Mapping[str, str]], ...]


def _credential(
    key: str | None, places: Places, home: Path
) -> tuple[Credential | None, str, tuple[str, ...]]:
    if key and key.strip():
        return Credential("api_key", checked_secret("The key given by the editor", key)), "key", ()
    tried = ["key from the editor: none"]
    for where, env in places:
        for kind, name in _VARIABLES:
            value = env.get(name, "").strip()
            if value:
                return Credential(kind, checked_secret(name, value)), f"{name} ({where})", ()
            tried.append(f"{name} ({where}): not set")
        if where == "environment" and (found := _sdk_credential(env, home)):
            return *found, ()
    tried.append(f"login profile in {_config_folder(places[0][1], home)}: none")
    return None, "", tuple(tried)


_VARIABLES: tuple[tuple[CredentialKind, str], ...] = (
    ("api_key", "ANTHROPIC_API_KEY"),
    ("auth_token", "ANTHROPIC_AUTH_TOKEN"),
)


def _sdk_credential(env: Mapping[str, str], home: Path) -> tuple[Credential, str] | None:
    """What the SDK itself would find in its own places, in its own order."""
    folder = _config_folder(env, home)
    name = env.get("ANTHROPIC_PROFILE", "").strip()
    if name:
        return Credential("profile", profile=name), f"login profile {name!r} (ANTHROPIC_PROFILE)"
    if all(any(env.get(each) for each in either) for either in FEDERATION):
        return Credential("federation"), "workload identity (environment)"
    name = _active_profile(folder / "active_config")
    if (folder / "configs" / f"{name}.json").is_file():
        return Credential("profile", profile=name), f"login profile {name!r} in {folder}"
    return None


def _active_profile(pointer: Path) -> str:
    try:
        return pointer.read_text(encoding="utf-8").strip() or "default"
    except FileNotFoundError:
        return "default"
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{pointer} does not name a login profile: {error}") from error


def _config_folder(env: Mapping[str, str], home: Path) -> Path:
    if env.get("ANTHROPIC_CONFIG_DIR"):
        return Path(env["ANTHROPIC_CONFIG_DIR"])
    if sys.platform == "win32":
        return Path(env.get("APPDATA") or home / "AppData" / "Roaming") / "Anthropic"
    return home / ".config" / "anthropic"


def _first(places: Places, name: str) -> tuple[str, str]:
    for where, env in places:
        value = env.get(name, "").strip()
        if value:
            return value, where
    return "", ""


def checked_secret(name: str, value: str) -> str:
    """The value without blanks around it. Raises ValueError when no header can carry it."""
    secret = value.strip()
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ValueError(f"{name} holds characters that no key has; copy it again.")
    return secret


def checked_url(value: str) -> str:
    """An http(s) address as the SDK wants it, without `/v1`. Raises ValueError."""
    url = value.rstrip("/").removesuffix("/v1").rstrip("/")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(
            f"ANTHROPIC_BASE_URL is {value!r}; it must look like https://host or http://host:port."
        )
    return url


def is_loopback(url: str) -> bool:
    """Whether an address is on this computer."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
