"""A call that is ready to be judged: its tool was found and its input is valid."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from sidelight.core.access import Access
from sidelight.core.content import Json, ToolUse
from sidelight.core.errors import ToolError
from sidelight.core.record import PlainRecord
from sidelight.core.tool import AnyTool, Shell
from sidelight.files.paths import locate
from sidelight.tools.registry import parse_input, present_name

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call, its tool, its parsed input, and all that it would touch.

    `told` is the input as hooks read it: the file's path is absolute, `~` expanded.
    """

    call: ToolUse
    tool: AnyTool
    parsed: PlainRecord
    accesses: tuple[Access, ...]
    told: Json

    @property
    def changes(self) -> bool:
        """Whether it must run alone."""
        return any(access.mutates for access in self.accesses)


def prepare(call: ToolUse, tools: Mapping[str, AnyTool], shell: Shell) -> Prepared:
    """Find the tool and check the input; raises ToolError written for the model."""
    tool = tools.get(present_name(call.name))
    if tool is None:
        names = ", ".join(sorted(tools))
        raise ToolError(f"There is no tool {call.name!r}. The tools are: {names}.", "invalid_input")
    parsed = parse_input(tool, call.input)
    accesses = tuple(tool.touches(parsed, shell))
    return Prepared(call, tool, parsed, accesses, _filled_in(call.input, shell))


def _filled_in(input: Json, shell: Shell) -> Json:
    path = input.get("file_path")
    if not isinstance(path, str):
        return input
    return {**input, "file_path": locate(path, shell.cwd, shell.roots)}


def with_input(
    prepared: Prepared, new: Json, tools: Mapping[str, AnyTool], shell: Shell
) -> Prepared:
    """The same call with another input, from a hook or a person; raises ToolError."""
    return prepare(prepared.call.model_copy(update={"input": new}), tools, shell)


def must_run_alone(call: ToolUse, tools: Mapping[str, AnyTool], shell: Shell) -> bool:
    """Whether the call changes something; one that will be refused anyway does not.

    What cannot be told runs alone; `run_call` meets the fault again, and tells.
    """
    try:
        return prepare(call, tools, shell).changes
    except ToolError:
        return False
    except Exception:
        log.exception("cannot tell what a call of %s touches", call.name)
        return True
