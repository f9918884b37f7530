"""ConnectionIds: the numbers by which clients know their connections."""

from collections.abc import Container

from reactor_runtime.errors import ConnectionIdError, ConnectionLimitError

LEGACY_ID = 1001  # for clients that never register
ALLOWED = range(1001, 10_000)
_MINTED = range(5000, 10_000)
_MAX_UNUSED = 1024


def check_id(connection_id: int) -> None:
    """Raise ``ConnectionIdError`` for an id that no client may use."""
    if connection_id not in ALLOWED:
        raise ConnectionIdError(connection_id)


class ConnectionIds:
    """Mints ids in turn and remembers the latest ones that have made no offer yet."""

    def __init__(self) -> None:
        self._last = _MINTED[-1]
        self._unused: dict[int, None] = {}

    def mint(self, taken: Container[int]) -> int:
        """Return an id that is not *taken*.

        Raises:
            ConnectionLimitError: There is none left.
        """
        for _ in _MINTED:
            self._last = self._last + 1 if self._last + 1 in _MINTED else _MINTED[0]
            if self._last not in taken and self._last not in self._unused:
                self._unused[self._last] = None
                if len(self._unused) > _MAX_UNUSED:
                    del self._unused[next(iter(self._unused))]
                return self._last
        raise ConnectionLimitError(len(_MINTED))

    def is_waiting(self, connection_id: int) -> bool:
        """Whether the id was minted and made no offer yet."""
        return connection_id in self._unused

    def use(self, connection_id: int) -> None:
        """Note that an offer came under this id."""
        self._unused.pop(connection_id, None)

    def clear(self) -> None:
        """Forget every id that made no offer."""
        self._unused.clear()
