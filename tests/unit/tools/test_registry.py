"""The list of tools, their inputs, and what the model is told."""

import re

import pytest

from sidelight.core.content import Json
from sidelight.core.errors import ToolError
from sidelight.core.tool import AnyTool
from sidelight.core.tool_names import ALIASES
from sidelight.resources.locate import resource
from sidelight.resources.prompts import PromptLibrary
from sidelight.tools.grep import GrepInput
from sidelight.tools.registry import built_in_tools, find, parse_input, present_name, spec

TOOLS = built_in_tools()


def tool(name: str) -> AnyTool:
    found = find(TOOLS, name)
    assert found is not None
    return found


def test_the_tools_are_listed_by_name() -> None:
    assert [each.name for each in TOOLS] == [
        "Edit",
        "Glob",
        "Grep",
        "NotebookEdit",
        "Read",
        "Write",
    ]


def test_former_names_lead_to_present_ones_and_case_counts() -> None:
    assert present_name("Task") == "Agent"
    assert present_name("Read") == "Read"
    assert find(TOOLS, "read") is None
    assert len(ALIASES) == 11


def test_a_schema_is_slim() -> None:
    told = spec(tool("Read"), lambda name: f"About {name}.")
    assert told.description == "About Read."
    assert told.input_schema == {
        "additionalProperties": False,
        "properties": {
            "file_path": {"description": "Absolute path of the file", "type": "string"},
            "offset": {
                "description": "First line to read, counted from 1; of a notebook the first cell",
                "minimum": 0,
                "type": "integer",
            },
            "limit": {
                "description": "How many lines to read, 2000 if absent; of a notebook cells",
                "minimum": 1,
                "type": "integer",
            },
            "pages": {
                "description": 'Pages of a PDF, up to 20, as in "1-5", "3" or "7-"',
                "type": "string",
            },
            "allow_large": {
                "default": False,
                "description": "Show up to four times as much; only if all of it is needed at once",
                "type": "boolean",
            },
        },
        "required": ["file_path"],
        "type": "object",
    }


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("Read", {"file_path", "offset", "limit", "pages", "allow_large"}),
        ("NotebookEdit", {"notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"}),
        ("Write", {"file_path", "content"}),
        ("Edit", {"file_path", "old_string", "new_string", "replace_all"}),
        ("Glob", {"pattern", "path"}),
        (
            "Grep",
            {"pattern", "path", "glob", "type", "output_mode", "-A", "-B", "-C", "context", "-n"}
            | {"-i", "-o", "head_limit", "offset", "multiline"},
        ),
    ],
)
def test_the_fields_have_the_published_names(name: str, fields: set[str]) -> None:
    schema = spec(tool(name), str).input_schema
    assert set(schema["properties"]) == fields
    assert not re.search(r"title|\$defs|\$ref|anyOf|null", str(schema))
    assert all(part["description"] for part in schema["properties"].values())


def test_options_of_grep_are_read_by_their_signs() -> None:
    parsed = parse_input(tool("Grep"), {"pattern": "x", "-A": 2, "-i": True, "-n": False})
    assert isinstance(parsed, GrepInput)
    assert (parsed.after, parsed.ignore_case, parsed.numbers) == (2, True, False)


@pytest.mark.parametrize(
    ("input", "message"),
    [
        (
            {"file_path": "a", "content": "b", "mode": "w", "force": True},
            "Write was not run: mode is not a field of it; force is not a field of it. Its fields "
            "are file_path, content.",
        ),
        (
            {"path": "a"},
            "Write was not run: file_path is missing; content is missing; path is not a field of "
            "it. Its fields are file_path, content.",
        ),
        (
            {"file_path": "a", "content": 5},
            "Write was not run: content: Input should be a valid string. Its fields are "
            "file_path, content.",
        ),
    ],
)
def test_a_wrong_input_is_refused_field_by_field(input: Json, message: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_input(tool("Write"), input)
    assert caught.value.kind == "invalid_input"
    assert caught.value.message == message


@pytest.mark.parametrize("each", TOOLS, ids=[each.name for each in TOOLS])
def test_every_tool_is_described(each: AnyTool) -> None:
    library = PromptLibrary(resource("prompts"))
    text = spec(each, library.tool).description
    assert 200 < len(text) < 2400
    for name in re.findall(r"`(-\w|[a-z]+_[a-z]+)`", text):
        assert name in spec(each, str).input_schema["properties"] or name in {
            "files_with_matches"
        }, name
