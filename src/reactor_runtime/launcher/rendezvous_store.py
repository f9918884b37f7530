"""The store where the nodes of one attempt meet; the launcher's only door to torch.

Every call that may hang runs on a thread of its own under a deadline: torch's client waits for
ever for a listener that accepts and says nothing.
"""

import queue
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from reactor_runtime.errors import RendezvousError, SettingError
from reactor_runtime.host_port import join_host_port

T = TypeVar("T")
_LONG = timedelta(seconds=300)


class HeldStore:
    """A listening store that this process keeps until ``close``; the port is never let go."""

    def __init__(self, address: str, port: int | None) -> None:
        """Listen on *address* only, on *port* or one that the system picks.

        Raises:
            RendezvousError: The port is taken, or the address is none of this machine's.
        """
        from torch.distributed import TCPStore

        listener = _listen(address, port or 0)
        self.port: int = listener.getsockname()[1]
        self.endpoint = join_host_port(address, self.port)
        self._store: Any = TCPStore(
            address,
            self.port,
            None,
            True,
            _LONG,
            wait_for_workers=False,
            master_listen_fd=listener.detach(),
        )

    def close(self) -> None:
        """Stop listening; clients see their connections end."""
        self._store = None


class StoreClient:
    """One connection to the store of an attempt; keys are the attempt's own."""

    def __init__(self, endpoint: str, attempt_id: str, timeout_s: float) -> None:
        from torch.distributed import PrefixStore, TCPStore

        host, _, port = endpoint.rpartition(":")
        limit = timedelta(seconds=timeout_s)
        plain = TCPStore(host.strip("[]"), int(port), None, False, limit, wait_for_workers=False)
        self._store: Any = PrefixStore(f"reactor/{attempt_id}", plain)

    def set(self, key: str, value: str) -> None:
        """Write *value* under *key*."""
        self._store.set(key, value)

    def get(self, key: str) -> str:
        """Return what stands under *key*, waiting for it."""
        value: bytes = self._store.get(key)
        return value.decode()

    def has(self, key: str) -> bool:
        """Return whether *key* has been written."""
        return bool(self._store.check([key]))


def within(seconds: float, call: Callable[[], T], what: str, node_rank: int) -> T:
    """Return what *call* returns, on a thread that is left behind when it takes too long.

    Raises:
        RendezvousError: It failed or did not end within *seconds*.
    """
    answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer.put((True, call()))
        except Exception as error:  # noqa: BLE001 - torch's own kinds; handed to the waiter
            answer.put((False, error))

    threading.Thread(target=run, name=f"store:{what}", daemon=True).start()
    try:
        is_right, value = answer.get(timeout=seconds)
    except queue.Empty:
        raise RendezvousError(node_rank, f"{what}: no answer within {seconds:g} s") from None
    if not is_right:
        if isinstance(value, RendezvousError):
            raise value
        text = str(value).splitlines()[0] if str(value) else type(value).__name__
        raise RendezvousError(node_rank, f"{what}: {text}") from value
    result: T = value
    return result


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(1024)
    except OSError as error:
        listener.close()
        reason = f"cannot listen on {address} port {port or '(any)'}: {error.strerror}"
        raise RendezvousError(0, reason) from error
    return listener


def visible_devices() -> tuple[str, ...]:
    """Return the ids of the CUDA devices, loading torch so that no task has to wait for it.

    Raises:
        SettingError: There is no torch.
    """
    try:
        import torch
        import torch.distributed
    except ImportError as error:
        wanted = f"it for its torchrun: pip install torch ({error})"
        raise SettingError("torch", "no such package", wanted) from error
    if not torch.cuda.is_available():
        return ()
    found = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    return tuple(str(getattr(each, "uuid", number)) for number, each in enumerate(found))
