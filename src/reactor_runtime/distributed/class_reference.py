"""ClassReference: how a rank finds the worker's class without copying code.

A class travels by name. It is imported in the rank as any module imports it; a module that the
parent loaded from a file no import path leads to is loaded from that file. The parent's script is
never run again as a script: only a class that lives in it makes a rank load it, by path.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from reactor_runtime.distributed.parcel import MAIN_ALIAS
from reactor_runtime.errors import WorkerGroupRefusedError

_AT_MODULE_LEVEL = "define it at the top level of a module"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassReference:
    """Where a class is found.

    Attributes:
        module: The module's name; ``__reactor_main__`` for the parent's script.
        name: The class, dotted when it lies in another class.
        file: The file to load the module from; ``None`` when importing its name leads there.
    """

    module: str
    name: str
    file: str | None = None

    def load(self) -> type[Any]:
        """Import the class, in a rank.

        Raises:
            WorkerGroupRefusedError: The module has no such class here.
        """
        module = (
            _load(self.module, self.file) if self.file else importlib.import_module(self.module)
        )
        found = _find(module, self.name)
        if found is None:
            what = f"{self.module} has no class {self.name} when a rank imports it"
            raise WorkerGroupRefusedError(what, _AT_MODULE_LEVEL)
        return found  # type: ignore[no-any-return]


def refer_to(worker: type[Any]) -> ClassReference:
    """Return how a rank will find *worker*.

    Raises:
        WorkerGroupRefusedError: It cannot: the class lives in a function, was made by ``exec``, or
            stands in an interactive session.
    """
    name, module_name = worker.__qualname__, worker.__module__
    if "<locals>" in name:
        what = f"the worker class {worker.__name__} is defined inside a function"
        raise WorkerGroupRefusedError(what, f"{_AT_MODULE_LEVEL}, where ranks can import it")
    module = sys.modules.get(module_name)
    if module is None or _find(module, name) is not worker:
        what = f"the worker class {name} is not what {module_name}.{name} is in its module"
        raise WorkerGroupRefusedError(what, f"{_AT_MODULE_LEVEL}, not with exec or by hand")
    if module_name == "__main__":
        return _in_main(module, name)
    file = getattr(module, "__file__", None)
    return ClassReference(
        module=module_name,
        name=name,
        file=None if _is_importable(module_name, file) else os.path.abspath(file or ""),
    )


def _in_main(main: ModuleType, name: str) -> ClassReference:
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name not in ("__main__", None):
        return ClassReference(module=spec.name, name=name)
    file = getattr(main, "__file__", None)
    if file is None or not Path(file).is_file():
        what = f"the worker class {name} lives in an interactive session"
        raise WorkerGroupRefusedError(what, "put it in a file that ranks can import")
    return ClassReference(module=MAIN_ALIAS, name=name, file=str(Path(file).absolute()))


def _find(module: ModuleType, name: str) -> Any:
    """Return what *module* calls *name*, dotted perhaps; ``None`` where there is no such thing."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_importable(name: str, file: str | None) -> bool:
    """Whether importing *name* on the parent's path leads to *file*."""
    if file is None:
        return True
    places: Sequence[str] | None = None
    spec = None
    for step in [*_parents(name), name]:
        spec = PathFinder.find_spec(step, places)
        if spec is None:
            return False
        places = spec.submodule_search_locations
    return spec is not None and spec.origin is not None and _is_same(spec.origin, file)


def _is_same(one: str, other: str) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


def _load(name: str, file: str) -> ModuleType:
    """Load a module from its file under its name, its packages as far as there are any."""
    folder = Path(file).parent
    for parent in reversed(_parents(name)):
        _provide_package(parent, folder)
        folder = folder.parent
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise WorkerGroupRefusedError(f"{file} is no Python module", _AT_MODULE_LEVEL)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if name == MAIN_ALIAS:
        sys.modules["__main__"] = module
    spec.loader.exec_module(module)
    return module


def _provide_package(name: str, folder: Path) -> None:
    """Make sure that relative imports from *folder* find the package called *name*."""
    try:
        importlib.import_module(name)
    except ImportError:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package


def _parents(name: str) -> list[str]:
    """Return the packages above *name*, outermost first."""
    steps = name.split(".")
    return [".".join(steps[:count]) for count in range(1, len(steps))]
