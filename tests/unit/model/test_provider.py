"""Where the model comes from: the first source that is there, and what to do when none is."""

from pathlib import Path
from typing import Any

import pytest

from sidelight.model.discover import LocalModel, LocalServer
from sidelight.model.network import is_loopback
from sidelight.model.provider import (
    API,
    Credential,
    NoModel,
    Provider,
    find,
    local_provider,
    resolve,
)

SECRET = "sk-ant-very-secret"


def provider(env: dict[str, str], **more: Any) -> Provider:
    found = resolve(env, **more)
    assert isinstance(found, Provider), found
    return found


def key(secret: str = SECRET) -> Credential:
    return Credential("api_key", secret)


def profile_in(folder: Path, name: str) -> None:
    (folder / "configs").mkdir(parents=True, exist_ok=True)
    (folder / "configs" / f"{name}.json").write_text("{}", encoding="utf-8")


@pytest.mark.req("MODEL-06")
def test_the_sources_are_tried_in_their_order(home: Path) -> None:
    folder = home / ".config" / "anthropic"
    profile_in(folder, "default")
    env = {
        "ANTHROPIC_API_KEY": "key",
        "ANTHROPIC_AUTH_TOKEN": "token",
        "ANTHROPIC_PROFILE": "work",
        "ANTHROPIC_IDENTITY_TOKEN_FILE": "/t",
        "ANTHROPIC_FEDERATION_RULE_ID": "r",
        "ANTHROPIC_ORGANIZATION_ID": "o",
    }
    user_env = {"ANTHROPIC_API_KEY": "theirs"}
    seen = [provider(env, key="given", user_env=user_env)]
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        seen.append(provider(env, user_env=user_env))
        del env[name]
    seen.append(provider(env, user_env=user_env))
    seen.append(provider({}, user_env=user_env))
    (folder / "configs" / "default.json").unlink()
    seen.append(provider({}, user_env=user_env))
    assert [(each.credential, each.source) for each in seen] == [
        (key("given"), "key"),
        (key("key"), "ANTHROPIC_API_KEY (environment)"),
        (Credential("auth_token", "token"), "ANTHROPIC_AUTH_TOKEN (environment)"),
        (Credential("profile", profile="work"), "login profile 'work' (ANTHROPIC_PROFILE)"),
        (Credential("federation"), "workload identity (environment)"),
        (Credential("profile", profile="default"), f"login profile 'default' in {folder}"),
        (key("theirs"), "ANTHROPIC_API_KEY (user settings)"),
    ]


def test_the_active_profile_is_the_one_its_pointer_names(tmp_path: Path) -> None:
    profile_in(tmp_path, "work")
    (tmp_path / "active_config").write_text("work\n", encoding="utf-8")
    found = provider({"ANTHROPIC_CONFIG_DIR": str(tmp_path)})
    assert (found.credential, found.base_url) == (Credential("profile", profile="work"), None)


def test_a_pointer_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    pointer = tmp_path / "active_config"
    pointer.write_bytes(b"\xff\xfe")
    profile_in(tmp_path, "default")
    found = resolve({"ANTHROPIC_CONFIG_DIR": str(tmp_path)})
    assert isinstance(found, NoModel)
    assert f"{pointer} does not name a login profile" in found.advice


def test_a_base_url_says_where_it_was_found_and_needs_no_credential() -> None:
    source = "no credential, to gateway:4000 (ANTHROPIC_BASE_URL, user settings)"
    found = provider({}, user_env={"ANTHROPIC_BASE_URL": "http://gateway:4000/v1/"})
    assert found == Provider("gateway", "http://gateway:4000", None, source)


def test_without_a_base_url_the_api_itself_is_asked() -> None:
    found = provider({"ANTHROPIC_API_KEY": SECRET})
    assert (found.kind, found.base_url, found.host) == ("anthropic", API, "api.anthropic.com")


def test_no_secret_is_ever_shown() -> None:
    found = provider({"ANTHROPIC_API_KEY": SECRET})
    assert SECRET not in repr(found) + found.source + str(found)


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"ANTHROPIC_BASE_URL": "gateway"}, "ANTHROPIC_BASE_URL is 'gateway'"),
        ({"ANTHROPIC_BASE_URL": "ftp://x"}, "must look like https://host"),
        ({"ANTHROPIC_BASE_URL": "http://x:99999"}, "must look like https://host"),
        ({"ANTHROPIC_API_KEY": "sk-\u2026"}, "ANTHROPIC_API_KEY holds characters"),
        ({"ANTHROPIC_AUTH_TOKEN": "a b"}, "ANTHROPIC_AUTH_TOKEN holds characters"),
    ],
)
def test_a_value_that_cannot_work_is_named_before_it_is_sent(
    env: dict[str, str], words: str
) -> None:
    found = resolve(env)
    assert isinstance(found, NoModel)
    assert words in str(found)


def test_a_broken_key_is_not_repeated() -> None:
    assert "\u2026" not in str(resolve({"ANTHROPIC_API_KEY": "sk-\u2026secret"}))


def test_with_nothing_the_text_says_what_was_tried_and_what_to_do_next(home: Path) -> None:
    found = resolve({"ANTHROPIC_API_KEY": " "}, user_env={})
    assert isinstance(found, NoModel)
    assert str(found).splitlines() == [
        "No model is set up.",
        "Do one of these, then try again:",
        "  1. Set ANTHROPIC_API_KEY to a key from the console of the Claude API",
        "     (or ANTHROPIC_AUTH_TOKEN and ANTHROPIC_BASE_URL for a gateway).",
        "  2. Start a model server on this computer: "
        "Ollama, LM Studio, llama.cpp, vLLM or LiteLLM.",
        "  3. Run `sidelight demo` to watch the agent at work on prewritten answers, "
        "without any model.",
        "Looked for:",
        "  - key from the editor: none",
        "  - ANTHROPIC_API_KEY (environment): not set",
        "  - ANTHROPIC_AUTH_TOKEN (environment): not set",
        "  - ANTHROPIC_API_KEY (user settings): not set",
        "  - ANTHROPIC_AUTH_TOKEN (user settings): not set",
        f"  - login profile in {home / '.config' / 'anthropic'}: none",
        "  - ANTHROPIC_BASE_URL: not set",
    ]


@pytest.mark.anyio
async def test_what_the_user_set_up_goes_before_any_look_around() -> None:
    found = await find({"ANTHROPIC_API_KEY": SECRET}, places=())
    assert isinstance(found, Provider)
    assert found.credential == key()


def server(*models: LocalModel) -> LocalServer:
    return LocalServer("ollama", "http://127.0.0.1:11434", models)


def test_a_local_server_is_asked_for_its_own_models_with_the_plain_features() -> None:
    found = local_provider(server(LocalModel("a", 40_000), LocalModel("b")), "b")
    assert found.source == "Ollama at http://127.0.0.1:11434"
    assert [found.card(name).id for name in ("sonnet", "a", "b")] == ["b", "a", "b"]
    plain = found.card("a")
    features = (plain.window, plain.thinking, plain.efforts, plain.caching)
    assert features == (40_000, "none", (), False)


@pytest.mark.parametrize(
    ("window", "words"), [(4_096, "context of 4096 tokens"), (64_000, "depends"), (None, "depends")]
)
def test_people_are_warned_of_a_local_model(window: int | None, words: str) -> None:
    assert words in local_provider(server(LocalModel("a", window))).warning


def test_a_provider_that_is_not_local_needs_no_warning() -> None:
    assert not provider({"ANTHROPIC_API_KEY": SECRET}).warning


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://[::1]:4000", True),
        ("https://api.anthropic.com", False),
        ("http://127.example.com", False),
        ("http://10.0.0.1", False),
    ],
)
def test_only_addresses_of_this_computer_are_its_own(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
