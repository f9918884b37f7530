"""Every error in the tree survives pickling with its facts."""

import pickle
from collections.abc import Iterator
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from reactor_runtime import errors
from reactor_runtime.errors import ReactorError

NUMBERS: dict[Any, Any] = {int: 3, float: 1.5, bool: True}


def tree(root: type[ReactorError]) -> Iterator[type[ReactorError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__.startswith(f"{errors.__name__}."):
            yield from tree(child)


def sample(kind: type[ReactorError]) -> ReactorError:
    """Return one error, each argument of a kind with its annotation."""
    hints = {} if kind.__init__ is Exception.__init__ else get_type_hints(kind.__init__)
    hints.pop("return", None)
    return kind(*(value_of(hint, f"a {name}") for name, hint in hints.items()))


def value_of(hint: Any, text: str) -> Any:
    """Return a value of an annotation; *text* where it may be one."""
    if get_origin(hint) is tuple and ... not in get_args(hint):
        return tuple(value_of(each, text) for each in get_args(hint))
    return () if get_origin(hint) in (list, tuple) else NUMBERS.get(hint, text)


@pytest.mark.parametrize("kind", sorted(set(tree(ReactorError)), key=repr))
def test_an_error_survives_pickling(kind: type[ReactorError]) -> None:
    error = sample(kind)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert vars(again) == vars(error)
    assert str(again) == str(error)
