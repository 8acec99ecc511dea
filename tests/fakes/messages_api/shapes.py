"""The fields and block types that a request may hold."""

from __future__ import annotations

BINDING_BETA = "thinking-binding-controls-2026-08-01"
DISPLAY_BETA = "thinking-display-updates-2026-08-18"

_COMMON = {"type", "cache_control"}
USER_BLOCKS: dict[str, set[str]] = {
    "text": _COMMON | {"text", "citations"},
    "image": _COMMON | {"source", "transformations"},
    "document": _COMMON | {"source", "title", "context", "citations"},
    "search_result": _COMMON | {"source", "title", "content", "citations"},
    "tool_result": _COMMON | {"tool_use_id", "content", "is_error"},
    "container_upload": _COMMON | {"file_id"},
}
ASSISTANT_BLOCKS: dict[str, set[str]] = {
    "text": _COMMON | {"text", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": _COMMON | {"id", "name", "input", "caller", "toolset_name"},
    "server_tool_use": _COMMON | {"id", "name", "input", "caller"},
}
RESULT_BLOCKS = ("text", "image", "document", "search_result", "tool_reference")
TOP_LEVEL = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "stream",
    "stop_sequences", "metadata", "output_config", "service_tier", "cache_control", "container",
    "diagnostics", "inference_geo", "speed", "user_profile_id",
}  # fmt: skip


def wrong_tag(path: str, kind: str, expected: list[str]) -> str:
    """The message for a block of a type that is not allowed at `path`."""
    tags = ", ".join(f"'{tag}'" for tag in expected)
    found = f"{path}: Input tag '{kind}' found using 'type'"
    return f"{found} does not match any of the expected tags: {tags}"
