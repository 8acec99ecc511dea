"""Reading JSON whose shape is not promised."""

from typing import Any, cast


def mapping(value: object) -> dict[str, Any]:
    """The object as it is; anything else counts as an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
