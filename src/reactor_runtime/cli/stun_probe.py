"""One STUN question to a STUN or TURN server, on a plain socket.

::

    0                16               32
    | type 0x0001    | length 0       |   request; the answer is 0x0101
    | cookie 0x2112A442               |
    | transaction id, 12 bytes        |
    | attributes of the answer: type, length, value; 0x0020 is XOR-MAPPED-ADDRESS
"""

import ipaddress
import os
import queue
import re
import socket
import struct
import threading
import time
from dataclasses import dataclass

_COOKIE = 0x2112A442
_BINDING_REQUEST, _BINDING_ANSWER, _XOR_MAPPED_ADDRESS = 0x0001, 0x0101, 0x0020
_URI = re.compile(
    r"(?P<scheme>stuns?|turns?):(?P<host>\[[^\]]+\]|[^:?]+)(?::(?P<port>\d+))?"
    r"(?:\?transport=(?P<transport>udp|tcp))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StunAnswer:
    """What a server said.

    Attributes:
        address: How it sees this host; empty over TCP, where it is only reached.
        round_trip_s: Seconds from question to answer.
    """

    address: str
    round_trip_s: float


def ask_stun(uri: str, timeout_s: float) -> StunAnswer:
    """Ask the server at *uri* how it sees this host.

    Raises:
        OSError: It does not answer in time, or its name has no address.
    """
    results: queue.Queue[StunAnswer | OSError] = queue.Queue()

    def ask() -> None:
        try:
            results.put(_ask(uri, timeout_s))
        except OSError as error:
            results.put(error)

    # A name look-up cannot be interrupted: the thread may outlive the deadline, nobody waits.
    threading.Thread(target=ask, name="stun-probe", daemon=True).start()
    try:
        result = results.get(timeout=timeout_s + 0.5)
    except queue.Empty:
        raise TimeoutError("its name is not resolved in time") from None
    if isinstance(result, OSError):
        raise result
    return result


def _ask(uri: str, timeout_s: float) -> StunAnswer:
    match = _URI.fullmatch(uri)
    if match is None:
        raise OSError(f"{uri} is no STUN or TURN address")
    is_tls = match["scheme"].endswith("s")
    kind = socket.SOCK_STREAM if is_tls or match["transport"] == "tcp" else socket.SOCK_DGRAM
    port = int(match["port"] or (5349 if is_tls else 3478))
    family, _, _, _, address = socket.getaddrinfo(match["host"].strip("[]"), port, type=kind)[0]
    with socket.socket(family, kind) as link:
        link.settimeout(timeout_s)
        started = time.monotonic()
        link.connect(address)
        if kind == socket.SOCK_STREAM:
            return StunAnswer(address="", round_trip_s=time.monotonic() - started)
        return _question(link, started, timeout_s)


def _question(link: socket.socket, started: float, timeout_s: float) -> StunAnswer:
    """Ask over UDP, three times within the deadline: a packet may be lost."""
    transaction = os.urandom(12)
    request = struct.pack("!HHI", _BINDING_REQUEST, 0, _COOKIE) + transaction
    for _ in range(3):
        link.settimeout(timeout_s / 3)
        link.send(request)
        try:
            answer = link.recv(2048)
        except TimeoutError:
            continue
        if len(answer) >= 20 and answer[8:20] == transaction:
            if struct.unpack("!H", answer[:2])[0] != _BINDING_ANSWER:
                raise OSError("it refuses to answer")
            address = _mapped_address(answer)
            return StunAnswer(address=address, round_trip_s=time.monotonic() - started)
    raise TimeoutError("it does not answer")


def _mapped_address(answer: bytes) -> str:
    """Return the address in the answer, empty when there is none."""
    offset = 20
    while offset + 4 <= len(answer):
        kind, length = struct.unpack("!HH", answer[offset : offset + 4])
        value = answer[offset + 4 : offset + 4 + length]
        if kind == _XOR_MAPPED_ADDRESS and len(value) in (8, 20):
            key = (struct.pack("!I", _COOKIE) + answer[8:20])[: len(value) - 4]
            raw = bytes(a ^ b for a, b in zip(value[4:], key, strict=True))
            return str(ipaddress.ip_address(raw))
        offset += 4 + (length + 3) // 4 * 4
    return ""
