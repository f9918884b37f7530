"""Reading annotations: evaluated or postponed, of module-level classes or of local ones."""

import builtins
import inspect
import sys
import types
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import (
    Annotated,
    Any,
    ClassVar,
    ForwardRef,
    NewType,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

Names = Mapping[str, Any]
T = TypeVar("T")

UNIONS = (types.UnionType, Union)
_WRAPPERS = (Annotated, Required, NotRequired)
_SCOPE = "_reactor_scope"
_FRAMES_TO_SEARCH = 12
_NOT_AUTHORS = {"reactor_runtime", "builtins", "typing", "abc"}


def is_authors(cls: type) -> bool:
    """Return whether *cls* was written by an author, not by the runtime or by Python."""
    return cls.__module__.split(".")[0] not in _NOT_AUTHORS


def own_annotations(cls: type) -> dict[str, Any]:
    """Return what *cls* itself annotates, in order, ``ClassVar`` left out; strings stay strings."""
    return {name: a for name, a in all_annotations(cls).items() if not _is_class_var(a)}


def all_annotations(cls: type) -> dict[str, Any]:
    """Return what *cls* itself annotates, in order, ``ClassVar`` included; strings stay strings."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    return inspect.get_annotations(cls)


def keep_scope(cls: type) -> None:
    """Remember the names around *cls* when a running function defines it.

    A class defined in a function (most tests) with postponed annotations names classes that no
    module knows. Call this while the class is being defined.
    """
    before, _, local = cls.__qualname__.rpartition(".<locals>")
    if not local:
        return
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(_FRAMES_TO_SEARCH):
        if frame is None:
            return
        if frame.f_code.co_name == before.rsplit(".", 1)[-1] and (
            frame.f_globals.get("__name__") == cls.__module__
        ):
            setattr(cls, _SCOPE, dict(frame.f_locals))
            return
        frame = frame.f_back


def names_around(cls: type) -> Names:
    """Return the names that an annotation in the body of *cls* may use."""
    module = sys.modules.get(cls.__module__)
    return ChainMap(
        vars(cls).get(_SCOPE, {}),
        {cls.__name__: cls},
        vars(module) if module else {},
        vars(builtins),
        dict(vars(cls)),
    )


def names_in(function: Callable[..., Any], cls: type) -> Names:
    """Return the names that the signature of *function*, a method of *cls*, may use."""
    function = inspect.unwrap(function)
    closure = inspect.getclosurevars(function).nonlocals if _has_closure(function) else {}
    scopes = [vars(k).get(_SCOPE, {}) for k in cls.__mro__]
    found = getattr(function, "__globals__", {})
    return ChainMap(dict(closure), *scopes, found, names_around(cls))  # type: ignore[arg-type]


def resolve(annotation: Any, names: Names) -> Any:
    """Return the type that *annotation* means.

    Raises:
        NameError: It is a string that means nothing among *names*.
    """
    while isinstance(annotation, str | ForwardRef):
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        try:
            # The author's own code: evaluating it is what defining the class would have done.
            annotation = eval(text, {}, names)
        except Exception as error:
            raise NameError(f"{text!r} cannot be read: {error}") from error
    return plain(annotation)


def plain(annotation: Any) -> Any:
    """Return *annotation* without what only annotates, renames or aliases it."""
    while True:
        if get_origin(annotation) in _WRAPPERS:
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation


def alternatives(annotation: Any, names: Names) -> tuple[Any, ...]:
    """Return the members of a union other than ``None``; any other type is its own only one."""
    annotation = resolve(annotation, names)
    if get_origin(annotation) not in UNIONS:
        return (annotation,)
    members = (resolve(a, names) for a in get_args(annotation))
    return tuple(a for a in members if a is not type(None) and a is not None)


def class_of(kind: Any, base: type[T]) -> type[T] | None:
    """Return the subclass of *base* that *kind* is, or is a form of (``Mine[int]``)."""
    kind = get_origin(kind) or kind
    return kind if isinstance(kind, type) and issubclass(kind, base) else None


def _has_closure(function: Callable[..., Any]) -> bool:
    return bool(getattr(function, "__closure__", None))


def _is_class_var(annotation: Any) -> bool:
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return annotation.split("[")[0].rsplit(".", 1)[-1].strip() == "ClassVar"
    return annotation is ClassVar or get_origin(annotation) is ClassVar
