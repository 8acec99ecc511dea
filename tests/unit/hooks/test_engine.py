"""Hooks run for real: side by side, bounded, once, and nothing they do hangs the agent."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.core.content import Json
from sidelight.hooks.engine import HookEngine
from sidelight.process import group
from tests.unit.hooks.place import Place, entry

pytestmark = pytest.mark.anyio
NOTHING: Json = {}
CALL: Json = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def fire(engine: HookEngine, event: str, extra: Json, subject: str | None = None) -> Any:
    with anyio.fail_after(15):
        return await engine.fire(event, extra, subject)


@pytest.mark.req("HOOK-03")
async def test_a_hook_reads_the_event_on_its_input(place: Place):
    engine = place.engine(entry("PreToolUse", "cat > got.json", "Bash"))
    await fire(engine, "PreToolUse", CALL, "Bash")
    got = json.loads((place.project / "got.json").read_text(encoding="utf-8"))
    assert got == {
        "session_id": "s1",
        "transcript_path": "/t/s1.jsonl",
        "cwd": str(place.project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "scratchpad_dir": str(place.scratch),
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
    }


async def test_a_hooks_environment_is_ours_less_what_is_not_its_business(place: Place):
    place.environment = {
        **place.environment,
        "ANTHROPIC_API_KEY": "sk-very-secret",
        "OTEL_EXPORTER": "x",
        "MINE": "1",
    }
    engine = place.engine(
        entry("CwdChanged", "env > a"), entry("PostToolUse", "env > b", args=None)
    )
    await fire(engine, "CwdChanged", {"old_cwd": "/", "new_cwd": "/x"})
    await fire(engine, "PostToolUse", CALL)
    env = _env(place.project / "a")
    assert (env["MINE"], env["CLAUDE_PROJECT_DIR"]) == ("1", str(place.project))
    assert env["CLAUDE_ENV_FILE"] == str(place.scratch / "env")
    assert not {"ANTHROPIC_API_KEY", "OTEL_EXPORTER"} & set(env)
    assert "CLAUDE_ENV_FILE" not in _env(place.project / "b")


def _env(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


async def test_with_args_no_shell_is_between_and_placeholders_are_filled_in(place: Place):
    words = ["%s|", "${CLAUDE_PROJECT_DIR}/x", "$HOME", "a b"]
    engine = place.engine(entry("SessionStart", "printf", args=words))
    outcome = await fire(engine, "SessionStart", {"source": "startup"})
    assert outcome.contexts == (f"{place.project}/x|$HOME|a b|",)


async def test_only_hooks_whose_matcher_fits_run(place: Place):
    """B094: a hook for one tool must not run for all."""
    engine = place.engine(
        entry("PreToolUse", "echo edit >> ran", "Edit"),
        entry("PreToolUse", "echo bash >> ran", "Bash"),
        entry("PostToolUse", "echo post >> ran", "Bash"),
        entry("Stop", "echo stop >> ran", "nothing here fits"),
    )
    outcome = await fire(engine, "PreToolUse", CALL)
    await fire(engine, "Stop", {"stop_hook_active": False})
    assert (place.project / "ran").read_text(encoding="utf-8").split() == ["bash", "stop"]
    assert [run.command for run in outcome.runs] == ["`echo bash >> ran`"]


async def test_a_matcher_that_is_no_pattern_blocks_calls_and_is_told_elsewhere(place: Place):
    engine = place.engine(entry("PreToolUse", "true", "("), entry("PostToolUse", "true", "("))
    before = await fire(engine, "PreToolUse", CALL)
    assert before.permission == "deny"
    assert before.reason.startswith("the matcher '(' in /s.json is no pattern")
    after = await fire(engine, "PostToolUse", CALL)
    again = await fire(engine, "PostToolUse", CALL)
    assert (len(after.messages), again.messages) == (1, ())


@pytest.mark.req("HOOK-02")
async def test_hooks_run_side_by_side_and_answer_in_their_order(place: Place):
    # Each waits for the other's mark: one after the other they would never end.
    def meet(mine: str, other: str) -> str:
        return f"touch {mine}; while [ ! -e {other} ]; do sleep 0.01; done; echo {mine}"

    engine = place.engine(
        entry("UserPromptSubmit", meet("first", "second"), timeout=10),
        entry("UserPromptSubmit", meet("second", "first"), timeout=10),
    )
    outcome = await fire(engine, "UserPromptSubmit", {"prompt": "x"})
    assert outcome.contexts == ("first", "second")


async def test_identical_hooks_of_several_files_run_once(place: Place):
    twin = entry("PreToolUse", "echo x >> ran", "Bash")
    other_file = twin.model_copy(update={"path": "/p.json", "source": "project", "matcher": "*"})
    engine = place.engine(twin, other_file, entry("PreToolUse", "echo x >> ran", timeout=5))
    outcome = await fire(engine, "PreToolUse", CALL)
    assert (place.project / "ran").read_text(encoding="utf-8") == "x\nx\n"
    assert len(outcome.runs) == 2


@pytest.mark.req("HOOK-06")
async def test_a_hanging_hook_ends_at_its_deadline_with_all_its_children(place: Place):
    """B088: the timer covers everything, and no child is left."""
    line = "trap '' TERM; sleep 600 & echo $! > child; echo $$ > self; sleep 600"
    engine = place.engine(entry("PreToolUse", line, timeout=0.3), entry("PreToolUse", "exit 0"))
    outcome = await fire(engine, "PreToolUse", CALL)
    assert [run.outcome for run in outcome.runs] == ["timeout", "ok"]
    assert outcome.permission is None
    assert len(outcome.messages) == 1
    pids = [int((place.project / name).read_text("ascii")) for name in ("child", "self")]
    assert not group.is_alive(pids[1], frozenset(pids))


@pytest.mark.req("HOOK-06")
async def test_a_hook_that_reads_nothing_or_says_too_much_does_no_harm(place: Place):
    engine = place.engine(
        entry("UserPromptSubmit", "exec <&-; exit 0"),
        entry("UserPromptSubmit", "head -c 50000000 /dev/zero | tr '\\0' x"),
    )
    outcome = await fire(engine, "UserPromptSubmit", {"prompt": "p" * 3_000_000})
    assert [run.outcome for run in outcome.runs] == ["ok", "ok"]
    (context,) = outcome.contexts
    assert context.startswith("x" * 2000 + "\n[... ")
    kept = Path(context.rpartition("is in ")[2].rstrip("]"))
    assert kept.parent == place.scratch
    assert (await anyio.Path(kept).stat()).st_size < 1_100_000


@pytest.mark.req("HOOK-06")
async def test_a_hook_that_cannot_start_is_told_loudly(place: Place):
    engine = place.engine(
        entry("PreToolUse", "/no/such/guard", args=[]),
        entry("PreToolUse", "/no/such/guard.sh"),
        entry("PreToolUse", f"{sys.executable} /no/such/guard.py"),
        entry("PreToolUse", ""),
    )
    outcome = await fire(engine, "PreToolUse", CALL)
    assert outcome.permission is None
    assert [run.outcome for run in outcome.runs] == ["failed"] * 4
    assert len(outcome.messages) == 4


async def test_a_guard_that_fails_closed_denies_when_it_cannot_start(place: Place):
    engine = place.engine(entry("PreToolUse", "/no/such/guard", args=[], onFailure="block"))
    assert (await fire(engine, "PreToolUse", CALL)).permission == "deny"


async def test_a_guard_runs_though_the_sessions_folder_is_gone(place: Place):
    place.cwd = place.project / "gone"
    engine = place.engine(entry("PreToolUse", "pwd >&2; exit 2"))
    outcome = await fire(engine, "PreToolUse", CALL)
    assert outcome.reason.startswith(str(place.project))


@pytest.mark.req("HOOK-06")
async def test_cancelling_ends_every_hook(place: Place):
    engine = place.engine(entry("Stop", "echo $$ > pid; sleep 600"))
    written = ""
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fire, engine, "Stop", NOTHING)
            pid = anyio.Path(place.project / "pid")
            while not written.endswith("\n"):
                await anyio.sleep(0.01)
                written = await pid.read_text("ascii") if await pid.exists() else ""
            tasks.cancel_scope.cancel()
    assert not group.is_alive(int(written))


async def test_a_condition_is_asked_of_the_rules_and_a_broken_one_lets_the_hook_run(place: Place):
    asked: list[Any] = []

    def covers(rule: str, tool: str, given: Json) -> bool:
        asked.append((rule, tool, given))
        if rule == "broken":
            raise ValueError(rule)
        return rule == "Bash(ls *)"

    place.covers = covers
    engine = place.engine(
        entry("PreToolUse", "echo yes >> ran", **{"if": "Bash(ls *)"}),
        entry("PreToolUse", "echo no >> ran", **{"if": "Bash(rm *)"}),
        entry("PreToolUse", "echo open >> ran", **{"if": "broken"}),
    )
    await fire(engine, "PreToolUse", CALL)
    assert asked[0] == ("Bash(ls *)", "Bash", {"command": "ls"})
    assert sorted((place.project / "ran").read_text(encoding="utf-8").split()) == ["open", "yes"]


async def test_what_cannot_run_is_said_once_and_never_runs(place: Place):
    entries = [
        entry("PreToolUse", "x", type="http"),
        entry("PreToolUse", "touch ran", None, **{"async": True}),
        entry("Stop", "touch ran", **{"if": "Bash"}),
        entry("NoSuchEvent", "touch ran"),
        entry("PreCompact", "touch ran"),
    ]
    engine = place.engine(*entries)
    outcome = await fire(engine, "PreToolUse", CALL)
    assert outcome.messages == (
        "A hook of type http in /s.json is not supported yet; it does not run.",
        "The hook `touch ran` in /s.json is async; that is not supported yet, it is off.",
    )
    assert (await fire(engine, "PreToolUse", CALL)).messages == ()
    assert engine.notices() == (
        'The hook `touch ran` in /s.json has an "if", which Stop does not know.',
        "The hook event NoSuchEvent in /s.json is not known to this version.",
        "The hook event PreCompact in /s.json does not happen in this version.",
    )
    await fire(engine, "Stop", {})
    assert not (place.project / "ran").exists()


async def test_secrets_of_the_environment_are_hidden_in_all_that_hooks_say(place: Place):
    place.environment = {**place.environment, "DEPLOY_TOKEN": "tok-123456789"}
    said = json.dumps({"systemMessage": "m tok-123456789", "decision": "block", "reason": "r"})
    engine = place.engine(
        entry("PostToolUse", f"echo '{said}'"),
        entry("PostToolUse", 'echo "$DEPLOY_TOKEN" >&2; exit 2'),
    )
    outcome = await fire(engine, "PostToolUse", CALL)
    assert "tok-123456789" not in outcome.model_dump_json()
    assert outcome.block == "r\n[DEPLOY_TOKEN hidden]"


async def test_other_hooks_may_be_taken_at_any_time(place: Place):
    engine = place.engine(entry("Stop", "touch old"))
    engine.use([entry("Stop", "touch new")])
    await fire(engine, "Stop", {})
    assert [name.name for name in place.project.iterdir()] == ["new"]


# --- files ---------------------------------------------------------------------------------------


def changed(path: Path, event: str = "change") -> Json:
    return {"file_path": str(path), "event": event}


@pytest.mark.req("HOOK-04")
async def test_a_saved_file_starts_its_hook_with_path_and_kind(place: Place):
    engine = place.engine(entry("FileChanged", "cat >> ../got", "*.py"))
    file = place.project / "a.py"
    file.write_text("x", encoding="utf-8")
    await fire(engine, "FileChanged", changed(file))
    await fire(engine, "FileChanged", changed(place.project / "a.txt"))
    got = json.loads((place.project / "../got").read_text(encoding="utf-8"))
    assert (got["file_path"], got["event"], got["hook_event_name"]) == (
        str(file),
        "change",
        "FileChanged",
    )


async def test_a_formatter_does_not_start_itself_and_runs_again_for_a_later_change(place: Place):
    file = place.project / "a.py"
    engine = place.engine(entry("FileChanged", "echo ran >> count; echo '#' >> a.py", "*.py"))
    file.write_text("x", encoding="utf-8")
    await fire(engine, "FileChanged", changed(file))
    await fire(engine, "FileChanged", changed(file))
    os.utime(file, (1, 1))
    await fire(engine, "FileChanged", changed(file))
    assert (place.project / "count").read_text(encoding="utf-8") == "ran\nran\n"


async def test_two_sessions_that_watch_a_file_run_an_identical_hook_once(place: Place):
    hook = entry("FileChanged", "echo ran >> count", "a.py")
    file = place.project / "a.py"
    file.write_text("x", encoding="utf-8")
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for engine in (place.engine(hook), place.engine(hook)):
                tasks.start_soon(engine.fire, "FileChanged", changed(file))
    assert (place.project / "count").read_text(encoding="utf-8") == "ran\n"


async def test_files_named_in_settings_stay_watched_through_changes_of_folder(place: Place):
    """B089: FileChanged stops for good after any directory change."""
    sub = place.project / "sub"
    sub.mkdir()
    engine = place.engine(entry("FileChanged", "true", "test.bell"))
    top, below = str(place.project / "test.bell"), str(sub / "test.bell")
    assert engine.watch_list() == (top,)
    place.cwd = sub
    assert engine.watch_list() == (top, below)
    place.cwd = place.project
    assert engine.watch_list() == (top,)
    outcome = await fire(engine, "FileChanged", changed(Path(top), "add"))
    assert len(outcome.runs) == 1


@pytest.mark.req("HOOK-05")
async def test_a_change_of_folder_replaces_the_further_watched_files(place: Place):
    def says(paths: list[str]) -> str:
        said = {"hookSpecificOutput": {"hookEventName": "CwdChanged", "watchPaths": paths}}
        return f"echo '{json.dumps(said)}'"

    moved: Json = {"old_cwd": "/a", "new_cwd": "/b"}
    reader = entry("FileChanged", "true")
    engine = place.engine(entry("CwdChanged", says(["/etc/x", "rel"])), reader)
    outcome = await fire(engine, "CwdChanged", moved)
    assert outcome.watch_paths == ("/etc/x", "rel")
    assert engine.watch_list()[:2] == ("/etc/x", str(place.project / "rel"))
    assert len((await fire(engine, "FileChanged", changed(Path("/etc/x")))).runs) == 1
    engine.use([entry("CwdChanged", says([])), reader])
    await fire(engine, "CwdChanged", moved)
    assert engine.watch_list() == (str(place.project / "**"),)


async def test_a_file_hook_whose_pattern_cannot_be_read_is_said(place: Place):
    engine = place.engine(entry("FileChanged", "true", "("), entry("FileChanged", "true", "a"))
    (notice,) = engine.notices()
    assert notice.startswith("The FileChanged matcher '(' in /s.json is no pattern: ")
    assert engine.watch_list() == (str(place.project / "a"),)
    outcome = await fire(engine, "FileChanged", changed(place.project / "a"))
    assert (len(outcome.runs), outcome.messages) == (1, ())


async def test_without_file_hooks_nothing_is_watched(place: Place):
    engine = place.engine(entry("Stop", "true"), entry("FileChanged", "x", type="http"))
    assert engine.watch_list() == ()


@pytest.mark.req("HOOK-01")
@pytest.mark.parametrize(
    ("older", "event", "tool"),
    [
        ("PreFileEdit", "PreToolUse", "Edit"),
        ("PreFileWrite", "PreToolUse", "Write"),
        ("PostFileEdit", "PostToolUse", "Edit"),
        ("PostFileWrite", "PostToolUse", "Write"),
        ("ToolError", "PostToolUseFailure", "Bash"),
    ],
)
async def test_older_names_of_a_moment_run_beside_the_present_one_for_their_tool_alone(
    place: Place, older: str, event: str, tool: str
):
    told = json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "old"}})
    engine = place.engine(
        entry(older, f"cat > got.json; echo '{told}'"),
        entry(event, f"echo '{told.replace('old', 'new')}'"),
    )
    call: Json = {"tool_name": tool, "tool_input": {}, "tool_use_id": "t1"}
    outcome = await fire(engine, event, call, tool)
    assert outcome.contexts == ("new", "old")
    assert [run.event for run in outcome.runs] == [event, older]
    got = json.loads((place.project / "got.json").read_text(encoding="utf-8"))
    assert (got["hook_event_name"], got["tool_name"]) == (older, tool)
    if older != "ToolError":
        other = await fire(engine, event, {**call, "tool_name": "Grep"}, "Grep")
        assert other.contexts == ("new",)


@pytest.mark.req("HOOK-01")
async def test_a_guard_under_an_older_name_denies_and_one_that_cannot_be_judged_too(place: Place):
    call: Json = {"tool_name": "Edit", "tool_input": {}, "tool_use_id": "t1"}
    engine = place.engine(entry("PreFileEdit", "echo hands off >&2; exit 2"))
    outcome = await fire(engine, "PreToolUse", call, "Edit")
    assert (outcome.permission, "hands off" in outcome.reason) == ("deny", True)
    broken = place.engine(entry("PreFileEdit", "true", "["))
    assert (await fire(broken, "PreToolUse", call, "Edit")).permission == "deny"
