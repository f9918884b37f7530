"""A model that holds the interpreter lock: the server says so, once, with the cure."""

import re

from tests.e2e.serving import Served, serving
from tests.waiting import wait_for


def median_lag_s(served: Served) -> float:
    _, metrics = served.get("/metrics")
    (found,) = re.findall(r"^reactor_loop_lag_recent_seconds (\S+)$", metrics, re.MULTILINE)
    return float(found)


def test_a_model_that_holds_the_lock_is_warned_about_once() -> None:
    with serving("tests.models.holds_the_lock:HoldsTheLock") as served:
        wait_for(lambda: "event_loop_is_late" in served.log(), 60, served.log)
        assert median_lag_s(served) > 0.05
        assert served.get("/health")[0] == 200  # late, not lost
        assert served.stop() == 0
        log = served.log()
    assert log.count("event_loop_is_late") == 1
    assert "runtime.isolation: process" in log
