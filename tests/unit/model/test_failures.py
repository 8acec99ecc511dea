"""Every failure gets its kind: by code, by type, by status, by the way it failed."""

import json
from types import ModuleType
from typing import Any

import httpx2
import pytest

from sidelight.core.errors import ModelError, ModelErrorKind
from sidelight.model import sdk
from sidelight.model.failures import LONGEST_QUOTE, classify, retry_after

WHERE = "api.example"
REQUEST = httpx2.Request("POST", "https://api.example/v1/messages")


@pytest.fixture(scope="module")
def anthropic() -> ModuleType:
    return sdk.load()


def answered(anthropic: Any, status: int, body: object) -> Exception:
    """The SDK's error for an answer with this body."""
    headers = {"request-id": "req_7"}
    response = httpx2.Response(status, headers=headers, content=b"", request=REQUEST)
    error: Exception = anthropic.APIStatusError(str(body), response=response, body=body)
    return error


def problem(kind: str, message: str = "Some words.", **details: Any) -> Any:
    error: dict[str, Any] = {"type": kind, "message": message}
    if details:
        error["details"] = details
    return {"type": "error", "error": error}


@pytest.mark.parametrize(
    ("status", "type", "kind"),
    [
        (400, "invalid_request_error", "invalid_request"),
        (401, "authentication_error", "authentication"),
        (402, "billing_error", "billing"),
        (403, "permission_error", "permission"),
        (404, "not_found_error", "not_found"),
        (408, "timeout_error", "timeout"),
        (409, "conflict_error", "server"),
        (413, "request_too_large", "request_too_large"),
        (429, "rate_limit_error", "rate_limit"),
        (500, "api_error", "server"),
        (504, "timeout_error", "timeout"),
        (529, "overloaded_error", "overloaded"),
        # In a stream the status is that of the stream.
        (200, "overloaded_error", "overloaded"),
        (200, "rate_limit_error", "rate_limit"),
        (200, "a_new_error", "server"),
        # Types of others, known by their status.
        (500, "internal_error", "server"),
        (429, "throttled", "rate_limit"),
        (422, "unprocessable", "invalid_request"),
        (418, "teapot", "unknown"),
        (400, "exceed_context_size_error", "context_too_long"),
    ],
)
def test_the_type_counts_then_the_status(
    anthropic: ModuleType, status: int, type: str, kind: ModelErrorKind
) -> None:
    error = classify(answered(anthropic, status, problem(type)), anthropic, where=WHERE)
    told = status if status >= 400 else None
    found = (error.kind, error.message, error.status, error.request_id)
    assert found == (kind, "Some words.", told, "req_7")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("prompt is too long: 200001 tokens > 200000 maximum", "context_too_long"),
        ("This model's maximum context length is 8192 tokens.", "context_too_long"),
        (
            "messages.1.content.0: `thinking` block is bound to a different conversation. Remove",
            "unbound_thinking",
        ),
        ("tools.0.name: too long", "invalid_request"),
    ],
)
def test_a_refused_request_is_told_apart_by_its_sentence(
    anthropic: ModuleType, message: str, kind: ModelErrorKind
) -> None:
    body = problem("invalid_request_error", message)
    assert classify(answered(anthropic, 400, body), anthropic, where=WHERE).kind == kind


def test_a_spend_limit_is_a_matter_of_money_not_of_haste(anthropic: ModuleType) -> None:
    body = problem("rate_limit_error", error_code="enforced_spend_limit_reached")
    assert classify(answered(anthropic, 429, body), anthropic, where=WHERE).kind == "billing"


def test_a_proxys_page_is_quoted_in_part(anthropic: ModuleType) -> None:
    page = "<html>" + "x" * 5_000
    error = classify(answered(anthropic, 502, page), anthropic, where=WHERE)
    assert (error.kind, error.message) == ("server", page[:LONGEST_QUOTE])


def chained(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_failures_without_an_answer_are_told_apart(anthropic: Any) -> None:
    refused = chained(httpx2.ConnectError("x"), OSError("Connection refused"))
    connection = chained(anthropic.APIConnectionError(request=REQUEST), refused)
    no_connection = anthropic.APITimeoutError(request=REQUEST)
    chained(no_connection, httpx2.ConnectTimeout("x"))
    silence = chained(anthropic.APITimeoutError(request=REQUEST), httpx2.ReadTimeout("x"))
    cases: list[tuple[Exception, ModelErrorKind, str]] = [
        (connection, "connection", "Connection refused"),
        (no_connection, "connection", "does not take the connection"),
        (silence, "stalled", "nothing more"),
        (httpx2.ReadTimeout("x"), "stalled", "nothing more"),
        (httpx2.RemoteProtocolError("x"), "cut_off", "broke off"),
        (httpx2.ReadError("x"), "cut_off", "broke off"),
        (httpx2.WriteError("pipe"), "connection", "pipe"),
        (anthropic.CredentialsError("no such profile"), "authentication", "no such profile"),
        (json.JSONDecodeError("x", "y", 0), "cut_off", "not JSON"),
        (TypeError("Could not resolve"), "unknown", "TypeError: Could not resolve"),
    ]
    for given, kind, words in cases:
        error = classify(given, anthropic, where=WHERE)
        assert error.kind == kind, given
        assert words in error.message


def test_an_error_of_ours_stays_as_it_is(anthropic: ModuleType) -> None:
    ours = ModelError("cut_off", "x")
    assert classify(ours, anthropic, where=WHERE) is ours


NOON = "Mon, 30 Nov 2026 12:00:00 GMT"


@pytest.mark.req("MODEL-02")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", "date": NOON}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT", "date": NOON}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT", "date": "today"}, None),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_read_from_its_headers(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds
