"""Copying pixels into shared memory, from arrays and from tensors on any device."""

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt


class PixelCopies:
    """Copies into mapped slots; from a CUDA device through pinned pages.

    Args:
        device: The rank's device.
    """

    def __init__(self, device: str = "cpu") -> None:
        self._pins = device.startswith("cuda")
        self._pinned: set[int] = set()
        self._on_the_way = False

    def pin(self, mapping: mmap.mmap) -> None:
        """Lock a slot's pages for the device, where there is one."""
        if self._pins:
            from reactor_runtime.distributed.process_group import pin_memory

            if pin_memory(np.frombuffer(mapping, np.uint8)):
                self._pinned.add(id(mapping))

    def unpin(self, mapping: mmap.mmap) -> None:
        """Undo ``pin``."""
        if id(mapping) in self._pinned:
            from reactor_runtime.distributed.process_group import unpin_memory

            self._pinned.discard(id(mapping))
            unpin_memory(np.frombuffer(mapping, np.uint8))

    def copy(self, target: npt.NDArray[Any], pixels: Any) -> None:
        """Copy *pixels*; what comes from a device has arrived after ``wait``."""
        if getattr(pixels, "is_cuda", False):
            from reactor_runtime.distributed.process_group import copy_from_device

            copy_from_device(target, pixels)
            self._on_the_way = True
        else:
            np.copyto(target, as_array(pixels), casting="no")

    def wait(self) -> None:
        """Return once every copy has arrived."""
        if self._on_the_way:
            from reactor_runtime.distributed.process_group import wait_for_device

            wait_for_device()
            self._on_the_way = False


def as_array(pixels: Any) -> npt.NDArray[Any]:
    """Return *pixels*, an array or a tensor in ordinary memory, as an array."""
    if isinstance(pixels, np.ndarray):
        return pixels
    tensor = pixels.detach() if hasattr(pixels, "detach") else pixels
    return np.asarray(tensor)


def dtype_of(pixels: Any) -> str:
    """Return the numpy name of the type of an array or a tensor."""
    return str(pixels.dtype).removeprefix("torch.")


def is_pixels(value: object) -> bool:
    """Tell arrays and tensors from everything else a worker may return."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not np.isscalar(value)
