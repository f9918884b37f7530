"""Waiting for a condition that no event announces, on a loop or on a thread, with a deadline.

A deadline is for a machine that keeps up; one whose processors are booked n times over has n times
as long.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from tests.e2e.strain import strain

T = TypeVar("T")
DEADLINE_S = 30.0
EVERY_S = 0.005


def _nothing_to_say() -> str:
    return "it never held"


async def until(
    condition: Callable[[], Any],
    timeout_s: float = DEADLINE_S,
    otherwise: Callable[[], str] = _nothing_to_say,
) -> None:
    """Return once *condition* holds; fail with what *otherwise* says when it does not in time."""
    began = time.monotonic()
    while not condition():
        _check(began, timeout_s, otherwise)
        await asyncio.sleep(EVERY_S)


def wait_for(
    question: Callable[[], T | None],
    timeout_s: float = DEADLINE_S,
    otherwise: Callable[[], str] = _nothing_to_say,
) -> T:
    """Ask until the answer is true, and return it; fail as ``until`` does. Blocks the thread."""
    began = time.monotonic()
    while not (answer := question()):
        _check(began, timeout_s, otherwise)
        time.sleep(EVERY_S)
    return answer


def _check(began: float, timeout_s: float, otherwise: Callable[[], str]) -> None:
    waited_s = time.monotonic() - began
    assert waited_s < timeout_s * strain(), f"not within {waited_s:.1f} s: {otherwise()}"
