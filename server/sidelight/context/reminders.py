"""Text of the harness is wrapped here, and foreign text is kept from posing as it."""

import re

TAG = "system-reminder"
_POSING = re.compile(rf"<(/?\s*{TAG})", re.IGNORECASE)


def wrap(text: str) -> str:
    """Text of the harness as the model is taught to read it."""
    return f"<{TAG}>\n{text.strip()}\n</{TAG}>"


def neutralise(text: str) -> str:
    """Text of a tool, file or person, in which our tag no longer is one."""
    return _POSING.sub(r"&lt;\1", text) if TAG in text.lower() else text
