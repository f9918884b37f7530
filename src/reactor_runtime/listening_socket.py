"""Binding the port, before anything else is made: a taken one is a single line within a second."""

import contextlib
import errno
import os
import socket
from collections.abc import Sequence
from functools import partial

from reactor_runtime.errors import AddressError

BACKLOG = 256

_WHY = {  # and what to do
    errno.EADDRINUSE: (
        "the address is in use",
        "stop what listens there or choose another --port (of make serve: PORT=8081)",
    ),
    errno.EACCES: ("not permitted", "choose a --port from 1024 on"),
    errno.EADDRNOTAVAIL: ("this machine has no such address", "choose another --host"),
}


def open_sockets(host: str, port: int) -> list[socket.socket]:
    """Return listening sockets for every address *host* stands for, all on one port.

    They listen at once, so that nobody else can take the port while the rest is being made.

    Raises:
        AddressError: The name is unknown, or an address cannot be bound.
    """
    opened: list[socket.socket] = []
    refused: OSError | None = None
    for family, address in _addresses(host, port):
        chosen = opened[0].getsockname()[1] if opened else port
        try:
            opened.append(_listen(family, address, chosen))
        except OSError as error:
            if error.errno not in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
                _close(opened)
                raise AddressError(host, port, *_why(error)) from error
            refused = error  # a name may stand for an IPv6 address that this machine lacks
    if not opened:
        why = ("it stands for no address", "") if refused is None else _why(refused)
        raise AddressError(host, port, *why)
    return opened


def keep_from_forks(sockets: Sequence[socket.socket]) -> None:
    """Close *sockets* in every process this one forks: a model's own would keep the port taken."""
    os.register_at_fork(after_in_child=partial(_close, sockets))


def _addresses(host: str, port: int) -> list[tuple[int, str]]:
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise AddressError(host, port, f"the name is not known ({error})") from error
    return list(dict.fromkeys((int(family), str(where[0])) for family, *_, where in found))


def _listen(family: int, address: str, port: int) -> socket.socket:
    # The protocol is named: asyncio sets TCP_NODELAY only where it is, and without it every answer
    # on a kept connection waits 40 ms for the client's delayed acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address != "::"))
        _notice_dead_peers(listener)
        listener.bind((address, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def _notice_dead_peers(listener: socket.socket) -> None:
    """Have accepted connections closed about a minute after their peer vanished."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            with contextlib.suppress(OSError):
                listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


def _why(error: OSError) -> tuple[str, str]:
    return _WHY.get(error.errno or 0, (error.strerror or str(error), ""))


def _close(sockets: Sequence[socket.socket]) -> None:
    for each in sockets:
        each.close()
