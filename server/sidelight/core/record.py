"""The two kinds of value that are written down or sent: `Record` and `PlainRecord`."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Record(BaseModel):
    """A frozen value; camelCase on the wire, snake_case in Python, no unknown fields."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    def to_wire(self) -> dict[str, Any]:
        """The value as plain JSON types, absent fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class PlainRecord(BaseModel):
    """A frozen value whose names stay as written: tool inputs and what hook scripts read."""

    model_config = ConfigDict(frozen=True, extra="forbid")
