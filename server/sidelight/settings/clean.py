"""Takes the faulty entries out of a settings file, one by one, and says which."""

from collections.abc import Iterator
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any, cast

from pydantic import ValidationError

from sidelight.core.content import Json, as_object, is_object
from sidelight.settings.schema import (
    FOLDER_SOURCES,
    Limits,
    Own,
    Part,
    Permissions,
    Problem,
    Settings,
    Source,
)

Place = tuple[int | str, ...]

NOT_FROM_A_FOLDER = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_*_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_*",
    "CLAUDE_CODE_SKIP_*_AUTH",
    "CLAUDE_CODE_CLIENT_*",
    "CLAUDE_CODE_API_KEY_HELPER_*",
    "ANTHROPIC_*_API_KEY",
    "ANTHROPIC_*_RESOURCE",
    "ANTHROPIC_*_WORKSPACE_ID",
    "ANTHROPIC_PROFILE",
    "ANTHROPIC_CONFIG_DIR",
    "ANTHROPIC_IDENTITY_TOKEN*",
    "AWS_BEARER_TOKEN_*",
    "CLAUDE_CONFIG_DIR",
    "SIDELIGHT_*",
    "AWS_ENDPOINT_URL*",
    "*_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
)
"""Variables that say where requests go and with which key: only the user sets them."""

DEPTH = {"permissions": 3, "hooks": 5, "env": 2, "fallbackModel": 2, "sidelight": 3}
"""How deep an entry may lie that is taken out alone."""

NOT_KEYS_OF_A_FOLDER = (
    ("apiKeyHelper",),
    ("awsAuthRefresh",),
    ("awsCredentialExport",),
    ("gcpAuthRefresh",),
    ("otelHeadersHelper",),
    ("proxyAuthHelper",),
    ("sidelight", "apiKeyHeader"),
    ("sidelight", "limits", "modelFirstByteMs"),
    ("sidelight", "limits", "modelSilenceMs"),
)
"""Keys that run a command for a credential or say how one is sent: only the user sets them."""

NOT_MODES_OF_A_FOLDER = ("auto", "bypassPermissions")

NOT_ENFORCED = (
    ("allowManagedPermissionRulesOnly",),
    ("allowedHttpHookUrls",),
    ("deniedModels",),
    ("availableModels",),
    ("disableAutoMode",),
    ("sandbox",),
    ("permissions", "disableAutoMode"),
    ("permissions", "blockReadsOutsideWorkingDirectories"),
    ("permissions", "blockWritesOutsideWorkingDirectories"),
    ("permissions", "denyInsteadOfPrompting"),
)
"""Keys that restrict, of which this version takes no notice: that must not go unsaid."""


def clean(raw: Json, source: Source, path: str, problems: list[Problem]) -> tuple[Json, Settings]:
    """The file's object without what does not count, and its known part as a value.

    A faulty item of a list goes alone (a hook with a faulty field goes whole, so that it never
    runs for more than was meant); otherwise the faulty key goes.
    """
    data = deepcopy(raw)
    settings = _validated(data, path, problems)
    if source in FOLDER_SOURCES and _restrain(data, path, problems):
        settings = as_settings(data)
    problems.extend(_warnings(data, path))
    return data, settings


def as_settings(data: Json) -> Settings:
    """The known part of a file's data; names count as files spell them. May raise."""
    return Settings.model_validate(data, by_alias=True, by_name=False)


def unknown_keys(data: Json, path: str) -> Iterator[Problem]:
    """One line for each key that this version does not know; `$schema` is none."""
    own = data.get("sidelight")
    places: list[tuple[str, type[Part], Any]] = [("", Settings, data), ("sidelight.", Own, own)]
    if isinstance(own, dict):
        places.append(("sidelight.limits.", Limits, cast("Json", own).get("limits")))
    for prefix, part, value in places:
        if isinstance(value, dict):
            for key in sorted(set(cast("Json", value)) - _names(part) - {"$schema"}):
                yield Problem(path=path, message=f"{prefix}{key} is not used by this version")


def _validated(data: Json, path: str, problems: list[Problem]) -> Settings:
    while True:
        try:
            return as_settings(data)
        except ValidationError as error:
            faults = {_removable(item["loc"]): item for item in error.errors()}
            # From the back, so that the numbers of earlier items stay right.
            for place in sorted(faults, key=_order, reverse=True):
                _remove(data, place)
            for place, item in faults.items():
                where, what = _written(item["loc"]), item["msg"].lower()
                message = f"{where} is wrong ({what}); {_written(place)} is ignored"
                problems.append(Problem(path=path, message=message))


def _removable(place: Place) -> Place:
    """The smallest thing that can go without changing the meaning of what stays."""
    cut = place[: DEPTH.get(str(place[0]), 1)]
    if place[0] == "hooks":
        # A group without its matcher, or a handler without a field, would do more than was meant.
        while len(cut) > 2 and isinstance(cut[-1], str):
            cut = cut[:-1]
    return cut


def _order(place: Place) -> tuple[tuple[bool, int, str], ...]:
    return tuple(
        (isinstance(step, str), step if isinstance(step, int) else 0, str(step)) for step in place
    )


def _remove(data: Any, place: Place) -> None:
    for step in place[:-1]:
        data = data[step]
    del data[place[-1]]


def _written(place: Place) -> str:
    """The place as in `permissions.allow[2]`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def _restrain(data: Json, path: str, problems: list[Problem]) -> bool:
    """Take out what a folder may not decide; True if something went."""
    before = len(problems)
    env: Json = data.get("env", {})
    for name in sorted(env):
        if any(fnmatchcase(name.upper(), pattern) for pattern in NOT_FROM_A_FOLDER):
            del env[name]
            message = f"env.{name} is ignored: a project may not say where requests go"
            problems.append(Problem(path=path, message=message))
    for place in NOT_KEYS_OF_A_FOLDER:
        if _taken_out(data, place):
            message = f"{_written(place)} is ignored: only your own settings may have it"
            problems.append(Problem(path=path, message=message))
    permissions: Json = data.get("permissions", {})
    mode = permissions.get("defaultMode")
    if mode in NOT_MODES_OF_A_FOLDER:
        permissions["defaultMode"] = "default"
        message = f'permissions.defaultMode "{mode}" is ignored: a project may not switch it on'
        problems.append(Problem(path=path, message=message))
    return len(problems) > before


def _taken_out(data: Json, place: tuple[str, ...]) -> bool:
    holder: object = data
    for name in place[:-1]:
        holder = as_object(holder).get(name)
    return is_object(holder) and holder.pop(place[-1], None) is not None


def _warnings(data: Json, path: str) -> Iterator[Problem]:
    permissions = cast("Json", data.get("permissions", {}))
    silent = {place[1] for place in NOT_ENFORCED if len(place) == 2}
    for key in sorted(set(permissions) - _names(Permissions) - silent):
        message = (
            f"permissions.{key} has no effect; rules stand as lists in "
            "permissions.allow, permissions.ask and permissions.deny"
        )
        yield Problem(path=path, message=message)
    for place in NOT_ENFORCED:
        holder: Any = data if len(place) == 1 else permissions
        if place[-1] in holder:
            yield Problem(path=path, message=f"{_written(place)} is not enforced by this version")


def _names(part: type[Part]) -> set[str]:
    return {field.alias or name for name, field in part.model_fields.items()}
