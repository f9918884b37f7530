"""Which outputs and messages belong to a model: its class names some, others lie beside it.

A model declares its output and message classes nowhere but in its code, so the code is asked:
the names in its functions, and in the functions and classes they name, as far as those are the
author's own.
"""

import inspect
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar, get_args, get_origin

from reactor_runtime.model.annotations import (
    Names,
    is_authors,
    names_around,
    names_in,
    own_annotations,
    resolve,
)

T = TypeVar("T")
_MOST_FUNCTIONS = 5000
_MOST_LEVELS = 6  # an alias may name itself


def mentioned(cls: type, kind: type[T]) -> list[type[T]]:
    """Return the subclasses of *kind* that the code of *cls* names, directly or through its own."""
    found: dict[type[T], None] = {}
    seen: set[int] = {id(cls)}
    waiting: list[Any] = [cls]
    while waiting and len(seen) < _MOST_FUNCTIONS:
        for value in _named_by(waiting.pop(0), cls):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, type) and issubclass(value, kind):
                if is_authors(value):
                    found[value] = None
            elif isinstance(value, type | types.FunctionType) and _is_beside(value, cls):
                waiting.append(value)
    return list(found)


def visible(cls: type, kind: type[T]) -> list[type[T]]:
    """Return the author's subclasses of *kind* in the modules of *cls* and its bases."""
    found: dict[type[T], None] = {}
    for owner in reversed(cls.__mro__):
        module = sys.modules.get(owner.__module__)
        if not is_authors(owner) or module is None:
            continue
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, kind) and is_authors(value):
                found[value] = None
    return list(found)


def _named_by(thing: Any, cls: type) -> Iterator[Any]:
    if isinstance(thing, type):
        yield from _named_by_class(thing)
    else:
        yield from _named_by_function(thing, names_in(thing, cls))


def _named_by_class(cls: type) -> Iterator[Any]:
    owners = [k for k in cls.__mro__ if is_authors(k)]
    for owner in owners:
        names = names_around(owner)
        for annotation in own_annotations(owner).values():
            yield from _named_by_annotation(annotation, names)
    for name in dict.fromkeys(n for owner in owners for n in vars(owner)):
        for owner in owners:
            value = vars(owner).get(name)
            for function in _functions(value):
                names = names_in(function, owner)
                yield from _named_by_function(function, names)
            if isinstance(value, type):
                yield value
            if value is not None and not any(_calls_super(f) for f in _functions(value)):
                break  # what it overrides does not run


def _functions(value: Any) -> list[types.FunctionType]:
    if isinstance(value, property):
        parts: list[Any] = [value.fget, value.fset]
    else:
        parts = [getattr(value, "__func__", value)]
    plain = [inspect.unwrap(p) for p in parts if callable(p)]
    return [p for p in plain if isinstance(p, types.FunctionType)]


def _named_by_function(function: types.FunctionType, names: Names) -> Iterator[Any]:
    for annotation in function.__annotations__.values():
        yield from _named_by_annotation(annotation, names)
    words = list(_words(function.__code__))
    for word in words:
        value = names.get(word)
        yield value
        if isinstance(value, types.ModuleType):
            yield from (vars(value).get(other) for other in words)


def _named_by_annotation(annotation: Any, names: Names, level: int = 0) -> Iterator[Any]:
    try:
        value = resolve(annotation, names)
    except NameError:
        return
    yield value
    if level < _MOST_LEVELS and get_origin(value) is not Literal:
        for argument in get_args(value):
            yield from _named_by_annotation(argument, names, level + 1)


def _words(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _words(constant)


def _calls_super(function: Callable[..., Any]) -> bool:
    return "super" in function.__code__.co_names


def _is_beside(value: type | types.FunctionType, cls: type) -> bool:
    """Whether *value* is code of the author of *cls*, and not of a library."""
    if value.__module__.split(".")[0] == cls.__module__.split(".")[0]:
        return True
    path = getattr(sys.modules.get(value.__module__), "__file__", None)
    if path is None or value.__module__.split(".")[0] == "reactor_runtime":
        return False
    return not path.startswith(_LIBRARIES)


_LIBRARIES = tuple({sysconfig.get_path(n) for n in ("stdlib", "platstdlib", "purelib", "platlib")})
