"""The settings that this version acts on; whatever else a file holds is kept and reported."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from sidelight.core.decision import Mode

Source = Literal["managed", "arguments", "local", "project", "user"]
SOURCES: tuple[Source, ...] = ("managed", "arguments", "local", "project", "user")
"""Where a setting may come from, the strongest first."""
FOLDER_SOURCES: tuple[Source, ...] = ("local", "project")
"""Those that a folder brings along; they wait for trust."""


class Part(BaseModel):
    """A frozen part of a settings file; unknown keys are accepted."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


def _mode(value: Any) -> Any:
    return "default" if value == "manual" else value


class Permissions(Part):
    """Rules as written, folders that count as workspace, and the mode to start in."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    additional_directories: tuple[str, ...] = ()
    default_mode: Annotated[Mode, BeforeValidator(_mode)] | None = None
    disable_bypass_permissions_mode: Literal["disable"] | None = None


class HookHandler(Part):
    """One thing to run; which fields count depends on `type`. `timeout` is in seconds."""

    type: str
    command: str | None = None
    args: tuple[str, ...] | None = None
    shell: Literal["bash", "powershell"] | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None
    only_if: Annotated[str | None, Field(alias="if")] = None
    in_background: Annotated[bool, Field(alias="async")] = False
    async_rewake: bool = False
    on_failure: Literal["continue", "block"] = "continue"


class HookGroup(Part):
    """Handlers behind one matcher."""

    matcher: str | None = None
    hooks: tuple[HookHandler, ...] = ()


class Limits(Part):
    """Our own numbers; times in milliseconds, sizes in characters.

    `max_budget_usd` is what a conversation may cost before it asks; the lowest one that any source
    sets holds, so that a folder cannot raise it.
    """

    max_steps: Annotated[int, Field(gt=0)] | None = None
    max_budget_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    max_parallel: Annotated[int, Field(gt=0)] = 10
    token_target: Annotated[int, Field(gt=0)] | None = None
    stop_hook_cap: Annotated[int, Field(ge=0)] = 8
    equal_calls_remind: Annotated[int, Field(gt=0)] = 3
    equal_calls_ask: Annotated[int, Field(gt=0)] = 5
    equal_failures_ask: Annotated[int, Field(gt=0)] = 3
    bash_timeout_ms: Annotated[int, Field(gt=0)] = 120_000
    bash_max_timeout_ms: Annotated[int, Field(gt=0)] = 600_000
    bash_output_chars: Annotated[int, Field(ge=4_000, le=128_000)] = 30_000
    model_first_byte_ms: Annotated[int, Field(gt=0, le=86_400_000)] | None = None
    model_silence_ms: Annotated[int, Field(gt=0, le=86_400_000)] | None = None


class Retry(Part):
    """How patiently the model is asked again; times in milliseconds.

    After `quiet_ms` without a sign of the model the person is told. An unattended run waits out
    an outage, however long it lasts.
    """

    first_ms: Annotated[int, Field(ge=0)] = 500
    longest_ms: Annotated[int, Field(ge=0)] = 32_000
    tries: Annotated[int, Field(ge=0)] = 10
    quiet_ms: Annotated[int, Field(gt=0)] = 20_000
    unattended: bool = False


class Own(Part):
    """What only this product has.

    `simple_tools` offers new conversations Bash, Edit and Read only; `tool_search` says when they
    are told the names only of tools from other sources (`tools.pool.deferred`).
    `unsaved_buffers` says what becomes of the user's unsaved text when it is edited: saved along,
    or kept unsaved. The user's own file counts, and the editor's setting of that name before it.
    `api_key_header` says in which header a gateway looks for the key, `fast_models` which models
    are asked in their dearer fast mode; of both only the user's own counts. `login_environment`
    says whether the login shell is asked for variables.
    """

    limits: Limits = Limits()
    retry: Retry = Retry()
    simple_tools: bool = False
    tool_search: str = "auto"
    small_model: str | None = None
    api_key_header: Literal["authorization", "x-api-key"] = "authorization"
    fast_models: tuple[str, ...] = ()
    unsaved_buffers: Literal["save", "keep"] = "save"
    login_environment: bool = True


def _as_text(value: Any) -> Any:
    """Numbers and truth values in `env` mean their text, as in a shell."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


class Settings(Part):
    """All that this version reads from settings files."""

    permissions: Permissions = Permissions()
    hooks: dict[str, tuple[HookGroup, ...]] = {}
    disable_all_hooks: bool | None = None
    allow_managed_hooks_only: bool | None = None
    env: dict[str, Annotated[str, BeforeValidator(_as_text)]] = {}
    model: str | None = None
    fallback_model: tuple[str, ...] = ()
    api_key_helper: str | None = None
    effort_level: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    bash_output_max_chars: int | None = None
    sidelight: Own = Own()


class HookEntry(BaseModel):
    """A handler with where it comes from; trust and diagnostics need that."""

    model_config = ConfigDict(frozen=True)

    event: str
    matcher: str | None
    handler: HookHandler
    source: Source
    path: str


class Problem(BaseModel):
    """Something in a settings file that does not count, in a sentence for the user."""

    model_config = ConfigDict(frozen=True)

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}"
