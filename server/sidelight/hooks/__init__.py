"""The user's own programs, run at fixed moments of a session."""
