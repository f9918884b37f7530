"""The model alone, without network: construct, load, step, command."""

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from worldlet import Traveled, Worldlet, WorldState

from reactor_runtime import CommandError


@pytest.fixture
def model() -> Worldlet:
    model = Worldlet()
    model.load(None)
    model.state = WorldState()
    return model


def test_every_turn_makes_a_picture_and_its_sound(model: Worldlet) -> None:
    frames = model.inference()
    first, second = next(frames), next(frames)
    assert first.main_video.shape == (360, 640, 3)
    assert first.main_video.dtype == np.uint8
    assert first.main_audio.shape == (1, 2000)
    assert not np.array_equal(first.main_video, second.main_video)


def test_the_same_seed_gives_the_same_sound(model: Worldlet) -> None:
    one, other = next(model.inference()), next(model.inference())
    assert np.array_equal(one.main_audio, other.main_audio)


def test_the_text_makes_the_world(model: Worldlet) -> None:
    frames = model.inference()
    before = next(frames).main_video
    model.state.world = "a jagged coast"
    assert np.abs(next(frames).main_video.astype(int) - before).mean() > 3


def test_night_is_dark(model: Worldlet) -> None:
    model.state.sun = 0.0
    assert next(model.inference()).main_video.mean() < 60


def test_travel_moves_and_tells_everybody(model: Worldlet) -> None:
    sent: list[object] = []

    async def send(message: object) -> None:
        sent.append(message)

    model.send = send  # type: ignore[method-assign]
    asyncio.run(model.travel("ridge"))
    assert (model.where().x, model.where().y) == (300.0, 120.0)
    assert sent == [Traveled(place="ridge")]


def test_travel_refuses_what_is_not_on_the_map(model: Worldlet) -> None:
    with pytest.raises(CommandError, match="no_such_place"):
        asyncio.run(model.travel("nowhere"))
