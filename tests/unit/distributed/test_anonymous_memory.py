"""Memory without a name."""

import fcntl
import gc
import mmap
import os

import numpy as np
import pytest

from reactor_runtime.distributed.anonymous_memory import (
    AnonymousMemory,
    free_bytes,
    map_private,
    map_shared,
)
from reactor_runtime.distributed.group_limits import GroupLimits
from reactor_runtime.distributed.warm_copies import WarmCopies
from reactor_runtime.errors import MemoryShortError


def test_a_block_is_shared_by_its_descriptor_and_has_no_name() -> None:
    before = set(os.listdir("/dev/shm"))
    block = AnonymousMemory.create("test", 8192)
    other = map_shared(block.descriptor, 8192)
    private = map_private(block.descriptor, 8192)
    block.mapping[:4] = b"here"
    assert other[:4] == private[:4] == b"here"
    private[:4] = b"mine"
    assert other[:4] == b"here"
    assert {name for name in os.listdir("/dev/shm") if "test" in name} <= before
    block.close()
    block.close()
    assert other[:4] == b"here"


def test_a_machine_without_anonymous_files_has_blocks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    block = AnonymousMemory.create("test", 8192)
    other = map_shared(block.descriptor, 8192)
    block.mapping[:4] = b"here"
    assert other[:4] == b"here"
    assert os.readlink(f"/proc/self/fd/{block.descriptor}").endswith("(deleted)")
    block.close()


def test_nobody_can_take_the_memory_from_under_a_reader() -> None:
    block = AnonymousMemory.create("test", 8192)
    with pytest.raises(OSError, match="not permitted"):
        os.ftruncate(block.descriptor, 0)
    seals = fcntl.fcntl(block.descriptor, fcntl.F_GET_SEALS)
    assert seals & fcntl.F_SEAL_SHRINK
    block.close()


def test_what_is_not_there_is_refused_before_it_is_touched() -> None:
    with pytest.raises(MemoryShortError) as caught:
        AnonymousMemory.create("test", 1 << 50)
    assert caught.value.needed_bytes == 1 << 50
    assert 0 < caught.value.free_bytes < 1 << 50
    assert free_bytes() > 0


def test_copies_are_apart_and_their_memory_is_used_again() -> None:
    copies = WarmCopies()
    source = memoryview(bytes(range(256)) * mmap.PAGESIZE)
    first, second = copies.of(source), copies.of(source)
    np.frombuffer(memoryview(first), np.uint8)[:] = 0
    assert bytes(memoryview(second)[:3]) == b"\0\1\2"
    address = np.frombuffer(memoryview(first), np.uint8).ctypes.data
    del first
    gc.collect()
    third = copies.of(source)
    assert np.frombuffer(memoryview(third), np.uint8).ctypes.data == address
    assert bytes(memoryview(third)) == source.tobytes()


@pytest.mark.parametrize(
    ("limits", "collective_s"),
    [
        ({}, 1830.0),
        ({"load_s": 10.0, "first_turn_s": 30.0, "turn_s": 60.0}, 90.0),
        ({"load_s": 10.0, "turn_s": 60.0}, 630.0),
        ({"turn_s": 0.0}, 0.0),
        ({"turn_s": 0.0, "comm_s": 7.0}, 7.0),
    ],
)
def test_a_collective_outlasts_what_names_the_culprit(
    limits: dict[str, float], collective_s: float
) -> None:
    assert GroupLimits(**limits).collective_s == collective_s
