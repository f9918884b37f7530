"""What needs no torch of the module that imports it."""

import threading
from collections.abc import Iterator

import pytest

from reactor_runtime.distributed.process_group import at_start_of_threads


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
