"""Loads the provider's SDK for a third of its usual price.

`import anthropic` costs 0.8 s of CPU, for it executes 1,950 modules of types of interfaces that
this product never calls: the `__init__` files of its packages import every name they offer. The
names are real and stay so: nothing is stubbed or left out. While the finder below stands in
`sys.meta_path`, the `__init__` of a package of the SDK runs with imports of its own submodules put
off; each name is then loaded at its first use (PEP 562). A package whose `__init__` does more with
such a name than pass it on is run again the plain way, and if anything at all goes wrong the SDK is
imported as it always was, only slower.
"""

import builtins
import gc
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import resolve_name
from threading import Lock
from types import ModuleType, SimpleNamespace
from typing import Any

import anyio.to_thread

NAME = "anthropic"

_lock = Lock()


def load() -> ModuleType:
    """The module `anthropic`, imported at the first call. Blocks for about 0.3 s of CPU."""
    with _lock:
        if NAME in sys.modules:
            return sys.modules[NAME]
        finder = DeferringFinder()
        sys.meta_path.insert(0, finder)
        try:
            module = _checked(importlib.import_module(NAME))
        except Exception:
            sys.meta_path.remove(finder)
            for name in [n for n in sys.modules if n == NAME or n.startswith(f"{NAME}.")]:
                del sys.modules[name]
            module = importlib.import_module(NAME)
        # The collector need not walk through what stays for ever: that stops the loop for 30 ms.
        gc.freeze()
        return module


async def warm() -> ModuleType:
    """`load()` in a worker thread; a cancelled caller leaves the thread to finish."""
    if NAME in sys.modules and not _lock.locked():
        return load()
    return await anyio.to_thread.run_sync(load, abandon_on_cancel=True)


def forget_aws_sessions() -> None:
    """Let the SDK read Amazon's credentials anew: it keeps them for the life of the process."""
    signing = sys.modules.get(f"{NAME}.lib.aws._auth")
    forget = getattr(getattr(signing, "_get_session", None), "cache_clear", None)
    if forget is not None:
        forget()


def _checked(module: ModuleType) -> ModuleType:
    """The module, after touching what we use, so that a defect shows here and not in a turn."""
    for name in ("AsyncAnthropic", "AsyncStream", "APIStatusError", "DefaultAsyncHttpxClient"):
        getattr(module, name)
    return module


class DeferringFinder(MetaPathFinder):
    """Finds the SDK's packages, and gives those with an `__init__` file the deferring loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the SDK; None for all others."""
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.submodule_search_locations is None:
            return spec
        if type(spec.loader) is SourceFileLoader:
            spec.loader = DeferringLoader(fullname, spec.loader.path)
        return spec


@dataclass(frozen=True, slots=True)
class Deferred:
    """A name that an `__init__` imported, not loaded yet."""

    module: str
    name: str

    def load(self) -> Any:
        """The real thing."""
        module = importlib.import_module(self.module)
        if hasattr(module, self.name):
            return getattr(module, self.name)
        return importlib.import_module(f"{self.module}.{self.name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """An `__init__` may call what it imported: loads it."""
        return self.load()(*args, **kwargs)


class Source:
    """Stands for a submodule in `from .submodule import name`."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Deferred:
        return Deferred(self._module, name)


class DeferringLoader(SourceFileLoader):
    """Runs a package's `__init__` with the imports of its own submodules put off."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module; plainly when its `__init__` cannot do with deferred names."""
        code = self.get_code(module.__name__)
        assert code is not None
        before = dict(vars(module))
        imports = DeferringImport(module.__name__)
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": imports}
        try:
            exec(code, vars(module))
        except Exception:
            vars(module).clear()
            vars(module).update(before)
            exec(code, vars(module))
            return
        finally:
            imports.over = True
        vars(module)["__builtins__"] = builtins
        names = {name: it for name, it in vars(module).items() if isinstance(it, Deferred)}
        for name in names:
            delattr(module, name)
        vars(module)["__getattr__"] = _getter(module, names, tuple(imports.starred))


class DeferringImport:
    """`__import__` for one `__init__`; the usual one once `over`."""

    def __init__(self, package: str) -> None:
        self._package = package
        self.starred: list[str] = []
        self.over = False

    def __call__(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """Defer `from .submodule import ...`; import the rest."""
        names = fromlist or ()
        dunder = any(each.startswith("__") for each in names)
        if self.over or level == 0 or not names or dunder:
            return builtins.__import__(name, globals, locals, names, level)
        target = resolve_name("." * level + name, self._package)
        if not target.startswith(f"{self._package}."):
            return builtins.__import__(name, globals, locals, names, level)
        if tuple(names) == ("*",):
            self.starred.append(target)
            return SimpleNamespace(__all__=())
        return Source(target)


def _getter(module: ModuleType, names: dict[str, Deferred], starred: tuple[str, ...]) -> Any:
    """The `__getattr__` of a deferred package."""

    def get(name: str) -> Any:
        deferred = names.get(name)
        value = deferred.load() if deferred else _implied(module, name, starred)
        setattr(module, name, value)
        return value

    return get


def _implied(module: ModuleType, name: str, starred: tuple[str, ...]) -> Any:
    """What a plain import leaves in a package besides its named exports.

    These are the submodules that it loaded on its way, and the names of `import *`.
    """
    if not name.startswith("__"):
        submodule = f"{module.__name__}.{name}"
        if PathFinder.find_spec(submodule, module.__path__) is not None:
            return importlib.import_module(submodule)
        for source in map(importlib.import_module, starred):
            if hasattr(source, name):
                return getattr(source, name)
    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
