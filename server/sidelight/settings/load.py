"""Reading the settings files: what is wrong is said, and the rest still counts."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from sidelight.core.content import Json
from sidelight.settings.clean import as_settings, clean, unknown_keys
from sidelight.settings.merge import merge
from sidelight.settings.paths import SettingsPaths, settings_paths
from sidelight.settings.schema import HookEntry, Problem, Settings, Source


@dataclass(frozen=True, slots=True)
class Layer:
    """One file (or the arguments, with an empty path), without its faulty entries.

    `data` is what the file says, unknown keys included; `settings` is the known part of it.
    """

    source: Source
    path: str
    data: Json
    settings: Settings


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """All layers joined, with the layers themselves, the strongest first.

    `problems` are to be shown; `ignored` are keys that this version does nothing with.
    """

    settings: Settings
    layers: tuple[Layer, ...] = ()
    problems: tuple[Problem, ...] = ()
    ignored: tuple[Problem, ...] = ()

    def hooks_of(self, sources: Collection[Source]) -> tuple[HookEntry, ...]:
        """The hooks of these sources that may run; the others are held back altogether.

        A source that is held back cannot switch other hooks off either; managed hooks are
        switched off by managed settings only.
        """
        layers = [layer for layer in self.layers if layer.source in sources]
        managed = [layer for layer in layers if layer.source == "managed"]
        if _disabled(managed):
            return ()
        only_managed = any(layer.settings.allow_managed_hooks_only for layer in managed)
        if only_managed or _disabled(layers):
            layers = managed
        return tuple(entry for layer in layers for entry in _entries(layer))

    def env_of(self, sources: Collection[Source]) -> dict[str, str]:
        """The environment variables that these sources set."""
        env: dict[str, str] = {}
        for layer in reversed(self.layers):
            if layer.source in sources:
                env.update(layer.settings.env)
        return env

    def settings_of(self, sources: Collection[Source]) -> Settings:
        """What these sources alone say, joined."""
        return as_settings(merge([it.data for it in self.layers if it.source in sources]))


def load(
    cwd: str,
    home: str,
    *,
    arguments: Json | None = None,
    managed: str | None = None,
    environ: Mapping[str, str] | None = None,
    previous: LoadedSettings | None = None,
) -> LoadedSettings:
    """Read all settings for a start folder; never raises, faults become problems.

    A file that cannot be read as JSON counts as it was in `previous`, so that a half-typed edit
    does not loosen anything. Reads files; blocking.
    """
    paths = settings_paths(cwd, home, os.environ if environ is None else environ, managed)
    layers: list[Layer] = []
    problems: list[Problem] = []
    ignored: list[Problem] = []
    for source, path in _in_order(paths):
        raw = (arguments or {}) if source == "arguments" else _read(path, problems)
        if raw is None:
            layers.extend(_as_before(previous, path))
            continue
        data, settings = clean(raw, source, path, problems)
        if data:
            ignored.extend(unknown_keys(data, path))
            layers.append(Layer(source, path, data, settings))
    joined = merge([layer.data for layer in layers])
    return LoadedSettings(as_settings(joined), tuple(layers), tuple(problems), tuple(ignored))


def parse(text: str, path: str, problems: list[Problem]) -> Json | None:
    """A settings file's text as an object; None, with the problem added, if it is none."""
    try:
        return _object(json.loads(text, object_pairs_hook=_Pairs), path, problems)
    except json.JSONDecodeError as error:
        message = f"this is not JSON, the whole file is ignored: {error.msg}, column {error.colno}"
        problems.append(Problem(path=path, message=message, line=error.lineno))
    except RecursionError:
        problems.append(Problem(path=path, message="nested too deeply, the whole file is ignored"))
    return None


class _Pairs(list[tuple[str, Any]]):
    """An object's members as they stand, so that repeated names can be seen."""


def _object(value: Any, path: str, problems: list[Problem]) -> Json | None:
    if isinstance(value, _Pairs):
        return _plain(value, path, problems)
    message = "the file must hold one JSON object; the whole file is ignored"
    problems.append(Problem(path=path, message=message, line=1))
    return None


def _plain(value: Any, path: str, problems: list[Problem]) -> Any:
    if isinstance(value, _Pairs):
        result: Json = {}
        for name, member in value:
            if name in result:
                message = f'"{name}" stands twice in one object; only the last one counts'
                problems.append(Problem(path=path, message=message))
            result[name] = _plain(member, path, problems)
        return result
    if isinstance(value, list):
        return [_plain(item, path, problems) for item in cast("list[Any]", value)]
    return value


def _read(path: str, problems: list[Problem]) -> Json | None:
    """The file's object; {} if there is no file, None if it cannot be used."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError:
        problems.append(
            Problem(path=path, message="this is not UTF-8 text, the whole file is ignored")
        )
        return None
    except OSError as error:
        problems.append(Problem(path=path, message=f"cannot be read: {error.strerror}"))
        return None
    return parse(text, path, problems) if text.strip() else {}


def _as_before(previous: LoadedSettings | None, path: str) -> Iterator[Layer]:
    if previous is not None:
        yield from (layer for layer in previous.layers if layer.path == path)


def _in_order(paths: SettingsPaths) -> Iterator[tuple[Source, str]]:
    for path in paths.managed:
        yield "managed", path
    yield "arguments", ""
    for path in paths.local:
        yield "local", path
    # In the home folder the project's file is the user's own: it waits for no trust.
    if paths.project != paths.user:
        yield "project", paths.project
    yield "user", paths.user


def _entries(layer: Layer) -> Iterator[HookEntry]:
    for event, groups in layer.settings.hooks.items():
        for group in groups:
            for handler in group.hooks:
                yield HookEntry(
                    event=event,
                    matcher=group.matcher,
                    handler=handler,
                    source=layer.source,
                    path=layer.path,
                )


def _disabled(layers: Sequence[Layer]) -> bool:
    """Whether the strongest layer that speaks of it switches hooks off."""
    said = (layer.settings.disable_all_hooks for layer in layers)
    return next((value for value in said if value is not None), False)
