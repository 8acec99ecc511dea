"""Claude at the cloud providers: which one the user chose, and what its client is told.

All values come from the user's own environment. The SDK would read the process's environment by
itself, but the `env` block of the user's settings is not in there, so everything is handed over.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

CloudKind = Literal["bedrock", "mantle", "aws", "vertex", "google_cloud", "foundry"]

NOBODY = "nobody"
"""Sent where a gateway puts in the credential, or none is wanted: the SDK refuses to send none."""
OFF = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Cloud:
    """One provider.

    `client` is the SDK's class; `needs` the package that signs, which comes with `extra`.
    `parameters` maps the class's parameters to the variables that fill them, the first that is
    set. `address` has the default host, for people. `prefix` goes before a model's id there;
    `beta_features` says whether it is the provider's own API behind another door.
    """

    kind: CloudKind
    title: str
    switch: str
    client: str
    needs: str
    extra: str
    parameters: tuple[tuple[str, tuple[str, ...]], ...]
    required: tuple[str, ...] = ()
    address: str = ""
    skip: str = ""
    prefix: str = ""
    beta_features: bool = False


_AWS = (
    ("aws_region", ("AWS_REGION", "AWS_DEFAULT_REGION")),
    ("aws_profile", ("AWS_PROFILE",)),
    ("aws_access_key", ("AWS_ACCESS_KEY_ID",)),
    ("aws_secret_key", ("AWS_SECRET_ACCESS_KEY",)),
    ("aws_session_token", ("AWS_SESSION_TOKEN",)),
)
AWS_KEYS = frozenset({"aws_profile", "aws_access_key", "aws_secret_key", "aws_session_token"})
SECRET_PARAMETERS = ("api_key", "access_token", "aws_secret_key", "aws_session_token")

CLOUDS = (
    Cloud(
        "bedrock", "Amazon Bedrock", "CLAUDE_CODE_USE_BEDROCK",
        "AsyncAnthropicBedrock", "botocore", "bedrock",
        (
            *_AWS,
            ("api_key", ("AWS_BEARER_TOKEN_BEDROCK",)),
            ("base_url", ("ANTHROPIC_BEDROCK_BASE_URL",)),
        ),
        required=("aws_region",),
        address="https://bedrock-runtime.{aws_region}.amazonaws.com",
        skip="CLAUDE_CODE_SKIP_BEDROCK_AUTH",
        prefix="global.anthropic.",
    ),
    Cloud(
        "mantle", "Amazon Bedrock (Mantle)", "CLAUDE_CODE_USE_MANTLE",
        "AsyncAnthropicBedrockMantle", "botocore", "bedrock",
        (
            *_AWS,
            ("api_key", ("AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_AWS_API_KEY")),
            ("base_url", ("ANTHROPIC_BEDROCK_MANTLE_BASE_URL",)),
        ),
        required=("aws_region",),
        address="https://bedrock-mantle.{aws_region}.api.aws",
        skip="CLAUDE_CODE_SKIP_MANTLE_AUTH",
        prefix="anthropic.",
    ),
    Cloud(
        "aws", "Claude Platform on AWS", "CLAUDE_CODE_USE_ANTHROPIC_AWS",
        "AsyncAnthropicAWS", "botocore", "bedrock",
        (
            *_AWS,
            ("api_key", ("ANTHROPIC_AWS_API_KEY",)),
            ("workspace_id", ("ANTHROPIC_AWS_WORKSPACE_ID",)),
            ("base_url", ("ANTHROPIC_AWS_BASE_URL",)),
        ),
        required=("aws_region", "workspace_id"),
        address="https://aws-external-anthropic.{aws_region}.api.aws",
        skip="CLAUDE_CODE_SKIP_ANTHROPIC_AWS_AUTH",
        beta_features=True,
    ),
    Cloud(
        "vertex", "Google Vertex AI", "CLAUDE_CODE_USE_VERTEX",
        "AsyncAnthropicVertex", "google.auth", "vertex",
        (
            ("region", ("CLOUD_ML_REGION",)),
            ("project_id", ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT")),
            ("base_url", ("ANTHROPIC_VERTEX_BASE_URL",)),
        ),
        required=("region",),
        address="https://{region}-aiplatform.googleapis.com",
        skip="CLAUDE_CODE_SKIP_VERTEX_AUTH",
    ),
    Cloud(
        "google_cloud", "Claude on Google Cloud", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
        "AsyncAnthropicGoogleCloud", "google.auth", "vertex",
        (
            ("project", ("ANTHROPIC_GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_PROJECT")),
            ("location", ("ANTHROPIC_GOOGLE_CLOUD_LOCATION",)),
            ("workspace_id", ("ANTHROPIC_GOOGLE_CLOUD_WORKSPACE_ID",)),
            ("base_url", ("ANTHROPIC_GOOGLE_CLOUD_BASE_URL",)),
        ),
        required=("workspace_id",),
        address="https://claude.googleapis.com",
        skip="CLAUDE_CODE_SKIP_ANTHROPIC_GOOGLE_CLOUD_AUTH",
        beta_features=True,
    ),
    Cloud(
        "foundry", "Microsoft Foundry", "CLAUDE_CODE_USE_FOUNDRY",
        "AsyncAnthropicFoundry", "", "",
        (
            ("api_key", ("ANTHROPIC_FOUNDRY_API_KEY",)),
            ("resource", ("ANTHROPIC_FOUNDRY_RESOURCE",)),
            ("base_url", ("ANTHROPIC_FOUNDRY_BASE_URL",)),
        ),
        required=("api_key", "resource"),
        address="https://{resource}.services.ai.azure.com",
        skip="CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
    ),
)  # fmt: skip
BY_KIND: Mapping[str, Cloud] = {cloud.kind: cloud for cloud in CLOUDS}


def chosen_cloud(env: Mapping[str, str]) -> Cloud | None:
    """The cloud that the user switched on. Raises ValueError when there are several."""
    found = [cloud for cloud in CLOUDS if is_on(env.get(cloud.switch))]
    if len(found) > 1:
        names = " and ".join(cloud.switch for cloud in found)
        raise ValueError(f"{names} are both set; unset all but one.")
    return found[0] if found else None


def parameters_of(cloud: Cloud, env: Mapping[str, str]) -> dict[str, object]:
    """What the client is built with. Raises ValueError naming the variable that is missing."""
    found: dict[str, object] = {}
    for name, variables in cloud.parameters:
        value = next((env[each].strip() for each in variables if env.get(each, "").strip()), "")
        if value:
            found[name] = value
    if is_on(env.get(cloud.skip)):
        _without_signing(cloud, found, env.get("ANTHROPIC_AUTH_TOKEN", "").strip())
    elif "api_key" in found:
        # A key for this provider wins over the keys that the shell has for the whole cloud.
        found = {name: value for name, value in found.items() if name not in AWS_KEYS}
    if "base_url" in found:
        found.pop("resource", None)
    for name in cloud.required:
        if name not in found and not ("base_url" in found and name == "resource"):
            variables = " or ".join(dict(cloud.parameters)[name])
            raise ValueError(f"{cloud.title} ({cloud.switch}) needs {variables}; set it.")
    if ("aws_access_key" in found) != ("aws_secret_key" in found):
        raise ValueError("Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither.")
    return found


def address_of(cloud: Cloud, parameters: Mapping[str, object]) -> str:
    """Where requests go, for people."""
    return str(parameters.get("base_url") or cloud.address.format_map(parameters))


def is_on(value: str | None) -> bool:
    """Whether a variable that switches something on does so."""
    return (value or "").strip().lower() not in OFF


def _without_signing(cloud: Cloud, parameters: dict[str, object], token: str) -> None:
    """A gateway signs: it gets its own token, or none that counts."""
    for name in AWS_KEYS:
        parameters.pop(name, None)
    if cloud.kind == "vertex":
        parameters["access_token"] = token or NOBODY
    elif cloud.kind == "google_cloud":
        parameters["skip_auth"] = True
    else:
        parameters["api_key"] = token or NOBODY
