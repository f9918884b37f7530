"""What is asked again until the control plane is there, and for how long."""

import threading
import time
from collections.abc import Callable

import pytest

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError
from reactor_runtime.launcher.control_link import persist


def failing(times: int, calls: list[int]) -> Callable[[], None]:
    def call() -> None:
        calls.append(1)
        if len(calls) <= times:
            raise ControlPlaneAbsentError("http://x", "not yet")

    return call


def test_it_is_asked_again_until_it_answers() -> None:
    calls: list[int] = []
    persist(failing(2, calls), 60, threading.Event())
    assert len(calls) == 3


def test_patience_ends() -> None:
    calls: list[int] = []
    with pytest.raises(ControlPlaneAbsentError, match="not yet"):
        persist(failing(10**6, calls), 0, threading.Event())
    assert len(calls) <= 2


def test_stop_ends_it_at_once() -> None:
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    with pytest.raises(ControlPlaneAbsentError):
        persist(failing(10**6, []), 600, stop)
    assert time.monotonic() - began < 60


def test_a_refusal_is_not_asked_again() -> None:
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise ControlPlaneError(400, "no")

    with pytest.raises(ControlPlaneError):
        persist(call, 60, threading.Event())
    assert calls == [1]
