"""What became of a call, as a class: in events, in hooks, and never more than that elsewhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.content import ToolUse
from sidelight.core.events import ToolCallEnded
from sidelight.core.host import PermissionReply
from sidelight.hooks.outcome import HookOutcome
from sidelight.tools.read import ReadTool
from tests.builders import Stage, results
from tests.fakes.model import ScriptedModel
from tests.fakes.tools import StepTool

pytestmark = [pytest.mark.anyio, pytest.mark.req("TOOL-13")]


def call(tool: str, **more: Any) -> ToolUse:
    return ToolUse(id="toolu_a", name=tool, input={"name": "a", **more})


def ends(stage: Stage) -> Sequence[tuple[str, str | None]]:
    """Outcome and class of each call that has ended."""
    ended = [event for event in stage.events if isinstance(event, ToolCallEnded)]
    return [(event.outcome, event.error) for event in ended]


def stage_of(use: ToolUse, **more: Any) -> Stage:
    tools = [StepTool(), StepTool("Change", changes=True)]
    return Stage(ScriptedModel([[use], ["I see"]]), tools, **more)


@pytest.mark.parametrize(
    ("use", "outcome", "kind"),
    [
        (call("Look"), "done", None),
        (call("Nothing"), "failed", "invalid_input"),
        (call("Look", other=1), "failed", "invalid_input"),
        (call("Look", fail="gone", kind="not_found"), "failed", "not_found"),
        (call("Look", fail="old", kind="stale"), "failed", "stale"),
        (call("Look", fail="shut", kind="permission"), "failed", "permission"),
        (call("Look", fail="late", kind="timeout"), "failed", "timeout"),
        (call("Look", bug=True), "failed", "bug"),
    ],
    ids=str,
)
async def test_the_class_of_a_failure_is_told(use: ToolUse, outcome: str, kind: str | None) -> None:
    stage = stage_of(use)
    await stage.run()
    assert ends(stage) == [(outcome, kind)]


async def test_denials_are_told_apart_by_who_gave_them() -> None:
    """B095: a rule, a person and a hook are three things."""
    by_rule = stage_of(call("Change"), mode="dontAsk")
    by_person = stage_of(call("Change"), mode="default")
    by_person.host.replies = [PermissionReply(behavior="deny", feedback="not now")]
    by_hook = stage_of(call("Change"))
    by_hook.hooks.answers = {"PreToolUse": HookOutcome(permission="deny", reason="no")}
    stopped = stage_of(call("Change"))
    stopped.hooks.answers = {"PreToolUse": HookOutcome(stop="enough")}
    expected = {
        "denied_by_rule": by_rule,
        "denied_by_person": by_person,
        "denied_by_hook": by_hook,
    }
    for kind, stage in expected.items():
        await stage.run()
        assert ends(stage) == [("denied", kind)]
    await stopped.run()
    assert ends(stopped) == [("denied", "denied_by_hook")]


async def test_an_interrupted_call_is_neither_a_failure_nor_a_denial() -> None:
    """B106."""
    look = StepTool()
    stage = Stage(ScriptedModel([[call("Look", gate="never")]]), [look])

    async def stop() -> None:
        await look.started("a")
        stage.scope.cancel()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            await stage.run()
    ((_, text, is_error),) = results(stage.history)
    assert (text, is_error) == (
        "The user interrupted this call while it ran. It may have partly run.",
        True,
    )


async def test_hooks_are_told_the_class_beside_the_text() -> None:
    stage = stage_of(call("Look", fail="a secret text", kind="stale"))
    await stage.run()
    (told,) = [extra for event, extra in stage.hooks.fired if event == "PostToolUseFailure"]
    assert (told["error"], told["error_class"]) == ("a secret text", "stale")
    assert told["duration_ms"] >= 0


@pytest.mark.req("TOOL-02")
async def test_hooks_read_absolute_paths_and_the_input_that_ran() -> None:
    """Spec: `file_path` is absolute for hooks; what a hook changed is what later ones read."""
    read = ToolUse(id="toolu_a", name="Read", input={"file_path": "a/../b.txt"})
    stage = Stage(ScriptedModel([[read], ["I see"]]), [ReadTool()])
    changed = {"file_path": "c.txt", "limit": 1}
    stage.hooks.answers = {"PreToolUse": HookOutcome(updated_input=changed)}
    stage.host.files["/w/c.txt"] = "x\n"
    await stage.run()
    told = [(e, extra["tool_input"]) for e, extra in stage.hooks.fired if "ToolUse" in e]
    assert told == [
        ("PreToolUse", {"file_path": "/w/b.txt"}),
        ("PostToolUse", {"file_path": "/w/c.txt", "limit": 1}),
    ]
    assert read.input == {"file_path": "a/../b.txt"}, "what the model said stays as it was"


@pytest.mark.req("TOOL-02")
async def test_a_result_that_is_too_long_is_kept_in_a_private_file(tmp_path: Path) -> None:
    """B098: what is not shown is on disk."""
    scratch = tmp_path / "scratch"
    stage = stage_of(call("Look", size=200_000), scratch=str(scratch))
    await stage.run()
    path = scratch / "result-toolu_a.txt"
    assert path.read_text() == "x" * 200_000
    assert path.stat().st_mode & 0o777 == 0o600
    ((_, text, _),) = results(stage.history)
    assert text == (
        "x" * 4_000 + f"\n\n[The result has 200,000 characters. All of it is in {path}; use Grep "
        "or Read with offset and limit on it.]"
    )


async def test_a_long_result_that_cannot_be_kept_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    stage = stage_of(call("Look", size=200_000), scratch=str(tmp_path / "file"))
    await stage.run()
    ((_, text, _),) = results(stage.history)
    assert text.endswith("The rest could not be kept (File exists): ask for less at a time.]")
