"""The world with its viewers, without a network."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from worldlet import FPS, SAMPLES, Worldlet

from reactor_runtime import CommandError
from reactor_runtime.testing import Message


@pytest.mark.parametrize("world_size", [1, 2])
def test_every_turn_makes_a_picture_and_its_sound(serve_model, world_size: int) -> None:
    client = serve_model(Worldlet, world_size=world_size).connect()
    first, second = client.frames("main_video", count=2)
    assert first.data.shape == (360, 640, 3)
    assert second.time_s == pytest.approx(1 / FPS)
    assert not np.array_equal(first.data, second.data)
    sounds = client.frames("main_audio", count=2)
    assert [sound.data.shape for sound in sounds] == [(1, SAMPLES)] * 2
    assert [sound.time_s for sound in sounds] == [first.time_s, second.time_s]


def test_the_seed_makes_the_sound(serve_model) -> None:
    served = serve_model(Worldlet)
    heard = []
    for seed in (1, 1, 2):
        served.start_session(seed)
        heard.append(served.connect().frames("main_audio")[0].data)
        served.end_session()
    assert np.array_equal(heard[0], heard[1])
    assert not np.array_equal(heard[0], heard[2])


def test_the_text_makes_the_world_and_night_is_dark(serve_model) -> None:
    client = serve_model(Worldlet).connect()
    (valley,) = client.frames("main_video")
    client.send("set_world", {"world": "a jagged coast"})
    (coast,) = client.frames("main_video")
    assert np.abs(coast.data.astype(int) - valley.data).mean() > 3
    client.send("set_sun", {"sun": 0})
    assert client.frames("main_video")[0].data.mean() < 60


def test_travel_moves_and_tells_everybody(serve_model) -> None:
    served = serve_model(Worldlet)
    ada, bob = served.connect(), served.connect()
    ada.send("travel", {"place": "ridge"})
    assert bob.message() == Message("traveled", {"place": "ridge"})
    where = ada.send("where").body
    assert (where["x"], where["y"]) == (300, 120)
    with pytest.raises(CommandError, match="not on the map") as refusal:
        bob.send("travel", {"place": "nowhere"})
    assert refusal.value.code == "no_such_place"
