"""The model alone, without network: the face, the alarms, the loop on a bare instance."""

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clock import Alarm, Clock, ClockState


@pytest.fixture
def model() -> Clock:
    model = Clock()
    model.load(None)
    model.state = ClockState()
    return model


def test_the_second_hand_moves(model: Clock) -> None:
    first, later = (model.face.draw(s, sweep=True) for s in (0.0, 15.0))
    assert first.shape == (480, 480, 3)
    # At 15 s the red hand points right, where there was paper.
    assert np.abs(later[240, 380].astype(int) - first[240, 380]).max() > 100


def test_a_due_alarm_rings_once(model: Clock) -> None:
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    model.send = send  # type: ignore[method-assign]
    model.set_alarm(seconds=0, label="tea")
    model.set_alarm(seconds=3000, label="later")
    asyncio.run(model._ring())
    asyncio.run(model._ring())
    assert sent == [Alarm(label="tea")]


def test_the_loop_ends_at_once_when_nobody_serves_it(model: Clock) -> None:
    asyncio.run(asyncio.wait_for(model.run(), 1))
