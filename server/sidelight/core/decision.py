"""Permission decisions as values; each says who took it and why."""

from typing import Annotated, Literal

from pydantic import Field

from sidelight.core.content import Json
from sidelight.core.record import Record

Mode = Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]
Behavior = Literal["allow", "deny", "ask"]
Scope = Literal["session", "local", "project", "user"]


class Reason(Record):
    """Who decided: the layer's name, the rule as written if any, and one sentence for people.

    `cause` is the simple command that made the difference, when the call is a shell command.
    """

    layer: str
    rule: str | None = None
    detail: str = ""
    cause: str = ""


class PermissionUpdate(Record):
    """A change of the rules or the mode, as suggested in a dialog or returned by it."""

    action: Literal["add", "remove", "set_mode"]
    rules: tuple[str, ...] = ()
    behavior: Behavior = "allow"
    mode: Mode | None = None
    scope: Scope = "session"


class Allow(Record):
    """The call may run, with `updated_input` in place of its own when given."""

    behavior: Literal["allow"] = "allow"
    reason: Reason
    updated_input: Json | None = None


class Deny(Record):
    """The call may not run; `message` is written for the model."""

    behavior: Literal["deny"] = "deny"
    reason: Reason
    message: str


class Ask(Record):
    """A person has to say; `dangerous` answers get no pre-emphasised button."""

    behavior: Literal["ask"] = "ask"
    reason: Reason
    suggestions: tuple[PermissionUpdate, ...] = ()
    dangerous: bool = False


Decision = Annotated[Allow | Deny | Ask, Field(discriminator="behavior")]
