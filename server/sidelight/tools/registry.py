"""The built-in tools, their old names, and what the model is told of each."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from pydantic import ValidationError

from sidelight.core.content import Json
from sidelight.core.errors import ToolError
from sidelight.core.model import ToolSpec
from sidelight.core.record import PlainRecord
from sidelight.core.tool import AnyTool
from sidelight.core.tool_names import ALIASES
from sidelight.tools.edit import EditTool
from sidelight.tools.glob import GlobTool
from sidelight.tools.grep import GrepTool
from sidelight.tools.notebook_edit import NotebookEditTool
from sidelight.tools.read import DEFAULT_TOKENS, ReadTool
from sidelight.tools.search.found import Conceals, best_engine, conceal_nothing
from sidelight.tools.write import WriteTool


def built_in_tools(
    *,
    shell: Sequence[AnyTool] = (),
    read_tokens: int = DEFAULT_TOKENS,
    glob_respects_ignore: bool = False,
    conceals: Conceals = conceal_nothing,
) -> tuple[AnyTool, ...]:
    """The tools of one session, sorted by name.

    `shell` are those that run commands; `conceals` tells which real paths Glob and Grep must leave
    out, and why.
    """
    engine = best_engine()
    tools = (
        *shell,
        EditTool(),
        GlobTool(engine, respect_ignore=glob_respects_ignore, conceals=conceals),
        GrepTool(engine, conceals=conceals),
        NotebookEditTool(),
        ReadTool(read_tokens),
        WriteTool(),
    )
    return tuple(sorted(tools, key=lambda tool: tool.name))


def present_name(name: str) -> str:
    """The name that a tool has today; names are case-sensitive."""
    return ALIASES.get(name, name)


def find(tools: Iterable[AnyTool], name: str) -> AnyTool | None:
    """The tool of this name, or of the name that it formerly had."""
    wanted = present_name(name)
    return next((tool for tool in tools if tool.name == wanted), None)


def parse_input(tool: AnyTool, input: Json) -> PlainRecord:
    """The call's input as the tool's type; raises ToolError that names each wrong field."""
    try:
        return tool.input_type.model_validate(input)
    except ValidationError as error:
        wrong = [_complaint(cast("dict[str, Any]", detail)) for detail in error.errors()]
        known = ", ".join(tool.input_type.model_json_schema()["properties"])
        raise ToolError(
            f"{tool.name} was not run: {'; '.join(wrong)}. Its fields are {known}.",
            "invalid_input",
        ) from error


def spec(tool: AnyTool, describe: Callable[[str], str]) -> ToolSpec:
    """What the model is told; `describe` gives the description for a tool's name."""
    schema = tool.input_type.model_json_schema(by_alias=True)
    return ToolSpec(
        name=tool.name,
        description=describe(tool.name),
        input_schema=cast("Json", _slim(schema, schema.get("$defs", {}), top=True)),
    )


def _complaint(detail: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in detail["loc"]) or "the input"
    if detail["type"] == "extra_forbidden":
        return f"{where} is not a field of it"
    if detail["type"] == "missing":
        return f"{where} is missing"
    return f"{where}: {detail['msg']}"


def _slim(node: Any, definitions: Json, *, top: bool = False) -> Any:
    """The schema without titles, references and null alternatives."""
    if isinstance(node, list):
        return [_slim(item, definitions) for item in cast("Sequence[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("Json", node)
    if "$ref" in schema:
        return _slim(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        schema = {**options[0], **{key: value for key, value in schema.items() if key != "anyOf"}}
    left_out = {"$defs", "title", "description"} if top else {"$defs", "title"}
    slim: Json = {}
    for key, value in schema.items():
        if key == "properties":
            slim[key] = {name: _slim(part, definitions) for name, part in value.items()}
        elif key not in left_out and not (key == "default" and value is None):
            slim[key] = _slim(value, definitions)
    return slim
