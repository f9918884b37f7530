"""Channel: parcels over one end of a socket pair, with a deadline where one is wanted."""

import array
import socket
import time
from functools import partial
from typing import Final

from reactor_runtime.distributed.parcel import Parcel
from reactor_runtime.distributed.readiness import is_writable

_CHUNK: Final = 64 << 10  # bytes, more than any parcel has
_MOST_DESCRIPTORS: Final = 32
_MOST_AT_ONCE: Final = 1000  # parcels
# Plain numbers: the flags' own type makes each "or" cost as much as the system call.
_DONT_WAIT: Final = int(socket.MSG_DONTWAIT)
_CLOSE_ON_EXEC: Final = int(getattr(socket, "MSG_CMSG_CLOEXEC", 0))
_parcel = partial(tuple.__new__, Parcel)  # a named tuple's own way is a call of Python more
_ANCILLARY: Final = socket.CMSG_SPACE(_MOST_DESCRIPTORS * 4)


class Channel:
    """One end of a socket pair. Any thread may send; one thread at a time receives.

    The kernel keeps parcels whole and apart, so that several senders may share an end.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._chunk = memoryview(bytearray(_CHUNK))

    def fileno(self) -> int:
        """Return the socket's number, to wait on."""
        return self._socket.fileno()

    def send(self, parcel: Parcel, within_s: float | None = None) -> None:
        """Send a parcel whole.

        Raises:
            OSError: The other end is gone, or did not make room within *within_s* seconds.
        """
        flags = 0 if within_s is None else _DONT_WAIT
        try:
            if parcel.descriptors:
                self._send_with_files(parcel, flags)
            else:
                self._socket.send(parcel.data, flags)
        except BlockingIOError:
            self._send_late(parcel, time.monotonic() + (within_s or 0.0))

    def receive(self, flags: int = 0) -> Parcel | None:
        """Wait for the next parcel; ``None`` once the other end is gone.

        Raises:
            BlockingIOError: There is none, and the socket or *flags* say not to wait longer.
        """
        try:
            count, ancillary, _, _ = self._socket.recvmsg_into(
                [self._chunk], _ANCILLARY, flags | _CLOSE_ON_EXEC
            )
        except ConnectionError:
            return None
        if not count:
            return None
        return _parcel((bytes(self._chunk[:count]), _files_in(ancillary) if ancillary else ()))

    def receive_ready(self) -> tuple[list[Parcel], bool]:
        """Return the parcels that are there, and whether the other end is still open."""
        parcels: list[Parcel] = []
        try:
            while len(parcels) < _MOST_AT_ONCE:
                parcel = self.receive(_DONT_WAIT)
                if parcel is None:
                    return parcels, False
                parcels.append(parcel)
        except BlockingIOError:
            pass
        return parcels, True

    def close(self) -> None:
        """Close this end. Idempotent."""
        self._socket.close()

    def _send_with_files(self, parcel: Parcel, flags: int) -> None:
        rights = array.array("i", parcel.descriptors)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if rights else []
        self._socket.sendmsg([parcel.data], ancillary, flags)

    def _send_late(self, parcel: Parcel, deadline: float) -> None:
        while True:
            if not is_writable(self._socket, deadline - time.monotonic()):
                raise TimeoutError("the other end does not read")
            try:
                self._send_with_files(parcel, _DONT_WAIT)
            except BlockingIOError:
                continue
            return


def make_socket_pair() -> tuple[socket.socket, socket.socket]:
    """Return two joined sockets that no other process has; what is sent arrives in one piece."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _files_in(ancillary: list[tuple[int, int, bytes]]) -> tuple[int, ...]:
    numbers = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(content[: len(content) - len(content) % numbers.itemsize])
    return tuple(numbers)
