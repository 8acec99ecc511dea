"""Which model server a session talks to, and with what credential; or what to do if there is none.

Every mapping given to this file is the user's own. A repository's settings never reach it: they
could send the user's key to a host of their choice.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from sidelight.model.catalog import ModelCard, card, families, model_id, plain_card
from sidelight.model.clouds import (
    BY_KIND,
    NOBODY,
    SECRET_PARAMETERS,
    Cloud,
    CloudKind,
    address_of,
    chosen_cloud,
    is_on,
    parameters_of,
)
from sidelight.model.discover import (
    PROBE_S,
    SMALLEST_WINDOW,
    USUAL_PLACES,
    Candidate,
    LocalModel,
    LocalServer,
    discover,
)
from sidelight.model.network import is_loopback

API = "https://api.anthropic.com"
FEDERATION = (
    ("ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE"),
    ("ANTHROPIC_FEDERATION_RULE_ID",),
    ("ANTHROPIC_ORGANIZATION_ID",),
)

ProviderKind = Literal["anthropic", "gateway", "local"] | CloudKind
KeyHeader = Literal["authorization", "x-api-key"]
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
    `parameters` are what a cloud's client is built with; `headers` go with every request;
    `families` are the user's own ids for `opus` and the like; `learned` the cards that the
    provider itself has told.
    """

    kind: ProviderKind
    base_url: str | None
    credential: Credential | None
    source: str
    local: bool = False
    models: tuple[LocalModel, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict[str, object], repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    families: Mapping[str, str] = field(default_factory=dict[str, str])
    learned: Mapping[str, ModelCard] = field(default_factory=dict[str, ModelCard], repr=False)

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url or API).netloc

    @property
    def on_this_computer(self) -> bool:
        """Whether requests stay on the loopback."""
        return is_loopback(self.base_url or API)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may repeat."""
        own = self.credential.secret if self.credential else ""
        others = (str(self.parameters.get(name, "")) for name in SECRET_PARAMETERS)
        return tuple(secret for secret in (own, *others) if secret and secret != NOBODY)

    def card(self, name: str) -> ModelCard:
        """The card of the model to ask for a name; a local server knows its own models only."""
        if not self.local:
            cloud = BY_KIND.get(self.kind)
            found = card(self.families.get(name.strip().lower(), name), self.learned)
            if cloud is not None:
                return found.at(cloud.prefix, cloud.beta_features)
            return found.at("", own_api=self.kind == "anthropic")
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
    helped: str | None = None,
    key_header: KeyHeader = "authorization",
    home: Path | None = None,
    places: Sequence[Candidate] = USUAL_PLACES,
    probe_s: float = PROBE_S,
) -> Provider | NoModel:
    """`resolve`, and if that finds nothing the first usable server on this computer.

    Looking around takes `probe_s` seconds at most. Raises nothing; cancellable.
    """
    found = resolve(
        env, user_env=user_env, key=key, helped=helped, key_header=key_header, home=home
    )
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
    helped: str | None = None,
    key_header: KeyHeader = "authorization",
    home: Path | None = None,
) -> Provider | NoModel:
    """The provider that the user set up. The first that is there wins; nothing is sent.

    `key` was given by the editor; `helped` by the user's apiKeyHelper; `env` is the process's;
    `user_env` the `env` block of the user's own settings, read only for what `env` lacks. With
    `key_header` x-api-key the credential goes into that header too.
    """
    places = (("environment", env), ("user settings", user_env or {}))
    merged = joined(env, user_env or {})
    try:
        cloud = chosen_cloud(merged)
        if cloud is not None:
            return _at_cloud(cloud, merged)
        url, url_source = _first(places, "ANTHROPIC_BASE_URL")
        base_url = checked_url(url) if url else None
        credential, source, tried = _credential(key, helped, places, home or Path.home())
        headers = _headers(merged, credential, key_header)
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
        headers=headers,
        families=families(merged),
    )


def wants_helper(env: Mapping[str, str], user_env: Mapping[str, str], key: str | None) -> bool:
    """Whether the user's apiKeyHelper is to be asked: something plainer would go before it."""
    given = bool(key and key.strip()) or any(env.get(name, "").strip() for _, name in _VARIABLES)
    merged = joined(env, user_env)
    return not given and not any(is_on(merged.get(cloud.switch)) for cloud in BY_KIND.values())


def joined(env: Mapping[str, str], user_env: Mapping[str, str]) -> dict[str, str]:
    """Both as one; what is set in the process's environment goes first."""
    return {**user_env, **{name: value for name, value in env.items() if value.strip()}}


def _at_cloud(cloud: Cloud, env: Mapping[str, str]) -> Provider:
    parameters = parameters_of(cloud, env)
    address = checked_url(address_of(cloud, parameters), f"The address of {cloud.title}", keep=True)
    headers = _headers(env, None, "authorization")
    token = env.get("ANTHROPIC_AUTH_TOKEN", "").strip()
    if parameters.get("skip_auth") and token:
        headers.setdefault("Authorization", f"Bearer {checked_secret('The token', token)}")
    return Provider(
        kind=cloud.kind,
        base_url=address,
        credential=None,
        source=f"{cloud.title} ({cloud.switch}), to {urlsplit(address).netloc}",
        parameters=parameters,
        headers=headers,
        families=families(env),
    )


def _headers(
    env: Mapping[str, str], credential: Credential | None, key_header: KeyHeader
) -> dict[str, str]:
    """The user's own headers. Raises ValueError for a line that is none, without repeating it."""
    headers: dict[str, str] = {}
    for number, line in enumerate(env.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines(), start=1):
        name, colon, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if not line.strip():
            continue
        if not colon or not _is_token(name) or not (value.isascii() and value.isprintable()):
            raise ValueError(f"ANTHROPIC_CUSTOM_HEADERS: line {number} is not `Name: value`.")
        headers[name] = value
    if key_header == "x-api-key" and credential is not None and credential.secret:
        headers["x-api-key"] = credential.secret
    return headers


def _is_token(name: str) -> bool:
    return bool(name) and all(letter.isalnum() or letter in "!#$%&'*+-.^_`|~" for letter in name)


def local_provider(server: LocalServer, model: str | None = None) -> Provider:
    """The provider for a server that was found; `model` goes first if the user chose one."""
    models = sorted(server.models, key=lambda each: each.id != model)
    return Provider("local", server.base_url, None, server.title, local=True, models=tuple(models))


def credential_files(
    provider: Provider, env: Mapping[str, str], home: Path | None = None
) -> tuple[tuple[str, int], ...]:
    """The files that a credential comes from, with their times, by which a change is seen.

    Reads the disk.
    """
    home = home or Path.home()
    aws, cloud = home / ".aws", BY_KIND.get(provider.kind)
    paths: list[Path] = []
    if cloud is not None and cloud.extra == "bedrock":
        paths.append(Path(env.get("AWS_SHARED_CREDENTIALS_FILE") or aws / "credentials"))
        paths.append(Path(env.get("AWS_CONFIG_FILE") or aws / "config"))
        paths += sorted((aws / "sso" / "cache").glob("*.json"))
    elif cloud is not None and cloud.extra == "vertex":
        default = home / ".config" / "gcloud" / "application_default_credentials.json"
        paths.append(Path(env.get("GOOGLE_APPLICATION_CREDENTIALS") or default))
    elif provider.credential is not None and provider.credential.kind == "profile":
        folder, name = _config_folder(env, home), f"{provider.credential.profile}.json"
        paths += [folder / "configs" / name, folder / "credentials" / name]
    return tuple((str(path), path.stat().st_mtime_ns) for path in paths if path.is_file())


Places = tuple[tuple[str, Mapping[str, str]], ...]


def _credential(
    key: str | None, helped: str | None, places: Places, home: Path
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
        if where == "environment" and helped:
            return (
                Credential("api_key", checked_secret("The key from apiKeyHelper", helped)),
                ("apiKeyHelper (user settings)"),
                (),
            )
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


def checked_url(value: str, name: str = "ANTHROPIC_BASE_URL", *, keep: bool = False) -> str:
    """An http(s) address as the SDK wants it, without `/v1` unless `keep`. Raises ValueError."""
    url = value.rstrip("/") if keep else value.rstrip("/").removesuffix("/v1").rstrip("/")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(
            f"{name} is {value!r}; it must look like https://host or http://host:port."
        )
    return url
