"""The prompt files keep their promises: a stable part without variables, and nothing unused."""

import re
from pathlib import Path

from sidelight.resources.locate import resource
from sidelight.resources.prompts import PromptLibrary
from sidelight.tools.bash.tool import BashOptions, BashTool
from sidelight.tools.registry import built_in_tools

PROMPTS = resource("prompts")
LIBRARY = PromptLibrary(PROMPTS)
MANIFEST = LIBRARY.manifest()
# Named in code: `app/world.py` and `context/environment.py`.
REMINDERS = ("reminders/opening.md", "reminders/mode-plan.md", "reminders/mode-plan-ended.md")


def modules() -> list[Path]:
    return [path for path in sorted(PROMPTS.rglob("*.md")) if path.parent != PROMPTS]


def tool_names() -> list[str]:
    tools = built_in_tools(bash=BashTool(BashOptions(environment=dict)))
    return [tool.name for tool in tools]


def test_nothing_above_the_cache_boundary_has_a_variable() -> None:
    wrong = [name for name in MANIFEST.stable if re.search(r"\{[a-z_]+\}", LIBRARY.module(name))]
    assert wrong == []


def test_every_module_is_short_and_begins_with_a_header() -> None:
    for path in modules():
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 120, path


def test_every_tool_has_a_description() -> None:
    assert [name for name in tool_names() if len(LIBRARY.tool(name)) < 40] == []


def test_no_prompt_file_is_unused() -> None:
    used = {*MANIFEST.stable, *MANIFEST.dynamic, *REMINDERS}
    used |= {f"tools/{name.lower()}.md" for name in tool_names()}
    found = {path.relative_to(PROMPTS).as_posix() for path in modules()}
    assert found == used
