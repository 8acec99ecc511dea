"""What the settings say of the model: which one, in which role, and how it is reached."""

from collections.abc import Collection, Mapping
from pathlib import Path

from sidelight.core.content import Json
from sidelight.model.link import UserSide
from sidelight.model.provider import joined
from sidelight.model.roles import Roles, roles_of
from sidelight.settings.load import LoadedSettings, load
from sidelight.settings.schema import Settings, Source

USERS_OWN: tuple[Source, ...] = ("managed", "arguments", "user")


def user_side(
    home: Path, environ: Mapping[str, str], arguments: Json, network: Mapping[str, object]
) -> UserSide:
    """What the user's own settings say of the model and the way to it. Blocks: reads files.

    A folder's settings are left out whole: they could send the user's key where they want.
    """
    settings = users_own(home, environ, arguments)
    own = settings.sidelight
    return UserSide(
        env=settings.env,
        key_helper=settings.api_key_helper or "",
        key_header=own.api_key_header,
        first_byte_ms=own.limits.model_first_byte_ms,
        silence_ms=own.limits.model_silence_ms,
        editor=network,
    )


def users_own(home: Path, environ: Mapping[str, str], arguments: Json | None = None) -> Settings:
    """The settings without any folder's part. Blocks: reads files."""
    loaded = load(str(home), str(home), arguments=arguments, environ=environ)
    return loaded.settings_of(USERS_OWN)


def roles(
    environ: Mapping[str, str],
    chosen: str | None,
    loaded: LoadedSettings,
    sources: Collection[Source] = USERS_OWN,
) -> Roles:
    """Who answers: variables are the user's own, settings those of `sources`."""
    settings = loaded.settings_of(sources)
    return roles_of(
        joined(environ, loaded.env_of(USERS_OWN)),
        chosen=chosen,
        setting=settings.model,
        small=settings.sidelight.small_model,
        fallbacks=settings.fallback_model,
    )


def main_roles(home: Path, environ: Mapping[str, str], chosen: str | None) -> Roles:
    """The models that a new session outside of any folder would ask. Blocks: reads files."""
    return roles(environ, chosen, load(str(home), str(home), environ=environ))
