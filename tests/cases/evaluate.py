"""Turns a line of the permission corpus into a question and a policy, and asks the engine."""

import json
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from sidelight.core.access import Access
from sidelight.core.decision import Decision, Deny, Mode
from sidelight.permissions.pipeline import decide
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.question import Question
from sidelight.permissions.rule import Source
from sidelight.permissions.trust import StartUp, is_trusted, judge_start
from sidelight.tools.bash.effects import accesses
from tests.fakes.memory_disk import MemoryDisk

CORPUS = Path(__file__).with_name("permissions.jsonl")
HOME = "/home/dev"
FILE_FIELDS = {"Read": "file_path", "Edit": "file_path", "Write": "file_path",
               "NotebookEdit": "notebook_path"}  # fmt: skip
LATER: dict[str, str] = {
    "Sandbox": "what a confined process may do is shown by running one (sandbox/)",
    "Render": "what the view loads is shown by the client's own test",
    "MemoryImport": "imports are resolved by the memory files' reader (memory/)",
}

Json = dict[str, Any]
Answer = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the shell of a case stands."""

    cwd: str


def corpus() -> list[Json]:
    """All lines."""
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


def owner(case: Json) -> str:
    """Why a line is answered elsewhere; empty for lines of the engine."""
    if case["kind"] == "sandbox":
        return LATER["Sandbox"]
    return LATER.get(case["tool"], "")


def answer(case: Json) -> Answer:
    """What the engine says to a line."""
    if case["tool"] == "Startup":
        return _start(case).behavior
    settings = case["settings"]
    policy = policy_of(case)
    hook, updated = _hooks(settings, policy.trusted)
    first = question_of(case["tool"], case["input"], case, hook)
    if updated is None:
        return decide(first, policy).behavior
    if isinstance(decide(first, policy), Deny):
        return "deny"
    return decide(question_of(case["tool"], updated, case, hook), policy).behavior


def policy_of(case: Json) -> Policy:
    """The policy under which a line's call is made."""
    settings = case["settings"]
    project = settings.get("project", {})
    user = RuleSource(
        Source("user", "~/.claude/settings.json", root=f"{HOME}/.claude"),
        tuple(settings["allow"]), tuple(settings["ask"]), tuple(settings["deny"]),
        tuple(settings.get("additional_dirs", ())), _mode(settings["mode"]),
    )  # fmt: skip
    folder = RuleSource(
        Source("project", ".claude/settings.json", root=case["cwd"]),
        tuple(project.get("allow", ())), tuple(project.get("ask", ())),
        tuple(project.get("deny", ())), (), _mode(project.get("mode")),
    )  # fmt: skip
    return Policy.from_settings(
        [user, folder],
        [case["cwd"]],
        HOME,
        trusted=settings.get("trusted", True),
        headless=settings.get("headless", False),
        disk=_disk(case),
    )


def _mode(name: str | None) -> Mode | None:
    return "bypassPermissions" if name == "bypass" else cast("Mode | None", name)


def _disk(case: Json) -> MemoryDisk:
    files = {
        path if path.startswith("/") else f"{case['cwd']}/{path}": value
        for path, value in case.get("files", {}).items()
    }
    return MemoryDisk(files, {"dev": HOME, "root": "/root"})


def _hooks(settings: Json, trusted: bool) -> tuple[Answer | None, Json | None]:
    """The strictest answer of the hooks that run, and a rewritten input."""
    results = [r for r in settings.get("hook_results", ()) if trusted or r["source"] == "user"]
    said: list[Any] = [r.get("decision") for r in results]
    order: tuple[Answer, ...] = ("deny", "ask", "allow")
    strictest: Answer | None = next((word for word in order if word in said), None)
    updated = next((r["updated_input"] for r in results if "updated_input" in r), None)
    return strictest, updated


def question_of(tool: str, input: Json, case: Json, hook: Answer | None = None) -> Question:
    """The question about a call, with what the tool would say that it touches."""
    return Question(tool, input, touched(tool, input, case["cwd"]), hook)


def touched(tool: str, input: Json, cwd: str) -> tuple[Access, ...]:
    """What a call touches."""
    if tool == "Bash":
        return accesses(input["command"], Standing(input.get("cwd", cwd)))
    if tool in FILE_FIELDS:
        writes = tool != "Read"
        path = input[FILE_FIELDS[tool]]
        return (Access(kind="write" if writes else "read", target=path, mutates=writes),)
    if tool == "Grep":
        return (Access(kind="read", target=input.get("path", cwd), depth="visible"),)
    if tool == "Glob":
        plain: str = input["pattern"].partition("*")[0].rpartition("/")[0]
        start = posixpath.join(str(input.get("path", cwd)), plain)
        return (Access(kind="read", target=start, depth="names"),)
    if tool == "WebFetch":
        return (Access(kind="fetch", target=input["url"]),)
    changed = input.get("_digest") != input.get("_approved_digest")
    unsure = "its description changed since it was approved" if changed else ""
    return (Access(kind="mcp", target=tool, mutates=True, unsure=unsure),)


def _start(case: Json) -> Decision:
    wish, settings = case["input"], case["settings"]
    trusted = settings.get("trusted", True) or is_trusted(
        case["cwd"], settings.get("trusted_folders", ()), _disk(case), HOME
    )
    what = StartUp(
        wish["action"],
        wish.get("source", "project"),
        _mode(wish.get("mode")) or "",
        wish.get("digest"),
        wish.get("approved_digest"),
        wish.get("token") == "valid",
        wish.get("origin"),
    )
    return judge_start(what, trusted)
