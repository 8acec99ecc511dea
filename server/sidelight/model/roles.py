"""Which model has which role: the main one, a small one for side work, and those to fall back on.

Names stay as the user wrote them; the provider turns them into ids (`Provider.card`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sidelight.model.catalog import DEFAULT_MODEL, model_id

MOST_FALLBACKS = 3
SMALL = "haiku"


@dataclass(frozen=True, slots=True)
class Roles:
    """Names or ids of models; `fallbacks` in the order in which they are tried, without `main`."""

    main: str
    small: str
    fallbacks: tuple[str, ...] = ()


def roles_of(
    env: Mapping[str, str],
    *,
    chosen: str | None = None,
    setting: str | None = None,
    small: str | None = None,
    fallbacks: Sequence[str] = (),
) -> Roles:
    """The roles for a new session.

    `chosen` is what the command line or the editor says, it goes before ANTHROPIC_MODEL, and that
    before `setting`; ANTHROPIC_DEFAULT_MODEL counts only where no setting names a model. In
    `fallbacks` the word `default` stands for the default model; three count.
    """
    default = _value(env, "ANTHROPIC_DEFAULT_MODEL") or DEFAULT_MODEL
    main = (chosen or "").strip() or _value(env, "ANTHROPIC_MODEL") or (setting or "").strip()
    main = default if main in {"", "default"} else main
    others: dict[str, str] = {}
    for given in fallbacks:
        name = default if given.strip() == "default" else given.strip()
        if name and model_id(name) != model_id(main):
            others.setdefault(model_id(name), name)
    return Roles(
        main=main,
        small=_value(env, "ANTHROPIC_SMALL_FAST_MODEL") or (small or "").strip() or SMALL,
        fallbacks=tuple(others.values())[:MOST_FALLBACKS],
    )


def _value(env: Mapping[str, str], name: str) -> str:
    return env.get(name, "").strip()
