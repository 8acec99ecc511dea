"""Glob: files by name."""

import re
import time
from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from sidelight.core.access import Access
from sidelight.core.host import FileEdit
from sidelight.core.record import PlainRecord
from sidelight.core.tool import Progress, Shell, ToolContext, ToolOutput
from sidelight.tools.search.found import (
    Conceals,
    arrange,
    best_engine,
    conceal_nothing,
    names_in,
    odd_names,
    short,
    shown_name,
)
from sidelight.tools.search.query import Engine, Query, Scope, check
from sidelight.tools.target import Target, require_place, search_access, target_of

LIMIT = 100
MAGIC = re.compile(r"[*?\[{]")


class GlobInput(PlainRecord):
    """Which names, and where."""

    pattern: str = Field(
        min_length=1,
        description="Glob pattern such as `**/*.py` or `src/**/*.{ts,tsx}`; without a slash it "
        "matches names at any depth",
    )
    path: str | None = Field(
        None, description="Folder to search in; the working folder if absent", min_length=1
    )


class GlobTool:
    """Lists files; `respect_ignore` leaves out what gitignore rules name."""

    name = "Glob"
    input_type = GlobInput

    def __init__(
        self,
        engine: Engine | None = None,
        *,
        respect_ignore: bool = False,
        conceals: Conceals = conceal_nothing,
    ) -> None:
        self._engine = engine or best_engine()
        self._respect_ignore = respect_ignore
        self._conceals = conceals

    def summary(self, input: GlobInput) -> str:
        """The pattern, and the folder if one is named."""
        return f"{input.pattern} in {input.path}" if input.path else input.pattern

    def touches(self, input: GlobInput, shell: Shell) -> Sequence[Access]:
        """The folder, read; its names below unless those that rules mind are left out."""
        base, _ = _base(input, shell)
        return search_access(base, "names" if self._conceals is conceal_nothing else "")

    async def preview(self, input: GlobInput, context: ToolContext) -> Sequence[FileEdit]:
        """Nothing: searching edits nothing."""
        return ()

    async def run(
        self, input: GlobInput, context: ToolContext
    ) -> AsyncIterator[Progress | ToolOutput]:
        """The newest files that match; raises ToolError."""
        began = time.monotonic()
        base, pattern = _base(input, context.shell)
        require_place(base, context.shell, folder=True)
        scope = Scope(base.path, (pattern,), respect_ignore=self._respect_ignore)
        check(Query(""), scope)
        found = await arrange(*await names_in(self._engine, scope, self._conceals), most=LIMIT)
        shown = list(found.files)
        names = [short(path, context.shell.cwd) for path in shown]
        remarks = [*odd_names(shown), *found.remarks]
        more = found.total > len(shown)
        if more:
            remarks.insert(0, f"The newest {LIMIT} of {found.total} files. Narrow the pattern.")
        head = "\n".join(names) or f"No file matches {input.pattern} in {base.path}."
        text = "\n\n".join((head, *(f"({remark})" for remark in remarks)))
        yield ToolOutput.of(
            text,
            data={
                "durationMs": round((time.monotonic() - began) * 1000),
                "numFiles": len(shown),
                "filenames": [shown_name(path) for path in shown],
                "truncated": more or not found.complete,
                "totalMatches": found.total,
                "countIsComplete": found.complete,
                **({"timedOut": True} if found.timed_out else {}),
            },
        )


def _base(input: GlobInput, shell: Shell) -> tuple[Target, str]:
    """The folder to search and the pattern from there on; a leading path moves the folder."""
    pattern = input.pattern.removeprefix("./")
    folder = target_of(input.path or shell.cwd, shell)
    parts = pattern.split("/")
    fixed = next((i for i, part in enumerate(parts) if MAGIC.search(part)), len(parts) - 1)
    if not fixed or not (pattern.startswith(("/", "~")) or ".." in parts[:fixed]):
        return folder, f"/{pattern}" if input.pattern.startswith("./") else pattern
    lead = "/".join(parts[:fixed]) or "/"
    absolute = lead.startswith(("/", "~"))
    base = target_of(lead if absolute else f"{folder.path}/{lead}", shell)
    rest = "/".join(parts[fixed:])
    return base, f"/{rest}"
