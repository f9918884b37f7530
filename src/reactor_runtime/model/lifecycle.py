"""Lifecycle: which methods of a model run when a session or client comes and goes."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from reactor_runtime.model.annotations import Names, alternatives, is_authors, names_in
from reactor_runtime.model.command import client_parameter
from reactor_runtime.model.events import HookKind, hook_kinds
from reactor_runtime.model.uploaded_file import UploadedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One marked method.

    Attributes:
        name: The method.
        client_parameter: The parameter that wants the ``ClientInfo``, if any.
        file_parameter: The parameter that wants the ``UploadedFile``, if any.
    """

    name: str
    client_parameter: str | None = None
    file_parameter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """The hook of each moment, ``None`` where the class has none."""

    session_started: Hook | None = None
    session_ended: Hook | None = None
    connected: Hook | None = None
    disconnected: Hook | None = None
    file_uploaded: Hook | None = None


_TAKES = {
    HookKind.SESSION_STARTED: "nothing",
    HookKind.SESSION_ENDED: "nothing",
    HookKind.CONNECTED: "client, or nothing",
    HookKind.DISCONNECTED: "client, or nothing",
    HookKind.FILE_UPLOADED: "a file, and client",
}
_WITH_CLIENT = {HookKind.CONNECTED, HookKind.DISCONNECTED, HookKind.FILE_UPLOADED}


def read_lifecycle(cls: type) -> Lifecycle:
    """Return the hooks of a model class. A method that overrides a marked one keeps the mark.

    Raises:
        TypeError: Two methods are of one kind, or one takes what it cannot be given.
    """
    marked: dict[HookKind, str] = {}
    for owner in reversed(cls.__mro__):
        if not is_authors(owner):
            continue
        for name, value in vars(owner).items():
            for kind in hook_kinds(value):
                if marked.setdefault(kind, name) != name:
                    raise TypeError(
                        f"{cls.__qualname__}: {marked[kind]}() and {name}() are both marked "
                        f"@{kind}; keep one method per kind and call the rest from it"
                    )
    hooks = {kind.value: _hook(cls, kind, name) for kind, name in marked.items()}
    return Lifecycle(**{f.name: hooks.get(f.name) for f in fields(Lifecycle)})


def _hook(cls: type, kind: HookKind, name: str) -> Hook | None:
    function = inspect.getattr_static(cls, name)
    if not callable(function):  # a subclass has put the method away
        return None
    names = names_in(function, cls)
    parameters = _parameters(function)
    client = client_parameter(parameters, names) if kind in _WITH_CLIENT else None
    rest = [p for p in parameters if p.name != client]
    file = _file_parameter(rest, names) if kind is HookKind.FILE_UPLOADED else None
    rest = [p for p in rest if p.name != file and p.default is inspect.Parameter.empty]
    if len(rest) == 1 and client is None and kind in _WITH_CLIENT:
        client = rest.pop().name  # the only thing it can mean, whatever it is called
    if rest:
        raise TypeError(
            f"{cls.__qualname__}.{name}({rest[0].name}): a method marked @{kind} takes "
            f"{_TAKES[kind]}; remove the parameter or give it a default"
        )
    return Hook(name=name, client_parameter=client, file_parameter=file)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a method without ``self`` and without ``*args``, ``**kwargs``."""
    parameters = list(inspect.signature(function).parameters.values())
    many = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [p for p in parameters[1:] if p.kind not in many]


def _file_parameter(parameters: list[inspect.Parameter], names: Names) -> str | None:
    for parameter in parameters:
        try:
            if UploadedFile in alternatives(parameter.annotation, names):
                return parameter.name
        except NameError:
            continue
    return parameters[0].name if parameters else None
