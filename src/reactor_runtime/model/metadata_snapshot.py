"""What an author said beside a frame, as it was when it was said."""

from typing import Any

import numpy as np

_MOST_LEVELS = 32  # of containers in containers; what lies deeper is the author's own


def snapshot(value: Any) -> Any:
    """Return *value* with its dicts, lists, tuples and arrays copied: authors use theirs again.

    Anything else is kept as it is: an object may hold on to a whole model.
    """
    return _Copier().copy_of(value, 0)


class _Copier:
    """Copies each container once, however often it is met: one may hold itself."""

    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}

    def copy_of(self, value: Any, level: int) -> Any:
        kind = type(value)
        if kind is np.ndarray or kind is bytearray:
            return value.copy()
        if kind not in (dict, list, tuple) or level == _MOST_LEVELS:
            return value
        if id(value) in self._copies:
            return self._copies[id(value)]
        if kind is tuple:
            whole = tuple(self.copy_of(each, level + 1) for each in value)
            return self._copies.setdefault(id(value), whole)
        copy = self._copies[id(value)] = kind()
        if kind is dict:
            copy.update((key, self.copy_of(each, level + 1)) for key, each in [*value.items()])
        else:
            copy.extend(self.copy_of(each, level + 1) for each in [*value])
        return copy
