"""Conversations on disk: append-only JSON lines, one session a file."""
