"""What needs no torch of the module that imports it."""

import random
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from reactor_runtime.distributed.process_group import at_start_of_threads, seed_generators


@pytest.fixture
def no_profile_afterwards() -> Iterator[None]:
    yield
    threading.setprofile(None)  # takes the hook away


@pytest.mark.usefixtures("no_profile_afterwards")
def test_every_thread_started_later_begins_with_the_act() -> None:
    acted: list[str] = []
    order: list[tuple[str, int]] = []

    def work() -> None:
        order.append((threading.current_thread().name, len(acted)))
        sum(range(10))

    at_start_of_threads(lambda: acted.append(threading.current_thread().name))
    for name in ("one", "two"):
        thread = threading.Thread(target=work, name=name)
        thread.start()
        thread.join()
    assert acted == ["one", "two"]
    assert order == [("one", 1), ("two", 2)]


@pytest.mark.parametrize("seed", [0, 7, 2**70])
def test_a_seed_makes_all_generators_alike(seed: int) -> None:
    drawn = []
    for _ in range(2):
        seed_generators(seed)
        drawn.append((random.random(), float(np.random.random())))
    assert drawn[0] == drawn[1]
