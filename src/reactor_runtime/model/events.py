"""``@event`` and the lifecycle decorators: they mark a method and leave it as it is.

What the marks of a whole class add up to is read in ``command`` and ``lifecycle``.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar, overload

from reactor_runtime.model.input_field import FieldInfo, check_declaration

F = TypeVar("F", bound=Callable[..., Any])

RESERVED: Final = frozenset({"connected", "disconnected"})
NO_METHODS: Final = (staticmethod, classmethod, property)  # what a class holds, unlike a method
_EVENT, _HOOKS = "_reactor_event", "_reactor_hooks"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMark:
    """What ``@event`` says of a method: the command's name on the wire and what it does."""

    name: str
    description: str


class HookKind(StrEnum):
    """The moments in a session at which a marked method runs."""

    SESSION_STARTED = "session_started"
    SESSION_ENDED = "session_ended"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    FILE_UPLOADED = "file_uploaded"


@overload
def event(name: F, /) -> F: ...
@overload
def event(name: str | None = None, *, description: str = "") -> Callable[[F], F]: ...
def event(name: Any = None, *, description: str = "") -> Any:
    """Make a method a command that clients call.

    Its parameters are the payload; one annotated ``ClientInfo`` (or named ``client``) is filled in
    by the runtime. A returned message answers the caller, ``None`` acknowledges. A subclass
    inherits the command; a method that overrides it is a command only with ``@event`` again.

    Args:
        name: The name on the wire, by default the method's.
        description: What it does, for the schema.

    Raises:
        TypeError: The name is reserved, or the method cannot be called with named values.
    """
    if callable(name) or isinstance(name, NO_METHODS):
        return _mark_event(name, None, "")
    return lambda function: _mark_event(function, name, description)


def session_started(function: F) -> F:
    """Run this method when a session starts, before any client. If it raises, the session ends."""
    return _mark_hook(function, HookKind.SESSION_STARTED)


def session_ended(function: F) -> F:
    """Run this method when a session ends; clients do not leave one by one then."""
    return _mark_hook(function, HookKind.SESSION_ENDED)


def connected(function: F) -> F:
    """Run this method when a client has joined; it may take ``client``."""
    return _mark_hook(function, HookKind.CONNECTED)


def disconnected(function: F) -> F:
    """Run this method when a client has left; it may take ``client``."""
    return _mark_hook(function, HookKind.DISCONNECTED)


def file_uploaded(function: F) -> F:
    """Run this method with the file when an upload is complete; it may take ``client``."""
    return _mark_hook(function, HookKind.FILE_UPLOADED)


def event_mark(function: object) -> EventMark | None:
    """Return what ``@event`` said of *function*."""
    mark = getattr(function, _EVENT, None) if inspect.isroutine(function) else None
    return mark if isinstance(mark, EventMark) else None


def is_marked(function: object) -> bool:
    """Return whether *function* is a command or a hook."""
    return event_mark(function) is not None or bool(hook_kinds(function))


def hook_kinds(function: object) -> frozenset[HookKind]:
    """Return the lifecycle moments *function* is marked with."""
    kinds = getattr(function, _HOOKS, None) if inspect.isroutine(function) else None
    return kinds if isinstance(kinds, frozenset) else frozenset()


def _mark_event(function: Any, name: str | None, description: str) -> Any:
    where = _named(function, "event")
    wire_name = function.__name__ if name is None else name
    if not isinstance(wire_name, str) or not wire_name.strip():
        raise TypeError(f"{where}: @event(name={name!r}); give the command a name, as text")
    if wire_name in RESERVED:
        raise TypeError(
            f"{where}: {wire_name!r} is reserved for the lifecycle; use @{wire_name}, "
            "or give the command another name: @event(name=…)"
        )
    for parameter in payload_parameters(function):
        if isinstance(parameter.default, FieldInfo):
            check_declaration(parameter.default, f"{where}({parameter.name})")
    setattr(function, _EVENT, EventMark(name=wire_name, description=description))
    return function


def _mark_hook(function: F, kind: HookKind) -> F:
    _named(function, kind.value)
    setattr(function, _HOOKS, hook_kinds(function) | {kind})
    return function


def payload_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a method without ``self``.

    Raises:
        TypeError: One of them cannot be given by name.
    """
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in {
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    }:
        raise TypeError(f"{function.__qualname__} takes no self; mark a method of the model")
    for parameter in parameters[1:]:
        if parameter.kind not in {
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        }:
            raise TypeError(
                f"{function.__qualname__}: parameter {parameter} has no name to be given by; "
                "name each argument a client sends"
            )
    return parameters[1:]


def _named(function: Any, decorator: str) -> str:
    if isinstance(function, NO_METHODS):
        raise TypeError(f"@{decorator} marks a method, not a {type(function).__name__}")
    if not callable(function) or isinstance(function, type) or not hasattr(function, "__name__"):
        raise TypeError(f"@{decorator} marks a method, not {function!r}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__qualname__}: a method marked @{decorator} cannot yield; "
            "return one message, or send() several"
        )
    return str(function.__qualname__)
