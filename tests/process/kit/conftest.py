"""Every test here runs the author's test kit on real processes and ends empty-handed."""

import gc
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.process.distributed.traces import leftovers

SETTLE_S = 5.0
OWN_FRAMES = ("open file", "/memfd:reactor-frames (deleted)")


def traces() -> Counter[tuple[str, object]]:
    found = leftovers()
    found.update(("thread", thread.name) for thread in threading.enumerate())
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    before = traces()
    yield
    if "own_group" in request.node.name:
        # The author's group, which its author never closes, lives as long as the logged traceback.
        before[OWN_FRAMES] += 1
    deadline = time.monotonic() + SETTLE_S
    while (left := traces() - before) and time.monotonic() < deadline:
        gc.collect()  # a model that failed may be held by its traceback until then
        time.sleep(0.02)
    assert left == Counter()
