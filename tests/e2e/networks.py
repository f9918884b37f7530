"""Three network namespaces in a row, as a client, a router and a server: to cut what lies between.

::

    client 10.214.1.2 ── 10.214.1.1 router 10.214.2.1 ── 10.214.2.2 server
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import pytest

CLIENT, ROUTER_NEAR, ROUTER_FAR, SERVER = "10.214.1.2", "10.214.1.1", "10.214.2.1", "10.214.2.2"
_CLONE_NEWNET = 0x40000000
T = TypeVar("T")


class Cut(StrEnum):
    """How a network fails."""

    UNPLUGGED = "unplugged"  # the client's own link goes down, and its machine knows
    SILENT = "silent"  # packets vanish on the way, and nobody is told
    ROAMED = "roamed"  # the client loses its address, and gets it back


def inside(namespace: str | None, work: Callable[[], T]) -> T:
    """Return what *work* returns, run in *namespace*; sockets it makes stay there."""
    if namespace is None:
        return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with Path("/run/netns", namespace).open("rb") as handle:
                if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), _CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where it is asked for
            errors.append(error)

    thread = threading.Thread(target=run)  # entering is for a whole thread, so it gets its own
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


@dataclass(frozen=True, kw_only=True)
class Networks:
    """The names of the namespaces, and what can be done to what joins them."""

    client: str
    router: str
    server: str

    def prefix(self, namespace: str) -> tuple[str, ...]:
        """Return what to put before a command to run it in *namespace*."""
        return ("ip", "netns", "exec", namespace)

    @contextlib.contextmanager
    def cut(self, cut: Cut) -> Iterator[None]:
        """Let nothing through between client and server until the block ends."""
        self._let_through(cut, on=False)
        try:
            yield
        finally:
            self._let_through(cut, on=True)

    def _let_through(self, cut: Cut, *, on: bool) -> None:
        if cut is Cut.SILENT:
            self.forward(on=on)
        elif cut is Cut.ROAMED and not on:
            _ip("-n", self.client, "addr", "flush", "dev", "eth0")
        elif cut is Cut.ROAMED:
            _ip("-n", self.client, "addr", "add", f"{CLIENT}/24", "dev", "eth0")
            _ip("-n", self.client, "route", "add", "default", "via", ROUTER_NEAR)
        else:
            _ip("-n", self.router, "link", "set", "near", "up" if on else "down")

    def forward(self, *, on: bool) -> None:
        """Have the router pass packets on, or drop them without a word."""
        switch = Path("/proc/sys/net/ipv4/ip_forward")
        inside(self.router, lambda: switch.write_text(str(int(on))))


@contextlib.contextmanager
def networks(*, forward: bool = True) -> Iterator[Networks]:
    """Make the namespaces; skips the test where that is not possible. Removes them at the end."""
    if os.getuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2 to make network namespaces")
    stem = f"rrn{os.getpid()}"
    made = Networks(client=f"{stem}c", router=f"{stem}r", server=f"{stem}s")
    names = (made.client, made.router, made.server)
    try:
        for name in names:
            _ip("netns", "add", name, may_skip=True)
            _ip("-n", name, "link", "set", "lo", "up")
        _cable(made.client, CLIENT, made.router, ROUTER_NEAR, "near")
        _cable(made.server, SERVER, made.router, ROUTER_FAR, "far")
        made.forward(on=forward)
        yield made
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _cable(name: str, address: str, router: str, gateway: str, end: str) -> None:
    peer = ("peer", "name", end, "netns", router)
    _ip("-n", name, "link", "add", "eth0", "type", "veth", *peer, may_skip=True)
    for namespace, link, own in ((name, "eth0", address), (router, end, gateway)):
        _ip("-n", namespace, "addr", "add", f"{own}/24", "dev", link)
        _ip("-n", namespace, "link", "set", link, "up")
    _ip("-n", name, "route", "add", "default", "via", gateway)


def _ip(*words: str, may_skip: bool = False) -> None:
    command: Sequence[str] = ("ip", *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and may_skip:
        pytest.skip(f"{' '.join(command)}: {done.stderr.strip()}")
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
