"""Which cloud the user's variables choose, and what its client is built with."""

import pytest

from sidelight.model.clouds import CLOUDS
from sidelight.model.provider import NoModel, Provider, resolve

pytestmark = pytest.mark.req("MODEL-04")
BEDROCK = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1"}


def provider(env: dict[str, str], **user_env: str) -> Provider:
    found = resolve(env, user_env=user_env, key="api-key")
    assert isinstance(found, Provider), found
    return found


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_a_switch_goes_before_a_key_of_the_api(value: str) -> None:
    found = provider({**BEDROCK, "CLAUDE_CODE_USE_BEDROCK": value})
    assert (found.kind, found.credential) == ("bedrock", None)


@pytest.mark.parametrize("value", ["", "0", "false", " "])
def test_a_switch_that_is_off_changes_nothing(value: str) -> None:
    assert provider({**BEDROCK, "CLAUDE_CODE_USE_BEDROCK": value}).kind == "anthropic"


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "needs AWS_REGION or AWS_DEFAULT_REGION; set it."),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, "Google Vertex AI (CLAUDE_CODE_USE_VERTEX) needs"),
        (
            {"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_API_KEY": "k"},
            "needs ANTHROPIC_FOUNDRY_RESOURCE; set it.",
        ),
        (
            {"CLAUDE_CODE_USE_ANTHROPIC_AWS": "1", "AWS_REGION": "r"},
            "needs ANTHROPIC_AWS_WORKSPACE_ID",
        ),
        ({**BEDROCK, "CLAUDE_CODE_USE_VERTEX": "1"}, "are both set; unset all but one."),
        ({**BEDROCK, "AWS_ACCESS_KEY_ID": "a"}, "Set both AWS_ACCESS_KEY_ID and"),
        (
            {**BEDROCK, "ANTHROPIC_BEDROCK_BASE_URL": "bedrock"},
            "The address of Amazon Bedrock is 'bedrock'",
        ),
    ],
)
def test_what_is_missing_is_named(env: dict[str, str], words: str) -> None:
    found = resolve(env)
    assert isinstance(found, NoModel)
    assert words in found.advice


def test_the_ids_of_models_are_those_of_the_cloud() -> None:
    ids = {
        "CLAUDE_CODE_USE_BEDROCK": "global.anthropic.claude-opus-5-5",
        "CLAUDE_CODE_USE_MANTLE": "anthropic.claude-opus-5-5",
        "CLAUDE_CODE_USE_VERTEX": "claude-opus-5-5",
    }
    env = {"AWS_REGION": "r", "CLOUD_ML_REGION": "global"}
    found = {switch: provider({**env, switch: "1"}).card("opus") for switch in ids}
    assert {switch: card.id for switch, card in found.items()} == ids
    for card in found.values():
        assert card.thinking == "adaptive"
        assert "context_editing" not in card.features, "betas are for the provider's own API"


def test_the_user_names_the_models_of_a_family() -> None:
    found = provider(BEDROCK, ANTHROPIC_DEFAULT_OPUS_MODEL="arn:aws:x:1:profile/abc")
    card = found.card("Opus")
    assert (card.id, card.thinking, card.prices) == ("arn:aws:x:1:profile/abc", "none", ())


def test_every_cloud_says_where_it_sends_to() -> None:
    env = {
        "AWS_REGION": "r", "CLOUD_ML_REGION": "r", "ANTHROPIC_FOUNDRY_RESOURCE": "us",
        "ANTHROPIC_FOUNDRY_API_KEY": "k", "ANTHROPIC_AWS_WORKSPACE_ID": "w",
        "ANTHROPIC_GOOGLE_CLOUD_WORKSPACE_ID": "w",
    }  # fmt: skip
    hosts = {cloud.kind: provider({**env, cloud.switch: "1"}).host for cloud in CLOUDS}
    assert hosts == {
        "bedrock": "bedrock-runtime.r.amazonaws.com",
        "mantle": "bedrock-mantle.r.api.aws",
        "aws": "aws-external-anthropic.r.api.aws",
        "vertex": "r-aiplatform.googleapis.com",
        "google_cloud": "claude.googleapis.com",
        "foundry": "us.services.ai.azure.com",
    }
