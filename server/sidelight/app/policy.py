"""The permission policy of a session, from the settings and from what was asked for."""

from pathlib import Path
from typing import cast, get_args

from sidelight.core.decision import Mode, PermissionUpdate
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.rule import Source as RuleOrigin
from sidelight.settings.load import LoadedSettings

RESUMED = frozenset({"default", "acceptEdits", "dontAsk"})
"""Modes that a conversation keeps when it is taken up again; the others are asked for anew."""


def policy_of(
    loaded: LoadedSettings,
    *,
    cwd: str,
    home: str,
    mode: Mode | None,
    trusted: bool,
    headless: bool,
) -> Policy:
    """What holds in a folder; a mode that may not or cannot be is `default`."""
    policy = Policy.from_settings(
        [
            RuleSource(
                RuleOrigin(layer.source, layer.path, _anchor(layer.source, layer.path, cwd)),
                layer.settings.permissions.allow,
                layer.settings.permissions.ask,
                layer.settings.permissions.deny,
                layer.settings.permissions.additional_directories,
                layer.settings.permissions.default_mode,
            )
            for layer in loaded.layers
        ],
        [cwd],
        home,
        mode=mode,
        trusted=trusted,
        headless=headless,
    )
    if policy.mode == "auto" or (policy.mode == "bypassPermissions" and _no_bypass(loaded)):
        return policy.with_update(PermissionUpdate(action="set_mode", mode="default"))
    return policy


def resumable(stored: str | None) -> Mode | None:
    """The mode that a conversation was left in, if it goes on in it."""
    return cast("Mode", stored) if stored in RESUMED and stored in get_args(Mode) else None


def refused_mode(mode: Mode | None, loaded: LoadedSettings) -> tuple[str, ...]:
    """Why the mode that was asked for is not the one that holds."""
    asked = mode or loaded.settings.permissions.default_mode
    if asked == "auto":
        return ("The mode auto does not exist in this version; it asks as in default.",)
    if asked == "bypassPermissions" and _no_bypass(loaded):
        words = "permissions.disableBypassPermissionsMode forbids the mode bypassPermissions"
        return (f"{words}; it asks as in default.",)
    return ()


def _no_bypass(loaded: LoadedSettings) -> bool:
    """Whether any source forbids bypassPermissions: a weaker one may tighten too."""
    said = (layer.settings.permissions.disable_bypass_permissions_mode for layer in loaded.layers)
    return "disable" in said


def _anchor(source: str, path: str, cwd: str) -> str:
    """Where `/x` patterns of a source begin: the user's at the settings' folder, else the cwd."""
    return str(Path(path).parent) if source == "user" and path else cwd
