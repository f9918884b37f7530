"""Bytes that betray whoever unpickles them."""

import os
import pickle
from pathlib import Path


def pickled_bomb(marker: Path) -> bytes:
    """Return a pickle that makes the file *marker* where it is loaded."""
    return pickle.dumps(_Bomb(marker))


class _Bomb:
    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self._marker}",)
