"""Every test here runs the author's test kit on real processes and ends empty-handed."""

import gc
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.process.distributed.traces import leftovers

SETTLE_S = 5.0


def traces() -> Counter[tuple[str, object]]:
    found = leftovers()
    found.update(("thread", thread.name) for thread in threading.enumerate())
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    before = traces()
    yield
    gc.collect()
    deadline = time.monotonic() + SETTLE_S
    while (left := traces() - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left == Counter()
