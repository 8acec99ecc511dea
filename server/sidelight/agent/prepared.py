"""A call that is ready to be judged: its tool was found and its input is valid."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from sidelight.core.access import Access
from sidelight.core.content import Json, ToolUse
from sidelight.core.errors import ToolError
from sidelight.core.record import PlainRecord
from sidelight.core.tool import AnyTool, Shell


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call, its tool, its parsed input, and all that it would touch."""

    call: ToolUse
    tool: AnyTool
    parsed: PlainRecord
    accesses: tuple[Access, ...]

    @property
    def changes(self) -> bool:
        """Whether it must run alone."""
        return any(access.mutates for access in self.accesses)


def prepare(call: ToolUse, tools: Mapping[str, AnyTool], shell: Shell) -> Prepared:
    """Find the tool and check the input; raises ToolError written for the model."""
    tool = tools.get(call.name)
    if tool is None:
        names = ", ".join(sorted(tools))
        raise ToolError(f"There is no tool {call.name!r}. The tools are: {names}.", "invalid_input")
    try:
        parsed = tool.input_type.model_validate(call.input)
    except ValidationError as error:
        raise ToolError(_explain(call.name, error), "invalid_input") from error
    return Prepared(call, tool, parsed, tuple(tool.touches(parsed, shell)))


def with_input(
    prepared: Prepared, new: Json, tools: Mapping[str, AnyTool], shell: Shell
) -> Prepared:
    """The same call with another input, from a hook or a person; raises ToolError."""
    return prepare(prepared.call.model_copy(update={"input": new}), tools, shell)


def must_run_alone(call: ToolUse, tools: Mapping[str, AnyTool], shell: Shell) -> bool:
    """Whether the call changes something; one that will be refused anyway does not."""
    try:
        return prepare(call, tools, shell).changes
    except ToolError:
        return False


def _explain(name: str, error: ValidationError) -> str:
    problems = [
        f"{'.'.join(map(str, item['loc'])) or 'input'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return f"The input of {name} is not valid. Correct it and call again. " + "; ".join(problems)
