"""Runs the hooks of an event: all that match, side by side, and joins what they answer."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import cast

import anyio

from sidelight.core.content import Json
from sidelight.hooks.events import BY_NAME, HookEvent, names_of
from sidelight.hooks.handlers.command import NotStarted, run_command
from sidelight.hooks.matcher import MatcherError, matches
from sidelight.hooks.outcome import HookOutcome, combine, not_started, read_answer
from sidelight.hooks.watch import FileRuns, is_wanted, watch_list
from sidelight.process.environment import Secrets, child_environment
from sidelight.settings.schema import HookEntry

log = logging.getLogger(__name__)

LONGEST_TEXT = 10_000
PREVIEW = 2_000
SESSION_END_MAX_S = 60
FAIL_CLOSED = frozenset({"PreToolUse", "PreFileEdit", "PreFileWrite", "PermissionRequest"})
"""Where a hook that cannot be judged denies the call."""
Covers = Callable[[str, str, Json], bool]


@dataclass(frozen=True, slots=True)
class HookScope:
    """What every hook is told about the session. Paths are absolute.

    `project_dir` is where the session began, `env_file` the file whose lines later commands
    read, `scratch_dir` a folder for texts that are too long to pass on (empty: they are cut).
    """

    session_id: str
    transcript_path: str
    cwd: str
    permission_mode: str
    project_dir: str
    env_file: str = ""
    scratch_dir: str = ""
    prompt_id: str = ""


@dataclass(frozen=True, slots=True)
class HookSurroundings:
    """What the engine gets from the rest of the house.

    `environment` is what children start from, settings included; `covers` says whether a
    permission rule, as written, covers a tool's call. `file_runs` is shared by all sessions.
    """

    environment: Callable[[], Mapping[str, str]]
    covers: Covers
    file_runs: FileRuns = field(default_factory=FileRuns)


class HookEngine:
    """The hooks of one session. Its entries may be replaced at any time."""

    def __init__(
        self,
        entries: Sequence[HookEntry],
        scope: Callable[[], HookScope],
        surroundings: HookSurroundings,
    ) -> None:
        self._entries = tuple(entries)
        self._scope = scope
        self._around = surroundings
        self._added: tuple[str, ...] = ()
        self._said: set[str] = set()

    def use(self, entries: Sequence[HookEntry]) -> None:
        """Take other hooks from now on; runs that are under way end as they began."""
        self._entries = tuple(entries)

    def notices(self) -> tuple[str, ...]:
        """Sentences about hooks that cannot work, each said once in a session."""
        new = [text for entry in self._entries if (text := _unusable(entry))]
        return self._once(new)

    def watch_list(self) -> tuple[str, ...]:
        """Absolute paths and globs whose changes are to be passed to `fire`, as of now."""
        mine = [e for e in self._entries if e.event == "FileChanged" and not _unusable(e)]
        if not mine:
            return ()
        return watch_list([e.matcher for e in mine], _folders(self._scope()), self._added)

    def listens(self, event: str) -> bool:
        """Whether a hook of the event can run."""
        return any(entry.event == event and not _unusable(entry) for entry in self._entries)

    async def fire(self, event: str, extra: Json, subject: str | None = None) -> HookOutcome:
        """Run the event's hooks and wait for all; `extra` is added to what each of them reads.

        `subject` is what matchers are held against, by default the event's own field of `extra`.
        Faulty hooks become messages, never errors. Cancelling ends all runs.
        """
        names = names_of(event, extra.get("tool_name"))
        if len(names) == 1:
            return await self._fire(event, extra, subject)
        outcomes = [await self._fire(name, extra, subject) for name in names]
        return combine(outcomes, lambda text: text)

    async def _fire(self, event: str, extra: Json, subject: str | None) -> HookOutcome:
        about = BY_NAME[event]
        mine = [entry for entry in self._entries if entry.event == event]
        if not mine:
            return HookOutcome()
        scope = self._scope()
        told = self._once([text for entry in mine if (text := _unusable(entry))])
        early: list[HookOutcome] = [HookOutcome(messages=told)] if told else []
        chosen: dict[str, HookEntry] = {}
        for entry in mine:
            try:
                if self._applies(entry, about, extra, subject, scope):
                    chosen.setdefault(_identity(entry), entry)
            except MatcherError as error:
                early.append(self._bad_matcher(entry, about, str(error)))
        ran = await self._run_all(chosen, about, extra, scope)
        outcome = combine([*early, *ran], self._tidy(scope))
        if outcome.watch_paths is not None:
            self._added = tuple(str(Path(scope.cwd, path)) for path in outcome.watch_paths)
        return outcome

    def _applies(
        self, entry: HookEntry, event: HookEvent, extra: Json, subject: str | None, scope: HookScope
    ) -> bool:
        if _unusable(entry):
            return False
        if event.name == "FileChanged":
            path = str(extra.get("file_path", ""))
            return is_wanted(entry.matcher, path, _folders(scope), self._added)
        value = subject if subject is not None else str(extra.get(event.subject, ""))
        if event.subject and not matches(entry.matcher, value, event.name):
            return False
        return entry.handler.only_if is None or self._covered(entry.handler.only_if, extra)

    def _covered(self, rule: str, extra: Json) -> bool:
        try:
            given = cast("Json", extra.get("tool_input") or {})
            return self._around.covers(rule, str(extra.get("tool_name", "")), given)
        except Exception:
            # A condition that cannot be judged must not keep a guard from running.
            log.exception("the condition %r of a hook could not be judged", rule)
            return True

    async def _run_all(
        self, chosen: Mapping[str, HookEntry], event: HookEvent, extra: Json, scope: HookScope
    ) -> list[HookOutcome]:
        payload = _payload(event, extra, scope)
        results: dict[str, HookOutcome] = {}

        async def one(key: str, entry: HookEntry) -> None:
            try:
                results[key] = await self._run_one(entry, event, payload, scope)
            except Exception as error:
                log.exception("hook %s of %s", _label(entry), event.name)
                why = f"of a fault of ours ({type(error).__name__})"
                fail_closed = entry.handler.on_failure == "block"
                results[key] = not_started(event, _label(entry), why, fail_closed)

        path = str(extra.get("file_path", "")) if event.name == "FileChanged" else ""
        runs = self._around.file_runs
        started = [key for key in chosen if not path or runs.begin(key, path)]
        try:
            async with anyio.create_task_group() as group:
                for key in started:
                    group.start_soon(one, key, chosen[key])
        finally:
            for key in started if path else ():
                runs.end(key, path)
        return [results[key] for key in started]

    async def _run_one(
        self, entry: HookEntry, event: HookEvent, payload: Json, scope: HookScope
    ) -> HookOutcome:
        extra = {"CLAUDE_PROJECT_DIR": scope.project_dir}
        if event.env_file and scope.env_file:
            extra["CLAUDE_ENV_FILE"] = scope.env_file
        # The session's folder may be gone; a guard must run all the same.
        there = await anyio.Path(scope.cwd).is_dir()
        done = await run_command(
            entry.handler,
            payload,
            cwd=scope.cwd if there else scope.project_dir,
            env=child_environment(self._around.environment(), drop=["OTEL_*"]),
            placeholders=extra,
            timeout_s=_timeout(entry, event),
        )
        fail_closed = entry.handler.on_failure == "block"
        if isinstance(done, NotStarted):
            return not_started(event, _label(entry), done.why, fail_closed)
        return read_answer(event, _label(entry), done, fail_closed)

    def _bad_matcher(self, entry: HookEntry, event: HookEvent, why: str) -> HookOutcome:
        text = f"the matcher {entry.matcher!r} in {entry.path} is no pattern: {why}"
        if event.name in FAIL_CLOSED:
            return HookOutcome(permission="deny", reason=f"{text}; mend it first")
        return HookOutcome(messages=self._once([f"A {event.name} hook cannot run: {text}."]))

    def _once(self, texts: Sequence[str]) -> tuple[str, ...]:
        new = tuple(dict.fromkeys(text for text in texts if text not in self._said))
        self._said.update(new)
        return new

    def _tidy(self, scope: HookScope) -> Callable[[str], str]:
        secrets = Secrets.of(self._around.environment())

        def tidy(text: str) -> str:
            text = secrets.mask(text)
            return text if len(text) <= LONGEST_TEXT else _spilled(text, scope.scratch_dir)

        return tidy


def _payload(event: HookEvent, extra: Json, scope: HookScope) -> Json:
    common: Json = {
        "session_id": scope.session_id,
        "transcript_path": scope.transcript_path,
        "cwd": scope.cwd,
        "permission_mode": scope.permission_mode,
        "hook_event_name": event.name,
    }
    if scope.scratch_dir:
        common["scratchpad_dir"] = scope.scratch_dir
    if scope.prompt_id:
        common["prompt_id"] = scope.prompt_id
    return {**common, **extra}


def _folders(scope: HookScope) -> tuple[str, ...]:
    """Where literal file names are looked for: here, and always where the session began."""
    return tuple(dict.fromkeys((scope.project_dir, scope.cwd)))


def _timeout(entry: HookEntry, event: HookEvent) -> float:
    if event.name == "SessionEnd":
        return min(SESSION_END_MAX_S, entry.handler.timeout or event.timeout_s)
    return entry.handler.timeout or event.timeout_s


def _identity(entry: HookEntry) -> str:
    """Equal for handlers that say the same, whatever file they stand in."""
    return entry.handler.model_dump_json()


def _label(entry: HookEntry) -> str:
    words = " ".join((entry.handler.command or "", *(entry.handler.args or ())))
    line = " ".join(words.split())
    return f"`{line[:77]}...`" if len(line) > 80 else f"`{line}`"


def _unusable(entry: HookEntry) -> str:
    """Why a hook never runs, in a sentence; empty if it can."""
    handler, event = entry.handler, BY_NAME.get(entry.event)
    where = f"in {entry.path}" if entry.path else "in the arguments"
    if event is None:
        return f"The hook event {entry.event} {where} is not known to this version."
    if not event.fired:
        return f"The hook event {entry.event} {where} does not happen in this version."
    if handler.type != "command":
        return f"A hook of type {handler.type} {where} is not supported yet; it does not run."
    if handler.in_background or handler.async_rewake:
        return f"The hook {_label(entry)} {where} is async; that is not supported yet, it is off."
    if handler.only_if is not None and not event.of_a_call:
        return f'The hook {_label(entry)} {where} has an "if", which {entry.event} does not know.'
    return _bad_file_matcher(entry, where)


def _bad_file_matcher(entry: HookEntry, where: str) -> str:
    if entry.event == "FileChanged":
        try:
            watch_list([entry.matcher], (), ())
        except MatcherError as error:
            return f"The FileChanged matcher {entry.matcher!r} {where} is no pattern: {error}."
    return ""


def _spilled(text: str, folder: str) -> str:
    """The beginning of a long text, with the name of the file that holds all of it."""
    shown = text[:PREVIEW]
    if not folder:
        return f"{shown}\n[... cut: {len(text)} characters]"
    name = sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    target = Path(folder, f"hook-{name}.txt")
    try:
        target.write_text(text, "utf-8", errors="replace")
    except OSError as error:
        log.warning("a hook's long text could not be kept: %s", error)
        return f"{shown}\n[... cut: {len(text)} characters]"
    return f"{shown}\n[... {len(text)} characters in all, the whole text is in {target}]"
