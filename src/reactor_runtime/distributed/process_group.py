"""What a rank does with torch: its device, the collective group, pinned memory.

The only module that imports torch, and only inside functions.
"""

import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reactor_runtime.world import World

FOR_EVER_S: Final = 10 * 365 * 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMembership:
    """How a rank joins the collective group.

    Attributes:
        backend: ``gloo`` or ``nccl``.
        store_file: Path of the file store, the same open file in every rank; empty to use
            ``store_port``.
        store_port: Port on this machine of the store the parent hosts, where there is no file.
        timeout_s: Seconds a collective may wait; 0 for no bound.
    """

    backend: str
    store_file: str = ""
    store_port: int = 0
    timeout_s: float = 0.0


def join_group(membership: GroupMembership, world: World) -> None:
    """Join the group every other rank joins; returns when all have.

    Raises:
        Exception: Whatever the backend raises.
    """
    import torch
    import torch.distributed as dist

    use_device(world.device)
    patience = timedelta(seconds=membership.timeout_s or FOR_EVER_S)
    if membership.store_file:
        store: Any = dist.FileStore(membership.store_file, world.world_size)
        store.set_timeout(patience)
    else:
        port = membership.store_port
        store = dist.TCPStore("127.0.0.1", port, None, False, patience)
    on_cuda = world.device.startswith("cuda") and membership.backend == "nccl"
    dist.init_process_group(
        membership.backend,
        store=store,
        rank=world.rank,
        world_size=world.world_size,
        timeout=patience,
        **({"device_id": torch.device(world.device)} if on_cuda else {}),
    )


def join_job(backend: str, device: str) -> bool:
    """Join the group of the job that torchrun's variables describe; ``False`` if it is joined.

    The time-out of its collectives is torch's default, which the launcher sets.
    """
    import torch
    import torch.distributed as dist

    if dist.is_initialized():
        return False
    use_device(device)
    more = {"device_id": torch.device(device)} if backend == "nccl" else {}
    dist.init_process_group(backend, **more)
    return True


def make_side_group() -> Any:
    """Return a group of all ranks for what is none of the author's business; on CPU, by gloo."""
    import torch.distributed as dist

    return dist.new_group(backend="gloo")


def gather_bytes(group: Any, content: bytes) -> list[bytes]:
    """Return the *content* of every rank, by rank, on all of them."""
    import torch
    import torch.distributed as dist

    world_size = dist.get_world_size(group)
    sizes = [torch.zeros(1, dtype=torch.int64) for _ in range(world_size)]
    dist.all_gather(sizes, torch.tensor([len(content)]), group=group)
    longest = max(int(size) for size in sizes)
    own = torch.zeros(longest, dtype=torch.uint8)
    own[: len(content)] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
    found = [torch.zeros(longest, dtype=torch.uint8) for _ in range(world_size)]
    dist.all_gather(found, own, group=group)
    return [each[: int(size)].numpy().tobytes() for each, size in zip(found, sizes, strict=True)]


def tell_number(group: Any, number: float) -> float:
    """Return rank 0's *number* on every rank."""
    import torch
    import torch.distributed as dist

    told = torch.tensor([number], dtype=torch.float64)
    dist.broadcast(told, 0, group=group)
    return float(told[0])


def send_array(group: Any, array: npt.NDArray[Any]) -> None:
    """Send a C-contiguous *array* to rank 0, which must ``receive_array`` it."""
    import torch
    import torch.distributed as dist

    dist.send(torch.from_numpy(array), 0, group=group)


def receive_array(group: Any, into: npt.NDArray[Any], rank: int) -> None:
    """Fill *into* with what *rank* sends."""
    import torch
    import torch.distributed as dist

    dist.recv(torch.from_numpy(into), rank, group=group)


def leave_group() -> None:
    """Meet all other ranks once more, then give the group up."""
    import torch.distributed as dist

    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


class HostedStore:
    """Where ranks meet on a machine without anonymous files: a store of this process, on loopback.

    Attributes:
        port: Where it listens.
    """

    def __init__(self) -> None:
        import torch.distributed as dist

        # Bound here: left to itself the store listens on every interface, and obeys anybody.
        listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = listener.getsockname()[1]
        self._store: Any = dist.TCPStore(
            "127.0.0.1",
            self.port,
            None,
            True,
            wait_for_workers=False,
            master_listen_fd=listener.detach(),
        )

    def close(self) -> None:
        """Stop listening."""
        self._store = None


def use_device(device: str) -> None:
    """Make *device* the current one, here and in every thread started later."""
    if not device.startswith("cuda") or "torch" not in sys.modules:
        return
    import torch

    index = int(device.partition(":")[2] or 0)
    torch.cuda.set_device(index)
    at_start_of_threads(lambda: torch.cuda.set_device(index))


def at_start_of_threads(act: Callable[[], None]) -> None:
    """Run *act* once in each thread that is started from now on, before its own code."""

    def hook(frame: FrameType, event: str, argument: object) -> None:
        sys.setprofile(None)
        act()

    threading.setprofile(hook)


def pin_memory(block: npt.NDArray[np.uint8]) -> bool:
    """Lock *block* for transfers from the device; ``False`` when that cannot be done."""
    import torch

    registered = torch.cuda.cudart().cudaHostRegister(block.ctypes.data, block.nbytes, 0)
    return int(registered) == 0


def unpin_memory(block: npt.NDArray[np.uint8]) -> None:
    """Undo ``pin_memory``."""
    import torch

    torch.cuda.cudart().cudaHostUnregister(block.ctypes.data)


def copy_from_device(target: npt.NDArray[Any], tensor: Any) -> None:
    """Start to copy a tensor on a device into *target*; see ``wait_for_device``."""
    import torch

    torch.from_numpy(target).copy_(tensor.detach(), non_blocking=True)


def wait_for_device() -> None:
    """Return once all copies have arrived."""
    import torch

    torch.cuda.current_stream().synchronize()
