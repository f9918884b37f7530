"""Channel: parcels over one end of a socket pair, with a deadline where one is wanted."""

import array
import os
import select
import socket
import threading
import time
from collections import deque
from typing import Final

from reactor_runtime.distributed.parcel import HEAD, Parcel

_CHUNK: Final = 64 << 10  # bytes read at once: more than any parcel but a very rare one
_COUNT_AT: Final = HEAD.size - 2  # where a parcel says how many descriptors it has
_MOST_DESCRIPTORS: Final = 32
# Plain numbers: the flags' own type makes each "or" cost as much as the system call.
_DONT_WAIT: Final = int(socket.MSG_DONTWAIT)
_CLOSE_ON_EXEC: Final = int(getattr(socket, "MSG_CMSG_CLOEXEC", 0))
_ANCILLARY: Final = socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4)


class Channel:
    """One end of a socket pair. Any thread may send; one thread at a time receives."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._sending = threading.Lock()
        self._chunk = bytearray(_CHUNK)
        self._bytes = bytearray()
        self._whole: bytes | None = None
        self._descriptors: deque[int] = deque()

    def fileno(self) -> int:
        """Return the socket's number, to wait on."""
        return self._socket.fileno()

    def send(self, parcel: Parcel, within_s: float | None = None) -> None:
        """Send a parcel whole.

        Raises:
            OSError: The other end is gone, or did not make room within *within_s* seconds.
        """
        flags = 0 if within_s is None else _DONT_WAIT
        deadline = None if within_s is None else time.monotonic() + within_s
        with self._sending:
            sent = self._send_first(parcel, flags, deadline)
            while sent < len(parcel.data):
                try:
                    sent += self._socket.send(memoryview(parcel.data)[sent:], flags)
                except BlockingIOError:
                    self._wait_for_room(deadline)

    def receive(self) -> Parcel | None:
        """Wait for the next parcel; ``None`` once the other end is gone."""
        while (parcel := self._first()) is None:
            if not self._read(0):
                return None
        return parcel

    @property
    def holds_parcel(self) -> bool:
        """Whether ``receive`` would return without reading."""
        if len(self._bytes) < HEAD.size:
            return False
        length, _, _ = HEAD.unpack_from(self._bytes)
        return len(self._bytes) >= HEAD.size + int(length)

    def receive_ready(self) -> tuple[list[Parcel], bool]:
        """Return the parcels that are there, and whether the other end is still open."""
        try:
            is_open = self._read(_DONT_WAIT)
        except BlockingIOError:
            is_open = True
        parcels = []
        while (parcel := self._first()) is not None:
            parcels.append(parcel)
        return parcels, is_open

    def close(self) -> None:
        """Close this end, and the files that were received and not taken. Idempotent."""
        self._socket.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def _send_first(self, parcel: Parcel, flags: int, deadline: float | None) -> int:
        """Send the descriptors and as much as there is room for; return how many bytes."""
        while True:
            try:
                if not parcel.descriptors:
                    return self._socket.send(parcel.data, flags)
                rights = array.array("i", parcel.descriptors)
                ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)]
                return self._socket.sendmsg([parcel.data], ancillary, flags)
            except BlockingIOError:
                self._wait_for_room(deadline)

    def _wait_for_room(self, deadline: float | None) -> None:
        left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not select.select([], [self._socket], [], left_s)[1]:
            raise TimeoutError("the other end does not read")

    def _read(self, flags: int) -> bool:
        """Read what is there; ``False`` when the other end is gone."""
        try:
            count, ancillary, _, _ = self._socket.recvmsg_into(
                [self._chunk], _ANCILLARY, flags | _CLOSE_ON_EXEC
            )
        except ConnectionError:
            return False
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
                self._descriptors.extend(numbers)
        if count and not self._bytes and _is_one(self._chunk, count):
            self._whole = bytes(self._chunk[:count])
        else:
            self._bytes += memoryview(self._chunk)[:count]
        return count > 0

    def _first(self) -> Parcel | None:
        if (data := self._whole) is not None:
            self._whole = None
        elif len(self._bytes) >= HEAD.size:
            length, _, _ = HEAD.unpack_from(self._bytes)
            end = HEAD.size + length
            if len(self._bytes) < end:
                return None
            data = bytes(self._bytes[:end])
            del self._bytes[:end]
        else:
            return None
        if not (count := data[_COUNT_AT]):
            return Parcel(data)
        return Parcel(data, tuple(self._descriptors.popleft() for _ in range(count)))


def _is_one(chunk: bytearray, count: int) -> bool:
    """Whether *count* bytes are exactly one parcel."""
    return count >= HEAD.size and HEAD.unpack_from(chunk)[0] + HEAD.size == count


def make_socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return two joined sockets that no other process has."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
