"""Names for sessions, turns and messages."""

from uuid import uuid4


def new_id() -> str:
    """A fresh random name (UUID 4), unique without coordination."""
    return str(uuid4())
