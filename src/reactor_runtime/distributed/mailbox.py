"""Mailbox: one socket for the answers of all ranks.

A wait is one system call however many ranks there are, and one order holds for all they say.
"""

import socket
import struct
import time
from contextlib import suppress
from typing import Final

from reactor_runtime.distributed.channel import Channel, make_socket_pair
from reactor_runtime.distributed.parcel import Parcel

_LONGEST_S: Final = 1.0  # of one wait in the kernel: only a shorter one takes a system call more
_TIMEVAL: Final = struct.Struct("@ll")
_POKE: Final = b"!"


class Mailbox:
    """Ranks inherit its far end. One thread at a time waits; any may poke it.

    Attributes:
        far: The end that ranks answer into.
    """

    def __init__(self) -> None:
        self._socket, self.far = make_socket_pair()
        self._near, self._own_far = Channel(self._socket), Channel(self.far)
        self._bound_s = 0.0
        self._bound(_LONGEST_S)

    def wait(self, until: float | None) -> Parcel | None:
        """Return the next parcel; ``None`` when poked, or sooner or later before *until*.

        Args:
            until: The moment on the monotonic clock; ``None`` for never.
        """
        left_s = _LONGEST_S if until is None else until - time.monotonic()
        if left_s <= 0:
            return None
        if left_s < _LONGEST_S or self._bound_s < _LONGEST_S:
            self._bound(min(left_s, _LONGEST_S))
        try:
            parcel = self._near.receive()
        except BlockingIOError:
            return None
        return None if parcel is None or parcel[0] == _POKE else parcel

    def take_rest(self) -> list[Parcel]:
        """Return the parcels that are there, without waiting."""
        parcels, _ = self._near.receive_ready()
        return [parcel for parcel in parcels if parcel.data != _POKE]

    def poke(self) -> None:
        """Make who waits look up; nothing happens once it is closed."""
        with suppress(OSError):  # nobody waits: there is so much to read, or nothing any more
            self._own_far.send(Parcel(_POKE), 0.0)

    def close(self) -> None:
        """Close both ends. Idempotent."""
        self._near.close()
        self._own_far.close()

    def _bound(self, seconds: float) -> None:
        """Let the kernel wait no longer than *seconds*."""
        microseconds = max(1, int(seconds * 1e6))
        value = _TIMEVAL.pack(*divmod(microseconds, 1_000_000))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
        self._bound_s = seconds
