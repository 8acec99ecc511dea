"""What went wrong with a request, in our words: by the error's type, its status, then its way."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any

import httpx2

from sidelight.core.errors import ModelError, ModelErrorKind
from sidelight.model.network import NetworkError

BY_CODE: dict[str, ModelErrorKind] = {
    "enforced_spend_limit_reached": "billing",
    "contract_spend_limit_reached": "billing",
    "linked_organization_spend_limit_reached": "billing",
    "linked_organization_billing_unavailable": "billing",
}
BY_TYPE: dict[str, ModelErrorKind] = {
    "invalid_request_error": "invalid_request",
    "authentication_error": "authentication",
    "billing_error": "billing",
    "permission_error": "permission",
    "not_found_error": "not_found",
    "rate_limit_error": "rate_limit",
    "timeout_error": "timeout",
    "api_error": "server",
    "overloaded_error": "overloaded",
    "conflict_error": "server",
    "request_too_large": "request_too_large",
    # llama.cpp's own word.
    "exceed_context_size_error": "context_too_long",
}
BY_STATUS: dict[int, ModelErrorKind] = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "not_found",
    408: "timeout",
    409: "server",
    413: "request_too_large",
    422: "invalid_request",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
# The API has one type for all that is wrong with a request; only its sentence tells these apart.
# Other servers say "context length", "context size" or "context window".
TOO_LONG = ("prompt is too long", "context length", "context size", "context window")
UNBOUND = ("bound to a different conversation", "blocks in the latest assistant message cannot be")
LONGEST_QUOTE = 600
"""Characters of a server's own words that are passed on."""


def classify(error: Exception, anthropic: ModuleType, *, where: str) -> ModelError:
    """The ModelError for whatever the SDK raised; `where` names the server for people."""
    ours = _ours(error)
    if isinstance(ours, ModelError):
        return ours
    if ours is not None:
        # What will be the same a moment later is not asked again.
        return ModelError("connection" if ours.passing else "permission", str(ours))
    if isinstance(error, anthropic.APIStatusError):
        return _status(error)
    if _is_unsigned(error):
        words = f"There is no way to sign in at {where}: {error}"
        return ModelError("authentication", words[:LONGEST_QUOTE])
    kind, message = _transport(error, anthropic, where)
    return ModelError(kind, message[:LONGEST_QUOTE])


def _ours(error: BaseException) -> ModelError | NetworkError | None:
    """The error of our own that the SDK wrapped, if there is one."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModelError | NetworkError):
            return cause
        cause = cause.__cause__
    return None


def _is_unsigned(error: Exception) -> bool:
    """Whether a cloud's own library, or the SDK for it, found nothing to sign a request with."""
    library = type(error).__module__.partition(".")[0]
    return library in {"boto3", "botocore", "google"} or (
        isinstance(error, RuntimeError) and str(error).startswith("Could not resolve")
    )


def kind_of_status(status: int) -> ModelErrorKind:
    """What a status means when nothing else is known."""
    return BY_STATUS.get(status) or ("server" if status >= 500 or status == 200 else "unknown")


def _transport(error: Exception, anthropic: ModuleType, where: str) -> tuple[ModelErrorKind, str]:
    """What to say of an error that came without a status. The order matters: subclasses first."""
    timeouts = (anthropic.APITimeoutError, httpx2.TimeoutException)
    unreachable = (anthropic.APIConnectionError, httpx2.HTTPError)
    broken = (httpx2.RemoteProtocolError, httpx2.ReadError)
    ways: tuple[tuple[Any, ModelErrorKind, str], ...] = (
        (timeouts, *_timeout(error, where)),
        (broken, "cut_off", f"The connection to {where} broke off in mid-answer."),
        (unreachable, "connection", f"Cannot reach {where}: {_innermost(error)}."),
        (anthropic.CredentialsError, "authentication", f"The login profile is no use: {error}"),
        (ValueError, "cut_off", f"{where} sent something that is not JSON."),
        (Exception, "unknown", f"{where}: {type(error).__name__}: {error}"),
    )
    return next((kind, text) for classes, kind, text in ways if isinstance(error, classes))


def _status(error: Any) -> ModelError:
    message = (error.api_message or error.message or "")[:LONGEST_QUOTE]
    # A failure inside a stream comes with the status 200 of the stream.
    status = error.status_code if error.status_code >= 400 else None
    return ModelError(
        _kind(error.type, error.error_code, error.status_code, message.lower()),
        message,
        status=status,
        retry_after=retry_after(error.response.headers),
        request_id=error.request_id,
    )


def _kind(type: str | None, code: str | None, status: int, message: str) -> ModelErrorKind:
    kind = BY_CODE.get(code or "") or BY_TYPE.get(type or "") or kind_of_status(status)
    if kind == "invalid_request":
        if any(words in message for words in TOO_LONG):
            return "context_too_long"
        if any(words in message for words in UNBOUND):
            return "unbound_thinking"
    return kind


def _timeout(error: Exception, where: str) -> tuple[ModelErrorKind, str]:
    cause = error if isinstance(error, httpx2.TimeoutException) else error.__cause__
    if isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return "connection", f"{where} does not take the connection."
    return "stalled", f"{where} sends nothing more."


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks to wait, from either of its headers; None when it does not."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    wanted = headers.get("retry-after")
    seconds = _number(wanted)
    if seconds is not None or wanted is None:
        return seconds
    return _until(wanted, headers.get("date"))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(wanted: str, now: str | None) -> float | None:
    """Seconds between the answer's own date and a date to wait for: our clock may be wrong."""
    try:
        gap = parsedate_to_datetime(wanted) - parsedate_to_datetime(now or "")
    except (TypeError, ValueError):
        return None
    return max(0.0, gap.total_seconds())


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
