"""Loading a model: construct, ``load``, ``warmup``, each named when it fails."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard

from reactor_runtime.author_text import text_of
from reactor_runtime.errors import ModelLoadError
from reactor_runtime.host.author_loop import AuthorLoop
from reactor_runtime.host.failures import authors_line
from reactor_runtime.model.outlet import Outlet
from reactor_runtime.model.pace import class_buffer_frames, class_fps
from reactor_runtime.model.reactor_model import ReactorModel, attach
from reactor_runtime.world import World

_MAPPINGS = {"dict", "Dict", "Mapping", "MutableMapping"}


def load_model(
    model_class: type[ReactorModel],
    loop: AuthorLoop,
    *,
    outlet: Outlet,
    world: World,
    config_path: Path | None,
) -> ReactorModel:
    """Return a model that is ready: constructed, told its place, loaded and warmed up.

    Args:
        model_class: The author's class.
        loop: Runs what is asynchronous; while ``load`` itself runs, no loop does.
        outlet: Where the model's emissions and messages go.
        world: Its place among the ranks.
        config_path: What the manifest names.

    Raises:
        ModelLoadError: The author's code raised, or the class pins an impossible pace.
    """
    where = f"{model_class.__module__}:{model_class.__qualname__}"
    model: ReactorModel = _phase(loop, where, "construct", model_class)
    attach(model, outlet, world)
    _phase(loop, where, "load", lambda: _load(model, config_path))
    if _is_warmup(warmup := getattr(model, "warmup", None)):
        _phase(loop, where, "warmup", warmup)
    _phase(loop, where, "load", lambda: _check_pace(model_class))
    return model


def _phase(loop: AuthorLoop, where: str, phase: str, function: Callable[[], Any]) -> Any:
    result, error = loop.attempt(function)
    if error is not None:
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        reason = f"{type(error).__name__}: {text_of(error)}{notes}{authors_line(error)}"
        raise ModelLoadError(where, phase, reason) from error
    return result


def _check_pace(model_class: type[ReactorModel]) -> None:
    class_fps(model_class)
    class_buffer_frames(model_class)


def _load(model: ReactorModel, config_path: Path | None) -> Any:
    parameters = list(inspect.signature(model.load).parameters.values())
    if not parameters:
        return model.load()  # type: ignore[call-arg]
    if _wants_contents(parameters[0]):
        return model.load(_contents(config_path))  # type: ignore[arg-type]
    return model.load(config_path)


def _wants_contents(parameter: inspect.Parameter) -> bool:
    """Whether ``load`` has the older form that takes the parsed configuration."""
    annotation = parameter.annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    words = set(re.findall(r"\w+", text))
    return "Path" not in words and (parameter.name == "config" or bool(words & _MAPPINGS))


def _contents(config_path: Path | None) -> dict[str, Any]:
    if config_path is None:
        return {}
    import yaml

    found = yaml.safe_load(config_path.read_text(encoding="utf-8"))
    if not isinstance(found, dict | None):
        raise TypeError(f"{config_path.name} holds a {type(found).__name__}; wanted a mapping")
    return found or {}


def _is_warmup(function: Any) -> TypeGuard[Callable[[], Any]]:
    """Whether ``warmup`` is ours to call: an author's own may take arguments."""
    if not callable(function):
        return False
    required = inspect.Parameter.empty
    variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    parameters = inspect.signature(function).parameters.values()
    return all(p.default is not required or p.kind in variadic for p in parameters)
