"""Wire: when the last packet of each picture left for each viewer, as the kernel stamped it.

A viewer's own clock would measure the viewer: messages cost its loop as much as the server's.
Headers of SRTP are readable, and packets between this machine's addresses pass its loopback.
"""

import contextlib
import ctypes
import itertools
import socket
import struct
import threading
from collections import defaultdict

_ALL_PROTOCOLS = 0x0003
_OUTGOING = 4
_SO_ATTACH_FILTER = 26
_SO_TIMESTAMPNS = 35
_SIXTEEN_MIB = 1 << 24
_RTP = 28  # after 20 bytes of IPv4 and 8 of UDP
_HEAD_BYTES = 40

# Pass UDP whose payload is RTP of a dynamic type with its marker set: the end of a picture.
_LOAD_BYTE, _AND, _EQUALS, _AT_LEAST, _RETURN = 0x30, 0x54, 0x15, 0x35, 0x06
_FILTER = (
    (_LOAD_BYTE, 0, 0, 9),
    (_EQUALS, 0, 6, socket.IPPROTO_UDP),
    (_LOAD_BYTE, 0, 0, _RTP),
    (_AND, 0, 0, 0xC0),
    (_EQUALS, 0, 3, 0x80),
    (_LOAD_BYTE, 0, 0, _RTP + 1),
    (_AT_LEAST, 0, 1, 0xE0),
    (_RETURN, 0, 0, _HEAD_BYTES),
    (_RETURN, 0, 0, 0),
)


class Wire:
    """Listens on the loopback until the block ends. Needs root; see ``is_open``."""

    def __init__(self) -> None:
        self._ends: dict[tuple[int, int], list[float]] = defaultdict(list)
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        with contextlib.suppress(PermissionError):
            self._socket = self._open()
        self._thread = threading.Thread(target=self._listen, daemon=True)

    @staticmethod
    def _open() -> socket.socket:
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS))
        program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *o) for o in _FILTER))
        head = struct.pack("HxxxxxxP", len(_FILTER), ctypes.addressof(program))
        raw.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, head)
        raw.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SIXTEEN_MIB)
        raw.bind(("lo", _ALL_PROTOCOLS))  # the module turns it round itself
        raw.settimeout(0.2)
        return raw

    @property
    def is_open(self) -> bool:
        """Whether this process may listen."""
        return self._socket is not None

    def __enter__(self) -> "Wire":
        if self._socket is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            raw, self._socket = self._socket, None
            self._thread.join()
            raw.close()

    def _listen(self) -> None:
        while (raw := self._socket) is not None:
            try:
                head, ancillary, _, address = raw.recvmsg(_HEAD_BYTES, 64)
            except TimeoutError:
                continue
            if address[2] != _OUTGOING:
                continue
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
            port = int.from_bytes(head[22:24], "big")
            ssrc = int.from_bytes(head[_RTP + 8 : _RTP + 12], "big")
            with self._lock:
                self._ends[port, ssrc].append(seconds + nanoseconds / 1e9)

    def gaps(self, start: float, end: float) -> list[list[float]]:
        """Return, for each stream, the seconds between its pictures, *start* to *end* (wall)."""
        with self._lock:
            kept = [[at for at in ends if start <= at < end] for ends in self._ends.values()]
        return [[b - a for a, b in itertools.pairwise(ends)] for ends in kept if len(ends) > 2]
