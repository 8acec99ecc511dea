"""Each cloud's client of the SDK, as the user's variables choose it, against a door of our own."""

import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from sidelight.core.content import Text
from sidelight.core.errors import ModelError
from sidelight.core.model import ModelRequest, PromptMessage, ResponseEnded, SystemPrompt
from sidelight.model.link import Linked, ModelLink, UserSide
from tests.fakes.clouds import CloudDouble, Framing, Seen, is_signed, running_cloud

pytestmark = [pytest.mark.anyio, pytest.mark.req("MODEL-04")]

REQUEST = ModelRequest(
    model="sonnet",
    system=SystemPrompt(stable="s"),
    tools=(),
    messages=(PromptMessage(role="user", content=(Text(text="go"),)),),
)
SECRET = "aws-secret-key"
AWS = {
    "AWS_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_SESSION_TOKEN": "session-token",
}


async def answered(link: ModelLink) -> str:
    with anyio.fail_after(30):
        events = [event async for event in link.stream(REQUEST)]
    blocks = cast("ResponseEnded", events[-1]).message.content
    return "".join(block.text for block in blocks if isinstance(block, Text))


async def asked(
    process: dict[str, str],
    variable: str,
    *,
    framing: Framing = "events",
    path: str = "",
    **user: Any,
) -> tuple[Seen, str]:
    """The request that came for one prompt, and the address that it came to."""
    async with running_cloud(CloudDouble(framing)) as cloud:
        link = ModelLink({**process, variable: cloud.url + path}, lambda: UserSide(**user))
        try:
            assert await answered(link) == "hello"
        finally:
            await link.aclose()
        return cloud.seen[-1], cloud.url


async def refused(env: dict[str, str]) -> ModelError:
    link = ModelLink(env, UserSide)
    with pytest.raises(ModelError) as caught, anyio.fail_after(30):
        [event async for event in link.stream(REQUEST)]
    await link.aclose()
    return caught.value


async def test_bedrock_gets_a_signed_request_at_its_own_path_and_its_framing_is_read() -> None:
    env = {**AWS, "CLAUDE_CODE_USE_BEDROCK": "1"}
    request, url = await asked(env, "ANTHROPIC_BEDROCK_BASE_URL", framing="aws")
    model = "global.anthropic.claude-sonnet-5-5"
    assert (request.method, request.path) == (
        "POST",
        f"/model/{model}/invoke-with-response-stream",
    )
    assert is_signed(request, url, SECRET, "bedrock")
    assert request.headers["x-amz-security-token"] == "session-token"
    assert "model" not in request.json
    assert "stream" not in request.json
    assert request.json["anthropic_version"]


async def test_a_key_for_bedrock_goes_before_the_keys_of_the_shell() -> None:
    env = {**AWS, "CLAUDE_CODE_USE_BEDROCK": "1", "AWS_BEARER_TOKEN_BEDROCK": "bedrock-key"}
    request, _ = await asked(env, "ANTHROPIC_BEDROCK_BASE_URL", framing="aws")
    assert request.headers["authorization"] == "Bearer bedrock-key"


@pytest.mark.parametrize(
    ("switch", "variable", "service", "more"),
    [
        ("CLAUDE_CODE_USE_MANTLE", "ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "bedrock-mantle", {}),
        (
            "CLAUDE_CODE_USE_ANTHROPIC_AWS",
            "ANTHROPIC_AWS_BASE_URL",
            "aws-external-anthropic",
            {"ANTHROPIC_AWS_WORKSPACE_ID": "wrkspc_1"},
        ),
    ],
)
async def test_the_other_doors_at_aws_get_signed_messages(
    switch: str, variable: str, service: str, more: dict[str, str]
) -> None:
    request, url = await asked({**AWS, **more, switch: "1"}, variable, path="/anthropic")
    assert (request.method, request.path) == ("POST", "/anthropic/v1/messages")
    assert is_signed(request, url, SECRET, service)
    prefix = "anthropic." if switch.endswith("MANTLE") else ""
    assert request.json["model"] == f"{prefix}claude-sonnet-5-5"


async def test_vertex_gets_a_token_of_the_service_account_and_its_own_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    async with running_cloud(CloudDouble()) as cloud:
        account = await anyio.to_thread.run_sync(service_account, tmp_path, cloud.url)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(account))
        env = {
            "CLAUDE_CODE_USE_VERTEX": "1",
            "CLOUD_ML_REGION": "europe-west1",
            "ANTHROPIC_VERTEX_PROJECT_ID": "our-project",
            "ANTHROPIC_VERTEX_BASE_URL": f"{cloud.url}/v1",
        }
        link = ModelLink(env, UserSide)
        assert await answered(link) == "hello"
        await link.aclose()
    token, request = cloud.seen
    assert token.path == "/token"
    assert request.headers["authorization"] == "Bearer minted"
    assert request.path == (
        "/v1/projects/our-project/locations/europe-west1/publishers/anthropic/models/"
        "claude-sonnet-5-5:streamRawPredict"
    )
    assert "model" not in request.json


async def test_a_gateway_before_a_cloud_gets_its_own_token_and_nothing_is_signed() -> None:
    token = {"ANTHROPIC_AUTH_TOKEN": "gateway-token"}
    seen = [
        await asked(
            {**AWS, **token, "CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1"},
            "ANTHROPIC_BEDROCK_BASE_URL",
            framing="aws",
        ),
        await asked(
            {
                **token, "CLAUDE_CODE_USE_VERTEX": "1", "CLAUDE_CODE_SKIP_VERTEX_AUTH": "1",
                "CLOUD_ML_REGION": "global", "ANTHROPIC_VERTEX_PROJECT_ID": "p",
            },
            "ANTHROPIC_VERTEX_BASE_URL",
        ),
        await asked(
            {
                **token, "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD": "1",
                "CLAUDE_CODE_SKIP_ANTHROPIC_GOOGLE_CLOUD_AUTH": "1",
                "ANTHROPIC_GOOGLE_CLOUD_WORKSPACE_ID": "w",
            },
            "ANTHROPIC_GOOGLE_CLOUD_BASE_URL",
        ),
    ]  # fmt: skip
    assert [request.headers["authorization"] for request, _ in seen] == ["Bearer gateway-token"] * 3
    assert seen[2][0].path == "/v1/messages"


async def test_foundry_gets_its_key_and_never_that_of_the_api() -> None:
    env = {
        "CLAUDE_CODE_USE_FOUNDRY": "1",
        "ANTHROPIC_FOUNDRY_API_KEY": "foundry-key",
        "ANTHROPIC_API_KEY": "api-key",
    }
    request, _ = await asked(env, "ANTHROPIC_FOUNDRY_BASE_URL", path="/anthropic")
    assert (request.method, request.path) == ("POST", "/anthropic/v1/messages")
    assert "foundry-key" in str(request.headers)
    assert "api-key" not in request.headers.values()
    assert "Bearer api-key" not in request.headers.values()


async def test_the_users_settings_choose_a_cloud_too_and_name_its_models() -> None:
    env = {
        **AWS,
        "CLAUDE_CODE_USE_BEDROCK": "true",
        "ANTHROPIC_DEFAULT_SONNET_MODEL": "eu.anthropic.claude-sonnet-5-5-20260928-v1:0",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: editors\nX-Cost: 7",
    }
    request, url = await asked({}, "ANTHROPIC_BEDROCK_BASE_URL", framing="aws", env=env)
    assert request.path == (
        "/model/eu.anthropic.claude-sonnet-5-5-20260928-v1:0/invoke-with-response-stream"
    )
    assert is_signed(request, url, SECRET, "bedrock")
    assert (request.headers["x-team"], request.headers["x-cost"]) == ("editors", "7")
    assert request.json["thinking"]["type"] == "adaptive", "the features are the model's own"


@pytest.mark.parametrize(
    ("env", "package", "extra"),
    [
        ({**AWS, "CLAUDE_CODE_USE_BEDROCK": "1"}, "botocore", "bedrock"),
        (
            {"CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "global"},
            "google.auth",
            "vertex",
        ),
    ],
)
async def test_without_the_package_that_signs_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    error = await refused(env)
    assert error.kind == "no_model"
    assert f"pip install 'sidelight[{extra}]'" in error.message


async def test_a_cloud_that_finds_nothing_to_sign_with_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    error = await refused({"AWS_REGION": "eu-west-1", "CLAUDE_CODE_USE_BEDROCK": "1"})
    assert error.kind == "authentication"
    assert "bedrock-runtime.eu-west-1.amazonaws.com" in error.message
    assert "AWS credentials" in error.message


async def test_a_refusal_in_a_clouds_own_words_has_its_kind_and_repeats_no_secret() -> None:
    body = {"message": f"The security token {SECRET} included in the request is invalid."}
    async with running_cloud(CloudDouble("aws", refusal=(403, body))) as cloud:
        error = await refused(
            {**AWS, "CLAUDE_CODE_USE_BEDROCK": "1", "ANTHROPIC_BEDROCK_BASE_URL": cloud.url}
        )
    assert (error.kind, error.status, error.reloaded) == ("permission", 403, False)
    assert "security token [key] included" in error.message


async def test_credentials_that_expired_are_read_from_their_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "credentials"
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    expired = {"message": "The security token included in the request is expired"}
    async with running_cloud(CloudDouble("aws", refusal=(403, expired))) as cloud:
        env = {
            "AWS_REGION": "eu-west-1",
            "CLAUDE_CODE_USE_BEDROCK": "1",
            "ANTHROPIC_BEDROCK_BASE_URL": cloud.url,
            "AWS_SHARED_CREDENTIALS_FILE": str(file),
        }
        link = ModelLink(env, UserSide)
        kinds: list[tuple[str, bool]] = []
        for day in (1, 2):
            written(file, f"secret-{day}", day=day)
            with pytest.raises(ModelError) as caught:
                await answered(link)
            kinds.append((caught.value.kind, caught.value.reloaded))
        assert kinds == [("permission", False), ("permission", True)]
        cloud.refusal = None
        assert await answered(link) == "hello"
        await link.aclose()
    used = [
        [day for day in (1, 2) if is_signed(seen, cloud.url, f"secret-{day}", "bedrock")]
        for seen in cloud.seen
    ]
    assert used == [[1], [1], [2]]


def written(file: Path, secret: str, *, day: int) -> None:
    file.write_text(
        f"[default]\naws_access_key_id = AKID\naws_secret_access_key = {secret}\n",
        encoding="ascii",
    )
    os.utime(file, (day * 86_400, day * 86_400))


async def test_who_answers_is_said_without_secrets() -> None:
    link = ModelLink({**AWS, "CLAUDE_CODE_USE_BEDROCK": "1"}, UserSide)
    found = await link.connect()
    await link.aclose()
    assert isinstance(found, Linked)
    assert found.source == (
        "Amazon Bedrock (CLAUDE_CODE_USE_BEDROCK), to bedrock-runtime.eu-central-1.amazonaws.com"
    )
    assert SECRET not in repr(found)


def service_account(folder: Path, url: str) -> Path:
    """A service account's file whose tokens come from `url`."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    account = {
        "type": "service_account",
        "project_id": "another-project",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "agent@another-project.iam.example",
        "token_uri": f"{url}/token",
    }
    file = folder / "account.json"
    file.write_text(json.dumps(account), encoding="ascii")
    return file
