"""What waits for the user's trust in a folder, and what a folder may never do."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.decision import Allow, Ask, Decision, Deny, Reason
from sidelight.permissions.paths import Disk, resolve, within

FOLDER_SOURCES = frozenset({"project", "local"})
RUNNING = frozenset({"run_hook", "start_mcp"})
ALWAYS = frozenset({"open_file"})
NEVER_BY_FOLDER = frozenset({"set_config_dir"})


@dataclass(frozen=True, slots=True)
class StartUp:
    """Something that would happen because a folder is opened.

    `source` is where the wish comes from. `digest` names the entry as it is, `approved` as it was
    when the user approved it, None where that was never asked. `token_valid` and `origin` are a
    local connection's.
    """

    action: str
    source: str = "project"
    mode: str = ""
    digest: str | None = None
    approved: str | None = None
    token_valid: bool = False
    origin: str | None = None


def is_trusted(folder: str, trusted: Sequence[str], disk: Disk, home: str) -> bool:
    """Whether a folder, by its real path, is one of the trusted ones or below one.

    What a `.git` file says does not count: trust belongs to the folder.
    """
    place = resolve(folder, disk, home, folder)
    return not place.problem and any(within(place.final, each) for each in trusted)


def judge_start(what: StartUp, trusted: bool) -> Decision:
    """May it happen at once, only after trust or approval, or never from this source?"""
    if what.action == "ipc_connect":
        if what.token_valid and what.origin is None:
            return _allow("The client has the token and is no web page.")
        return _deny("A local connection needs its token and may not come from a web page.")
    if what.source == "uri":
        return _deny("A link may carry a prompt, never settings.")
    if what.source in FOLDER_SOURCES:
        return _from_folder(what, trusted)
    return _allow("It comes from the user's own settings.")


def _from_folder(what: StartUp, trusted: bool) -> Decision:
    if what.action in NEVER_BY_FOLDER:
        return _deny("A folder never moves the configuration of the agent.")
    if what.action == "set_mode" and what.mode == "bypassPermissions":
        return _deny("A folder never switches the questions off.")
    if what.action in ALWAYS:
        return _allow("Looking at a file needs no trust.")
    if not trusted:
        return _ask("The folder is not trusted yet.")
    if what.action in RUNNING and what.digest != what.approved:
        return _ask("The entry was changed after it was approved.")
    return _allow("The folder is trusted.")


def _allow(detail: str) -> Allow:
    return Allow(reason=Reason(layer="trust", detail=detail))


def _ask(detail: str) -> Ask:
    return Ask(reason=Reason(layer="trust", detail=detail))


def _deny(detail: str) -> Deny:
    return Deny(reason=Reason(layer="trust", detail=detail), message=detail)
