"""The moments at which hooks may run, and what is particular about each."""

from dataclasses import dataclass
from typing import Literal

Refusal = Literal["deny", "block", "tell"]


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One moment. `subject` is the input field that matchers are held against, if any.

    `refusal` is what exit code 2 does: deny the call, give the model (or the user) a text that
    blocks, or only tell the user. `plain_text` says whether text that is no JSON becomes context.
    `fired` is False for moments that this version knows but does not have. `older_for` is the
    present name of a moment that has two.
    """

    name: str
    subject: str = ""
    refusal: Refusal = "tell"
    plain_text: bool = False
    of_a_call: bool = False
    env_file: bool = False
    timeout_s: float = 600
    fired: bool = True
    older_for: str = ""


EVENTS: tuple[HookEvent, ...] = (
    HookEvent("PreToolUse", "tool_name", "deny", of_a_call=True),
    HookEvent("PostToolUse", "tool_name", "block", of_a_call=True),
    HookEvent("PostToolUseFailure", "tool_name", "block", of_a_call=True),
    HookEvent("FileChanged", "file_path", env_file=True),
    HookEvent("CwdChanged", env_file=True),
    HookEvent("UserPromptSubmit", "", "block", plain_text=True, timeout_s=30),
    HookEvent("SessionStart", "source", plain_text=True, env_file=True),
    HookEvent("Stop", "", "block"),
    HookEvent("PreFileEdit", "tool_name", "deny", of_a_call=True, older_for="PreToolUse"),
    HookEvent("PreFileWrite", "tool_name", "deny", of_a_call=True, older_for="PreToolUse"),
    HookEvent("PostFileEdit", "tool_name", "block", of_a_call=True, older_for="PostToolUse"),
    HookEvent("PostFileWrite", "tool_name", "block", of_a_call=True, older_for="PostToolUse"),
    HookEvent("ToolError", "tool_name", "block", of_a_call=True, older_for="PostToolUseFailure"),
    HookEvent("PreSampling"),
    HookEvent("PostSampling"),
    HookEvent("SessionPause"),
    HookEvent("SessionResume"),
    HookEvent("SessionEnd", "reason", timeout_s=1.5),
    HookEvent("PostToolBatch", "", "block"),
    HookEvent("PermissionRequest", "tool_name", of_a_call=True, fired=False),
    HookEvent("PermissionDenied", "tool_name", of_a_call=True, fired=False),
    HookEvent("Notification", "notification_type", fired=False),
    HookEvent("UserPromptExpansion", "command_name", "block", plain_text=True, fired=False),
    HookEvent("StopFailure", "error"),
    HookEvent("SubagentStart", "agent_type", fired=False),
    HookEvent("SubagentStop", "agent_type", "block", fired=False),
    HookEvent("PreCompact", "trigger", "block", fired=False),
    HookEvent("PostCompact", "trigger", fired=False),
    HookEvent("PreModelSwitch", "to_model", "deny", timeout_s=30, fired=False),
    HookEvent("PostModelSwitch", "to_model", plain_text=True, timeout_s=30, fired=False),
    HookEvent("Setup", "trigger", env_file=True, fired=False),
    HookEvent("TeammateIdle", "", "block", fired=False),
    HookEvent("TaskCreated", "", "block", fired=False),
    HookEvent("TaskCompleted", "", "block", fired=False),
    HookEvent("Elicitation", "mcp_server_name", "block", fired=False),
    HookEvent("ElicitationResult", "mcp_server_name", "block", fired=False),
    HookEvent("ConfigChange", "source", "block", fired=False),
    HookEvent("WorktreeCreate", fired=False),
    HookEvent("WorktreeRemove", fired=False),
    HookEvent("InstructionsLoaded", "load_reason", fired=False),
    HookEvent("DirectoryAdded", "source", fired=False),
    HookEvent("MessageDisplay", timeout_s=10, fired=False),
    HookEvent("PreSkillShellCommand", "tool_name", "deny", fired=False),
)

BY_NAME = {event.name: event for event in EVENTS}

OLDER: dict[tuple[str, str], str] = {
    ("PreToolUse", "Edit"): "PreFileEdit",
    ("PreToolUse", "Write"): "PreFileWrite",
    ("PostToolUse", "Edit"): "PostFileEdit",
    ("PostToolUse", "Write"): "PostFileWrite",
}


def names_of(event: str, tool: object) -> tuple[str, ...]:
    """All names under which hooks may wait for this moment of a tool's call."""
    older = "ToolError" if event == "PostToolUseFailure" else OLDER.get((event, str(tool)))
    return (event, older) if older else (event,)
