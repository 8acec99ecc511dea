"""What the sessions of a process share, and how one session is put together."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path

import anyio

from sidelight.agent.prepared import prepare
from sidelight.agent.turn import Bounds
from sidelight.app.bounds import bounds_of, ceilings_of, unread_variables
from sidelight.app.consent import HookConsent
from sidelight.app.models import roles, user_side
from sidelight.app.policy import policy_of, refused_mode, resumable
from sidelight.app.shell import background_of, shell_tools
from sidelight.app.toolbox import Terms, open_toolbox
from sidelight.context.environment import Environment, opening_reminder
from sidelight.context.system_prompt import build_system_prompt
from sidelight.core.content import Json, ToolUse
from sidelight.core.decision import Mode, PermissionUpdate
from sidelight.core.errors import ToolError
from sidelight.core.events import Notice
from sidelight.core.messages import Attachment, Usage
from sidelight.core.model import SystemPrompt
from sidelight.core.tool import Shell
from sidelight.git.state import git_state
from sidelight.hooks.engine import HookEngine, HookScope, HookSurroundings
from sidelight.hooks.watch import FileRuns
from sidelight.model.catalog import ModelCard
from sidelight.model.demonstration import MODEL as DEMONSTRATION
from sidelight.model.demonstration import DemonstrationModel
from sidelight.model.link import ModelLink
from sidelight.model.prices import cost
from sidelight.permissions.conceal import concealed
from sidelight.permissions.paths import RealDisk
from sidelight.permissions.pipeline import covers
from sidelight.permissions.policy import Policy
from sidelight.permissions.trust import is_trusted
from sidelight.process.login import LoginEnvironment
from sidelight.resources.locate import resource
from sidelight.resources.prompts import PromptLibrary
from sidelight.review.ledger import ReviewLedger
from sidelight.review.store import ReviewStore
from sidelight.session.manager import Seed
from sidelight.session.parts import Parts
from sidelight.session.recorder import Recorder
from sidelight.session.rules import SessionRules
from sidelight.session.session import Session
from sidelight.session.spend import Ceiling
from sidelight.settings.load import LoadedSettings, load
from sidelight.settings.paths import settings_paths, state_folder
from sidelight.settings.save import add_rules
from sidelight.settings.schema import FOLDER_SOURCES, SOURCES, HookEntry, Source
from sidelight.settings.trusted import trusted_folders
from sidelight.settings.watch import LiveSettings
from sidelight.tools.pool import ToolSource
from sidelight.tools.registry import built_in_tools
from sidelight.tools.shell.options import ShellOptions
from sidelight.transcripts.entry import ModeStored, Opened
from sidelight.transcripts.replay import Replay, replay
from sidelight.transcripts.store import Transcript, folder_for

USERS_OWN: tuple[Source, ...] = ("managed", "arguments", "user")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line or the editor asked for; None leaves it to the settings.

    `arguments` are settings in the files' own shape; `trusted` overrides what is stored; `network`
    is the editor's proxy.
    """

    mode: Mode | None = None
    model: str | None = None
    max_steps: int | None = None
    max_budget_usd: float | None = None
    trusted: bool | None = None
    headless: bool = False
    network: Mapping[str, object] = field(default_factory=dict[str, object])
    arguments: Json = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class World:
    """What the sessions of one process share. `choices` may change while the process runs.

    `sources` have tools besides the built-in ones.
    """

    environ: Mapping[str, str]
    home: Path
    state_home: Path
    place: str
    choices: Callable[[], Choices]
    prompts: PromptLibrary
    link: ModelLink
    file_runs: FileRuns = field(default_factory=FileRuns)
    sources: tuple[ToolSource, ...] = ()


def make_world(environ: Mapping[str, str], place: str, choices: Callable[[], Choices]) -> World:
    """The shared parts; reads nothing but our own files. `place` is told to the model.

    `SIDELIGHT_DEMONSTRATION` names a file of prewritten replies that then answer instead of a
    model. Raises OSError or ValueError when that file is broken.
    """
    home = Path(environ.get("HOME") or Path.home())
    state_home = state_folder(environ)
    link = ModelLink(
        environ,
        lambda: user_side(home, environ, choices().arguments, choices().network),
        folder=state_home / "models",
        cwd=str(home),
    )
    replies = environ.get("SIDELIGHT_DEMONSTRATION")
    if replies:
        link.play(DemonstrationModel.load(Path(replies), str(Path.cwd()), pause_s=0.01))
    return World(
        environ=environ,
        home=home,
        state_home=state_home,
        place=place,
        choices=choices,
        prompts=PromptLibrary(resource("prompts")),
        link=link,
    )


def build_session(world: World, seed: Seed) -> Session:
    """One session with all its parts. Blocks: reads settings, opens the transcript.

    Raises TranscriptError when the conversation is open elsewhere, OSError when the state folder
    cannot be written.
    """
    return _Builder(world, seed).build()


class _Builder:
    """Gathers one session's parts; its methods are what the parts call back."""

    def __init__(self, world: World, seed: Seed) -> None:
        self.world, self.id, self.cwd, self.stored = world, seed.session_id, seed.cwd, seed.stored
        self.host, self.sink = seed.host, seed.sink
        self.login = LoginEnvironment(world.environ)
        cwd = seed.cwd
        self.choices = world.choices()
        home = str(world.home)
        self.trusted = self.choices.trusted
        if self.trusted is None:
            known = trusted_folders(world.state_home)
            self.trusted = is_trusted(cwd, known, RealDisk(), home)
        self.live = LiveSettings(
            lambda previous: load(
                cwd,
                home,
                arguments=self.choices.arguments,
                environ=world.environ,
                previous=previous,
            ),
            lambda: settings_paths(cwd, home, world.environ),
        )
        self.loaded = self.live.current()
        self.roles = roles(world.environ, self.choices.model, self.loaded, SOURCES)
        self.policy = self._policy(self.loaded)
        self.shell = Shell(cwd, self.policy.roots)
        self.transcript = Transcript(folder_for(world.state_home, cwd) / f"{self.id}.jsonl")
        if self.stored is not None and self.stored.size != self.transcript.size:
            # Another process wrote to it after it was read and before it was ours.
            self.stored = replay(self.transcript.path)
        self.consent = HookConsent(
            world.state_home,
            cwd,
            trusted=bool(self.trusted),
            for_this_run=self.choices.headless and bool(self.choices.trusted),
        )
        # What hooks export steers every command, so it may not stand where the model writes.
        private = Path(tempfile.mkdtemp(prefix="sidelight-")).resolve()
        self.scratch, self.env_file = private / "scratch", private / "hooks.env"
        self.scratch.mkdir(mode=0o700)
        self.policy = replace(self.policy, scratch=str(self.scratch))
        self.shell.env_files.append(str(self.env_file))

    def build(self) -> Session:
        settings = self.loaded.settings
        self.rules = SessionRules(self.policy, self.shell, self._save, self._problem)
        options = ShellOptions.of(settings, self._environment, self.login.capture)
        shell = shell_tools(options, background := background_of(self.stored))
        self.toolbox = open_toolbox(
            built_in_tools(shell=shell, conceals=self._conceals),
            self.world.sources,
            Terms.of(settings.sidelight, self.policy, self.roles.main, self.world.prompts.tool),
            self._environment(),
        )
        self.tools = self.toolbox.tools
        reviews = ReviewStore(self.world.state_home / "review" / self.id)
        reviewed = reviews.load() if self.stored else {}
        recorder = Recorder(self.transcript, reviews, self._problem)
        hooks = HookEngine(
            self._hooks(),
            self._scope,
            HookSurroundings(self._environment, self._covers, self.world.file_runs),
        )
        self.consent.on_change = lambda: hooks.use(self._hooks())
        stored = self._replay()
        parts = Parts(
            model=self.world.link,
            card=self.world.link.card,
            effort=settings.effort_level,
            tools=self.tools,
            hooks=hooks,
            consent=self.consent,
            rules=self.rules,
            review=ReviewLedger.of(reviewed),
            shell=self.shell,
            background=background,
            scratch=self.scratch,
            opening=self._opening,
            system_for=self._system,
            mode_reminder=self._mode_reminder,
            refresh=partial(self._refresh, hooks),
            notices=(*self._notices(hooks), *reviews.problems),
            price=partial(price, self.world.link.card),
            ceilings=self._ceilings,
            bounds=self._bounds,
        )
        return Session(stored, parts, self.host, self.sink, recorder)

    def _bounds(self, model: str) -> Bounds:
        return bounds_of(
            self.loaded.settings,
            self._environment(),
            model=model,
            max_steps=self.choices.max_steps,
            fallbacks=roles(self.world.environ, model, self.loaded, SOURCES).fallbacks,
            fast_models=self.loaded.settings_of(USERS_OWN).sidelight.fast_models,
        )

    def _ceilings(self) -> tuple[Ceiling, ...]:
        return ceilings_of(self.loaded, self.choices.max_budget_usd)

    def _replay(self) -> Replay:
        if self.stored is not None:
            return self.stored
        model = self.roles.main
        opened = Opened(
            session_id=self.id,
            cwd=self.cwd,
            model=model,
            system=self._system(model),
            tools=self.toolbox.specs,
        )
        self.transcript.append(opened)
        self.transcript.append(ModeStored(mode=self.policy.mode))
        return Replay(opened)

    def _system(self, model: str) -> SystemPrompt:
        facts = Environment(
            self.cwd, self.policy.roots[1:], model, str(self.scratch), self.world.place
        )
        return build_system_prompt(self.world.prompts, facts)

    def _policy(self, loaded: LoadedSettings) -> Policy:
        return policy_of(
            loaded,
            cwd=self.cwd,
            home=str(self.world.home),
            mode=self.choices.mode or resumable(self.stored.mode if self.stored else None),
            trusted=bool(self.trusted),
            headless=self.choices.headless,
        )

    def _sources(self) -> tuple[Source, ...]:
        return tuple(s for s in SOURCES if self.trusted or s not in FOLDER_SOURCES)

    def _hooks(self) -> tuple[HookEntry, ...]:
        return self.consent.may_run(self.loaded.hooks_of(self._sources()))

    def _environment(self) -> Mapping[str, str]:
        return {**self.login.variables, **self.loaded.env_of(self._sources())}

    def _scope(self) -> HookScope:
        return HookScope(
            session_id=self.id,
            transcript_path=str(self.transcript.path),
            cwd=self.shell.cwd,
            permission_mode=self.rules.policy.mode,
            project_dir=self.cwd,
            env_file=str(self.env_file),
            scratch_dir=str(self.scratch),
        )

    def _covers(self, rule: str, tool: str, input: Json) -> bool:
        try:
            prepared = prepare(ToolUse(id="", name=tool, input=input), self.tools, self.shell)
        except ToolError:
            return True  # what cannot be judged must not keep a guard from running
        return covers(rule, tool, input, prepared.accesses, self.rules.policy)

    def _conceals(self, paths: Sequence[str]) -> Mapping[str, str]:
        return concealed(paths, self.rules.policy)

    def _refresh(self, hooks: HookEngine) -> tuple[str, ...]:
        """Take up settings that changed on disk; sentences about what is wrong in them."""
        loaded = self.live.current()
        if loaded is self.loaded:
            return ()
        self.loaded = loaded
        self.policy = replace(self._policy(loaded), scratch=str(self.scratch))
        self.rules.set_policy(self.policy)
        hooks.use(self._hooks())
        return self._notices(hooks)

    def _notices(self, hooks: HookEngine) -> tuple[str, ...]:
        held = [layer.path for layer in self.loaded.layers if layer.source in FOLDER_SOURCES]
        untrusted = (
            f"This folder is not trusted, so hooks, environment and allow rules in "
            f"{', '.join(held)} do not count. `sidelight trust` lets them."
        )
        return (
            *(str(problem) for problem in self.loaded.problems),
            *_unused(self.loaded),
            *refused_mode(self.choices.mode, self.loaded),
            *self.toolbox.notices,
            *unread_variables(self._environment()),
            *(f"{p.source.label}: {p.text}: {p.reason}" for p in self.policy.problems),
            *hooks.notices(),
            *filter(None, (self.consent.notice(),)),
            *([untrusted] if held and not self.trusted else []),
        )

    async def _opening(self) -> Sequence[Attachment]:
        git = await anyio.to_thread.run_sync(git_state, self.cwd) if self.trusted else None
        today = datetime.now().astimezone().date()
        return [opening_reminder(self.world.prompts, today, git)]

    def _mode_reminder(self, old: Mode, new: Mode) -> str | None:
        if new == "plan":
            return self.world.prompts.module("reminders/mode-plan.md")
        if old == "plan":
            return self.world.prompts.module("reminders/mode-plan-ended.md")
        return None

    async def _save(self, update: PermissionUpdate) -> None:
        paths = settings_paths(self.cwd, str(self.world.home), self.world.environ)
        path = paths.of_scope(update.scope)
        await anyio.to_thread.run_sync(
            partial(
                add_rules, path, update.behavior, update.rules, follow_links=update.scope == "user"
            )
        )

    async def _problem(self, text: str) -> None:
        await self.sink(Notice(severity="warning", text=text))


def price(card: Callable[[str], ModelCard], model: str, usage: Usage, on: date) -> float | None:
    """What an answer cost. The prewritten replies of the demonstration cost nothing."""
    return 0.0 if model == DEMONSTRATION else cost(usage, card(model), on)


def _unused(loaded: LoadedSettings) -> tuple[str, ...]:
    """A sentence a file with the keys that this version does nothing with."""
    keys: dict[str, list[str]] = {}
    for each in loaded.ignored:
        keys.setdefault(each.path, []).append(each.message.split(" ", 1)[0])
    return tuple(
        f"{path or 'The given settings'}: not used by this version: {', '.join(names)}"
        for path, names in keys.items()
    )
