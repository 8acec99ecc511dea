"""The errors of the house; the tree says who reads them."""

from typing import Literal

ModelErrorKind = Literal[
    "authentication",
    "billing",
    "permission",
    "not_found",
    "rate_limit",
    "overloaded",
    "server",
    "connection",
    "timeout",
    "stalled",
    "cut_off",
    "invalid_request",
    "context_too_long",
    "request_too_large",
    "unbound_thinking",
    "no_model",
    "unknown",
]
ToolErrorKind = Literal[
    "not_found",
    "permission",
    "stale",
    "timeout",
    "interrupted",
    "invalid_input",
    "denied_by_rule",
    "denied_by_person",
    "denied_by_hook",
    "failed",
    "bug",
]


class AgentError(Exception):
    """Base of every error that the house raises on purpose."""


class ModelError(AgentError):
    """A request to the model failed. Read by the loop's recovery, then by the user.

    `retry_after` is in seconds when the provider asked for a wait; `reloaded` says that another
    credential than the refused one is in use by now, so that asking once more makes sense.
    """

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ModelErrorKind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id
        self.reloaded = False


class ToolError(AgentError):
    """A tool could not do what was asked. Read by the model: say what to do next."""

    def __init__(self, message: str, kind: ToolErrorKind = "failed") -> None:
        super().__init__(message)
        self.message = message
        self.kind: ToolErrorKind = kind


class HostError(AgentError):
    """The editor refused, or it is gone. Read by the loop and the tools."""


class BinaryFileError(HostError):
    """The file holds no text; the message names what was found."""


class FileTooLargeError(HostError):
    """The file is too large to be held as one text."""


class SettingsError(AgentError):
    """A settings file is wrong. Read by the user: names file and, if known, line."""

    def __init__(self, message: str, path: str, line: int | None = None) -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        self.path = path
        self.line = line
