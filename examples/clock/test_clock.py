"""The face alone, and the clock with a viewer, without a network."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clock import FPS, SIDE, Clock
from face import Face

from reactor_runtime import CommandError
from reactor_runtime.testing import Message


def test_the_second_hand_moves() -> None:
    face = Face(SIDE)
    first, later = (face.draw(s, sweep=True) for s in (0.0, 15.0))
    # At 15 s the red hand points right, where there was paper.
    assert np.abs(later[240, 380].astype(int) - first[240, 380]).max() > 100


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_viewer_sees_the_face_and_hears_the_alarm(serve_model, world_size: int) -> None:
    client = serve_model(Clock, world_size=world_size).connect()
    first, second = client.frames("main_video", count=2)
    assert first.data.shape == (SIDE, SIDE, 3)
    assert second.time_s == pytest.approx(1 / FPS)
    client.send("set_alarm", {"seconds": 3000, "label": "later"})
    client.send("set_alarm", {"seconds": 0, "label": "tea"})
    assert client.message() == Message("alarm", {"label": "tea"})
    client.frames("main_video", count=5)
    assert len(client.messages) == 1


def test_another_hour_is_another_picture(serve_model) -> None:
    client = serve_model(Clock).connect()
    (here,) = client.frames("main_video")
    client.send("set_offset_hours", {"offset_hours": 6})
    (there,) = client.frames("main_video")
    assert np.abs(there.data.astype(int) - here.data).max() > 100
    with pytest.raises(CommandError, match="at most 14"):
        client.send("set_offset_hours", {"offset_hours": 15})
