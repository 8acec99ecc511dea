"""A project with hooks, and an engine that runs them for real."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.core.content import Json
from sidelight.hooks.engine import Covers, HookEngine, HookScope, HookSurroundings
from sidelight.hooks.watch import FileRuns
from sidelight.settings.schema import HookEntry, HookHandler


def entry(event: str, command: str, matcher: str | None = None, **fields: Any) -> HookEntry:
    data = {"type": "command", "command": command, **fields}
    handler = HookHandler.model_validate(data, by_alias=True, by_name=False)
    return HookEntry(event=event, matcher=matcher, handler=handler, source="user", path="/s.json")


def covers_nothing(rule: str, tool: str, given: Json) -> bool:
    return False


class Place:
    """One session's surroundings; its folder may be changed by a test."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "app"
        self.scratch = folder / "scratch"
        self.project.mkdir()
        self.scratch.mkdir()
        self.cwd = self.project
        self.environment: Mapping[str, str] = {"PATH": os.environ["PATH"]}
        self.covers: Covers = covers_nothing
        self.file_runs = FileRuns()

    def scope(self) -> HookScope:
        return HookScope(
            session_id="s1",
            transcript_path="/t/s1.jsonl",
            cwd=str(self.cwd),
            permission_mode="default",
            project_dir=str(self.project),
            env_file=str(self.scratch / "env"),
            scratch_dir=str(self.scratch),
        )

    def engine(self, *entries: HookEntry) -> HookEngine:
        around = HookSurroundings(lambda: self.environment, self.covers, self.file_runs)
        return HookEngine(entries, self.scope, around)
