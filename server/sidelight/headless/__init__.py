"""The agent without an editor."""
