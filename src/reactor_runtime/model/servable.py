"""Whether a model class can be served, and what in it is probably not what its author meant.

``class_rules`` looks at every class while it is defined; an unfinished one may be a base of others.
Here it is the one that is to be served, and complete.
"""

import difflib
import inspect
from collections.abc import Iterator
from enum import Enum
from typing import Any

from reactor_runtime.model.annotations import all_annotations, is_authors
from reactor_runtime.model.contract import state_class
from reactor_runtime.model.events import HookKind, is_marked
from reactor_runtime.model.lifecycle import read_lifecycle
from reactor_runtime.model.mentions import mentioned
from reactor_runtime.model.output import Output
from reactor_runtime.model.pipeline import ReactorPipeline, check_state
from reactor_runtime.model.tracks import Audio, Video

_NEAR = 0.75
_OVERRIDDEN = (
    "load", "warmup", "process_input", "generate", "process_output", "inference", "lockstep_digest",
)  # fmt: skip
_VALUES = (bool, int, float, str, list, tuple, dict, set, Enum)


def check_servable(cls: type) -> None:
    """Check that *cls* has a body, and the state that a pipeline needs.

    Raises:
        TypeError: It has not; the method that was probably meant is named.
    """
    if _author_of(cls, "run") is not None:
        return
    is_pipeline = issubclass(cls, ReactorPipeline)
    body = "inference" if is_pipeline else "generate"
    if _author_of(cls, body) is None:
        near = _near(cls, body)
        raise TypeError(
            f"{cls.__qualname__} has no {body}()"
            + (f"; did you mean {near}()? Call it {body}" if near else f": {_BODIES[is_pipeline]}")
        )
    if is_pipeline:
        check_state(cls)


_BODIES = {
    True: "write it, a generator that yields an Output for each step",
    False: "write generate(), run(), or a ReactorPipeline with inference()",
}


def doubts(cls: type) -> list[str]:
    """Return what in *cls* and the classes it uses will not do what it looks like."""
    return [*_unmarked_hooks(cls), *_near_misses(cls), *_untyped(cls)]


def _unmarked_hooks(cls: type) -> Iterator[str]:
    """Yield each method that is called like a hook and is none: nobody calls it."""
    lifecycle = read_lifecycle(cls)
    hooks = {getattr(lifecycle, kind).name for kind in HookKind if getattr(lifecycle, kind)}
    for name in _methods(cls):
        kind = name.removeprefix("on_")
        if kind in tuple(HookKind) and name not in hooks and not _is_marked(cls, name):
            yield (
                f"{cls.__qualname__}.{name}() is not called by the runtime: mark it with @{kind}, "
                f"from reactor_runtime import {kind}"
            )


def _near_misses(cls: type) -> Iterator[str]:
    """Yield each method that is called nearly like one of ours that the class does not write."""
    for name in _methods(cls):
        near = difflib.get_close_matches(name, _OVERRIDDEN, n=1, cutoff=0.85)
        is_written = not near or name == near[0] or _author_of(cls, near[0]) is not None
        if not is_written and not _is_marked(cls, name):
            yield f"{cls.__qualname__}.{name}() is not called by the runtime: {near[0]}() is"


def _untyped(cls: type) -> Iterator[str]:
    state = state_class(cls)
    for owner, name, value in _without_annotation(state) if state else ():
        if isinstance(value, _VALUES) and not name.isupper():
            yield (
                f"{owner.__qualname__}.{name} has no type, so clients cannot set it and sessions "
                f"share it: write {name}: {type(value).__name__} = …, or ClassVar for a constant"
            )
    for kind in mentioned(cls, Output):
        for owner, name, value in _without_annotation(kind):
            track = value if isinstance(value, type) else type(value)
            if issubclass(track, Video | Audio):
                yield (
                    f"{owner.__qualname__}.{name} is no track: write {name}: {track.__name__}, "
                    "with a colon"
                )


def _without_annotation(kind: type) -> Iterator[tuple[type, str, Any]]:
    typed = {name for owner in kind.__mro__ for name in all_annotations(owner)}
    for owner in kind.__mro__:
        if is_authors(owner):
            for name, value in vars(owner).items():
                if not name.startswith("_") and name not in typed:
                    yield owner, name, value


def _author_of(cls: type, name: str) -> type | None:
    """Return the class of an author's that *cls* has *name* from."""
    owner = next((each for each in cls.__mro__ if name in vars(each)), None)
    return owner if owner is not None and is_authors(owner) else None


def _methods(cls: type) -> list[str]:
    """Return the author's methods, each once."""
    owned = (item for owner in cls.__mro__ if is_authors(owner) for item in vars(owner).items())
    return list(dict.fromkeys(name for name, value in owned if inspect.isroutine(value)))


def _is_marked(cls: type, name: str) -> bool:
    return is_marked(inspect.getattr_static(cls, name))


def _near(cls: type, name: str) -> str | None:
    return next(iter(difflib.get_close_matches(name, _methods(cls), n=1, cutoff=_NEAR)), None)
