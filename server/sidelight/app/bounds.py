"""The bounds of a turn and of what may be spent, from the settings and the environment."""

from collections.abc import Mapping, Sequence

from sidelight.agent.limits import RepeatLimits
from sidelight.agent.turn import Bounds
from sidelight.model.catalog import model_id
from sidelight.model.retry import Backoff
from sidelight.session.spend import Ceiling
from sidelight.settings.load import LoadedSettings
from sidelight.settings.schema import Settings

DEFAULT_STEPS = 200
PARALLEL = "CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY"
STOP_CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


def bounds_of(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    model: str,
    max_steps: int | None,
    fallbacks: Sequence[str] = (),
    fast_models: Sequence[str] = (),
) -> Bounds:
    """What holds for the next turn of a session with `model`; a variable beats its setting.

    `fallbacks` are the models that stand in for it, `fast_models` those that the user wants in
    fast mode.
    """
    limits, retry = settings.sidelight.limits, settings.sidelight.retry
    return Bounds(
        max_steps=max_steps or limits.max_steps or DEFAULT_STEPS,
        max_parallel=_number(environ, PARALLEL, least=1) or limits.max_parallel,
        token_target=limits.token_target,
        quiet_s=retry.quiet_ms / 1000,
        stop_hook_cap=_stop_cap(environ, limits.stop_hook_cap),
        repeats=RepeatLimits(
            limits.equal_calls_remind, limits.equal_calls_ask, limits.equal_failures_ask
        ),
        backoff=Backoff(
            first_s=retry.first_ms / 1000,
            longest_s=retry.longest_ms / 1000,
            tries=retry.tries,
            unattended=retry.unattended,
        ),
        fallbacks=tuple(fallbacks),
        fast=model_id(model) in map(model_id, fast_models),
    )


def ceilings_of(loaded: LoadedSettings, run_usd: float | None) -> tuple[Ceiling, ...]:
    """What may be spent: the lowest of the settings, and what the command line grants a run."""
    limits = (layer.settings.sidelight.limits for layer in loaded.layers)
    set_usd = [limit.max_budget_usd for limit in limits if limit.max_budget_usd is not None]
    ceilings = [Ceiling("conversation", min(set_usd))] if set_usd else []
    if run_usd is not None:
        ceilings.append(Ceiling("run", run_usd))
    return tuple(ceilings)


def unread_variables(environ: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each variable whose value is no number and so does not count."""
    wrong = [
        name
        for name, least in ((PARALLEL, 1), (STOP_CAP, 0))
        if environ.get(name) and _number(environ, name, least=least) is None
    ]
    return tuple(
        f"{name}={environ[name]} is no number that counts; it is ignored." for name in wrong
    )


def _stop_cap(environ: Mapping[str, str], setting: int) -> int:
    given = _number(environ, STOP_CAP, least=0)
    return setting if given is None else given


def _number(environ: Mapping[str, str], name: str, *, least: int) -> int | None:
    text = environ.get(name, "").strip()
    return int(text) if text.isdecimal() and int(text) >= least else None
