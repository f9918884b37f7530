"""What a model class must keep to, checked when it is defined."""

import inspect

from reactor_runtime.model.annotations import is_authors, keep_scope
from reactor_runtime.model.command import event_methods
from reactor_runtime.model.events import NO_METHODS, is_marked
from reactor_runtime.model.lifecycle import read_lifecycle

BODY_CALLS = "_reactor_body_calls"
_ALWAYS_CALLED = frozenset({"load", "run"})


def check_model_class(cls: type) -> None:
    """Check *cls* while it is being defined, as far as no name defined later is needed.

    Types are read by ``ModelContract.of``, once its module is complete.

    Raises:
        TypeError: Two methods are one command or one hook, a hook takes what it cannot be given,
            or what is marked cannot be a command or hook.
    """
    keep_scope(cls)
    _check_marks(cls)
    event_methods(cls)
    read_lifecycle(cls)


def _check_marks(cls: type) -> None:
    taken = _ALWAYS_CALLED | _called_by_body(cls)
    for name in dict.fromkeys(n for owner in cls.__mro__ if is_authors(owner) for n in vars(owner)):
        value = inspect.getattr_static(cls, name)
        if isinstance(value, NO_METHODS) and is_marked(_inside(value)):
            raise TypeError(
                f"{cls.__qualname__}.{name} is a {type(value).__name__}, which is never called as "
                "a command or hook; mark a plain method"
            )
        if name in taken and is_marked(value):
            raise TypeError(
                f"{cls.__qualname__}.{name}() is what the runtime calls to run the model, so it "
                f"cannot be a command or hook too; name the method otherwise: a command stays "
                f"{name!r} by @event(name={name!r})"
            )


def _called_by_body(cls: type) -> frozenset[str]:
    """Return the methods that the body of *cls* calls, if it is one of the runtime's own."""
    body = next((owner for owner in cls.__mro__ if "run" in vars(owner)), cls)
    calls: frozenset[str] = vars(body).get(BODY_CALLS, frozenset())
    return calls


def _inside(value: object) -> object:
    return getattr(value, "__func__", None) or getattr(value, "fget", None)
