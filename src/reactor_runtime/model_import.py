"""From ``module:Class`` to the class, as every process of a model does it.

The manifest's folder goes on ``sys.path`` behind the standard library and before installed
packages: sibling modules are found, and a file named like a standard module cannot break Python
in one process and not in the other; the clash is reported instead.
"""

import difflib
import importlib
import keyword
import re
import sys
import sysconfig
import traceback
from pathlib import Path
from threading import current_thread, main_thread
from types import ModuleType
from typing import Any

from reactor_runtime.author_text import text_of
from reactor_runtime.errors import ModelImportError
from reactor_runtime.log import get_logger

log = get_logger(__name__)

_NAME = r"[^\W\d]\w*"
_REF = re.compile(rf"({_NAME}(?:\.{_NAME})*):({_NAME}(?:\.{_NAME})*)")
_SHOWN = 8  # names that an error lists
# What may not be loaded yet when a model's folder comes to stand before it on the path.
_LOADED_LATER = frozenset(
    {"OpenSSL", "aioice", "aiortc", "av", "cryptography", "dns", "google", "h11", "idna", "ifaddr"}
    | {"prometheus_client", "pydantic", "pyee", "pylibsrtp", "starlette", "structlog", "uvicorn"}
)


def parse_model_ref(ref: str) -> tuple[str, str]:
    """Return module and class of ``module:Class``.

    Raises:
        ValueError: It has another form.
    """
    match = _REF.fullmatch(ref.strip())
    if match is None or any(keyword.iskeyword(part) for part in re.split(r"[.:]", match[0])):
        raise ValueError("not module:Class")
    if match[1].endswith(".py"):
        raise ValueError("a file, not a module")
    return match[1], match[2]


def import_model_class(ref: str, folder: str | Path | None = None) -> type[Any]:
    """Import the model class *ref* names.

    Args:
        ref: ``module:Class``; the module may be in a package.
        folder: Where sibling modules lie; the current folder unless given. It stays on
            ``sys.path``, because authors import lazily too.

    Raises:
        ModelImportError: It names what was tried, the author's line, and what to do.
    """
    try:
        module_name, class_name = parse_model_ref(ref)
    except ValueError:
        raise ModelImportError(ref, "the reference has another form", None, _form_of(ref)) from None
    home = Path(folder if folder is not None else Path.cwd()).absolute()
    _check_needed(ref, home)
    _put_on_path(home)
    hidden = hidden_by_standard_library(home)
    if hidden:
        log.warning("module_hidden_by_standard_library", modules=hidden, folder=str(home))
    _forget_namesakes(home)
    module = _import(ref, module_name, home, hidden)
    return _class_of(ref, module, class_name, home)


def _check_needed(ref: str, folder: Path) -> None:
    """Refuse a module that would be found instead of a package the runtime loads later."""
    if str(folder).startswith(tuple(sysconfig.get_path(name) for name in ("purelib", "platlib"))):
        return  # it is those packages
    for name in _modules_in(folder):
        if name in _LOADED_LATER and name not in sys.modules:
            entry = _entry(folder, name)
            reason = f"{entry} would hide the package {name!r}, which the runtime needs"
            raise ModelImportError(ref, reason, None, f"rename {entry}")


def hidden_by_standard_library(folder: Path) -> list[str]:
    """Return the modules in *folder* that Python's own of the same name hide."""
    return sorted(name for name in _modules_in(folder) if name in sys.stdlib_module_names)


def _form_of(ref: str) -> str:
    text = ref.strip()
    if "/" in text or text.endswith(".py") or ".py:" in text:
        return "wanted module:Class, a module's name and not its path"
    if ":" not in text and "." in text:
        module, _, name = text.rpartition(".")
        return f"wanted module:Class; did you mean {module}:{name}?"
    return "wanted module:Class, such as model:MyModel"


def _modules_in(folder: Path) -> list[str]:
    """Return the top-level modules and packages that lie in *folder*."""
    try:
        entries = list(folder.iterdir())
    except OSError:
        return []
    files = [entry.stem for entry in entries if entry.suffix == ".py" and entry.is_file()]
    packages = [entry.name for entry in entries if (entry / "__init__.py").is_file()]
    return sorted({name for name in (*files, *packages) if name.isidentifier()})


def _put_on_path(folder: Path) -> None:
    """Put *folder* right behind the standard library, once."""
    text = str(folder)
    while text in sys.path:
        sys.path.remove(text)
    standard = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    own = [
        index
        for index, entry in enumerate(sys.path)
        if entry in standard or entry.endswith("lib-dynload")
    ]
    sys.path.insert(max(own, default=-1) + 1, text)
    importlib.invalidate_caches()


def _forget_namesakes(folder: Path) -> None:
    """Forget loaded modules that *folder* has too but that came from another model's folder."""
    elsewhere = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
    for name in _modules_in(folder):
        loaded = sys.modules.get(name)
        file = getattr(loaded, "__file__", None)
        if name in sys.stdlib_module_names or name == "__main__" or not isinstance(file, str):
            continue
        if Path(file).is_relative_to(folder) or file.startswith(elsewhere):
            continue
        for other in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
            del sys.modules[other]


def _import(ref: str, name: str, folder: Path, hidden: list[str]) -> ModuleType:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise _not_found(ref, error.name, folder) from error
        raise _raised(ref, error, folder, hidden) from error
    except BaseException as error:  # author code: it may raise anything, SystemExit included
        if isinstance(error, KeyboardInterrupt) and current_thread() is main_thread():
            raise  # a person's
        raise _raised(ref, error, folder, hidden) from error
    top = name.partition(".")[0]
    if top in hidden:
        advice = f"Python has a module of that name: rename {_entry(folder, top)}"
        raise ModelImportError(ref, f"{_entry(folder, top)} is never loaded", None, advice)
    return module


def _entry(folder: Path, module: str) -> str:
    return f"{module}.py" if (folder / f"{module}.py").is_file() else f"{module}/"


def _not_found(ref: str, missing: str, folder: Path) -> ModelImportError:
    """The module itself is missing: say where it was looked for and what is there."""
    parent, _, last = missing.rpartition(".")
    place = folder.joinpath(*parent.split(".")) if parent else folder
    present = _modules_in(place)
    close = difflib.get_close_matches(last, present, n=1, cutoff=0.6)
    if close:
        advice = f"did you mean {f'{parent}.' if parent else ''}{close[0]}?"
    elif present:
        advice = f"there is {', '.join(present[:_SHOWN])}"
    else:
        advice = "there is no Python module in that folder"
    if (folder / f"{missing.rpartition('.')[0] or missing}.py").is_file() and parent:
        advice = f"{parent} is a module, not a package"
    reason = f"no module {missing!r} in {place} nor among the installed packages"
    return ModelImportError(ref, reason, None, advice)


def _raised(ref: str, error: BaseException, folder: Path, hidden: list[str]) -> ModelImportError:
    """The author's module raised while it was imported: say where and what."""
    reason = f"{type(error).__name__}: {_first_line(error)}"
    place = _place_of(error, folder)
    advice = ""
    if isinstance(error, SystemExit):
        reason = f"the module ends the process (exit status {error.code})"
        advice = "put what runs as a script under `if __name__ == '__main__':`"
    elif isinstance(error, ModuleNotFoundError) and error.name:
        advice = f"install it, or put {error.name.partition('.')[0]}.py beside the manifest"
    elif isinstance(error, ImportError) and "relative import" in str(error):
        advice = "keep the manifest above the package and write import: package.module:Class"
    clash = [name for name in hidden if name in reason or name in str(place)]
    if clash:
        entry = _entry(folder, clash[0])
        advice = f"Python's own module {clash[0]!r} hides {entry}: rename {entry}"
    return ModelImportError(ref, reason, place, advice)


def _first_line(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg or "invalid syntax"
    lines = text_of(error).strip().splitlines()
    return lines[0] if lines else "no message"


def _place_of(error: BaseException, folder: Path) -> str | None:
    """Return file and line of the innermost frame in *folder*."""
    if isinstance(error, SyntaxError) and error.filename:
        return _shown(Path(error.filename), error.lineno, folder)
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        file = Path(frame.filename)
        if file.is_relative_to(folder) and "site-packages" not in file.parts:
            return _shown(file, frame.lineno, folder)
    return None


def _shown(file: Path, line: int | None, folder: Path) -> str:
    name = file.relative_to(folder) if file.is_relative_to(folder) else file
    return f"{name}, line {line}" if line else str(name)


def _class_of(ref: str, module: ModuleType, class_name: str, folder: Path) -> type[Any]:
    found: Any = module
    for part in class_name.split("."):
        if not hasattr(found, part):
            models = sorted(name for name, value in vars(module).items() if _is_model(value))
            close = difflib.get_close_matches(class_name, models, n=1, cutoff=0.6)
            there = f"there is {', '.join(models[:_SHOWN])}" if models else "it has no model class"
            advice = f"did you mean {module.__name__}:{close[0]}?" if close else there
            file = getattr(module, "__file__", None) or module.__name__
            place = _shown(Path(file), None, folder)
            raise ModelImportError(ref, f"no class {class_name!r}", place, advice)
        found = getattr(found, part)
    if not isinstance(found, type):
        reason = f"{class_name} is no class but of type {type(found).__name__}"
        raise ModelImportError(ref, reason, None, "wanted a subclass of ReactorModel")
    if not _is_model(found):
        advice = "wanted a subclass of ReactorModel, ReactorApp or ReactorPipeline"
        raise ModelImportError(ref, f"{class_name} is no ReactorModel", None, advice)
    return found


def _is_model(value: object) -> bool:
    """Tell an author's model class by name: the model layer is above this one."""
    ours = "reactor_runtime.model"
    return (
        isinstance(value, type)
        and not value.__module__.startswith(ours)
        and any(
            b.__name__ == "ReactorModel" and b.__module__.startswith(ours) for b in value.__mro__
        )
    )
