"""The effects on what a viewer sends, without a network."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from webcam import Webcam

from reactor_runtime.testing import WaitTimeoutError

GRADIENT = np.tile(np.arange(64, dtype=np.uint8)[None, :, None], (48, 1, 3))


def test_without_a_picture_there_is_nothing_to_show(serve_model) -> None:
    served = serve_model(Webcam)
    client = served.connect()
    client.push_frame("microphone", np.full((1, 960), 500, np.int16))
    with pytest.raises(WaitTimeoutError):
        client.frames("main_video", timeout=0.2)
    assert served.steps[-1].refused


@pytest.mark.parametrize("world_size", [1, 2])
def test_mirror_swaps_left_and_right(serve_model, world_size: int) -> None:
    client = serve_model(Webcam, world_size=world_size).connect()
    client.push_frame("camera", GRADIENT)
    (seen,) = client.frames("main_video")
    assert np.array_equal(seen.data, GRADIENT[:, ::-1])


@pytest.mark.parametrize("effect", ["none", "invert", "pixelate", "edges"])
def test_effects_keep_the_size(serve_model, effect: str) -> None:
    client = serve_model(Webcam).connect()
    client.send("set_effect", {"effect": effect})
    client.push_frame("camera", GRADIENT)
    (seen,) = client.frames("main_video")
    assert seen.data.shape == (48, 64, 3)
    assert np.array_equal(seen.data, GRADIENT) == (effect == "none")


def test_all_the_sound_since_the_last_picture_is_returned(serve_model) -> None:
    client = serve_model(Webcam).connect()
    for _ in range(3):
        client.push_frame("microphone", np.full((1, 960), 500, np.int16))
    client.push_frame("camera", GRADIENT)
    (heard,) = client.frames("main_audio")
    assert np.array_equal(heard.data, np.full((1, 2880), 500))


def test_a_late_step_shows_all_the_pictures_it_missed(serve_model) -> None:
    client = serve_model(Webcam).connect()
    for _ in range(2):
        client.push_frame("camera", GRADIENT)
    for _ in range(2):
        client.push_frame("camera", GRADIENT[:, :32])
    shown = client.frames("main_video", count=2)
    assert [frame.data.shape for frame in shown] == [(48, 32, 3)] * 2


@pytest.mark.parametrize("voice", ["robot", "loud"])
def test_voices_change_the_sound(serve_model, voice: str) -> None:
    client = serve_model(Webcam).connect()
    client.send("set_voice", {"voice": voice})
    said = np.full((1, 960), 9000, np.int16)
    client.push_frame("microphone", said)
    client.push_frame("camera", GRADIENT)
    (heard,) = client.frames("main_audio")
    assert heard.data.shape == said.shape
    assert not np.array_equal(heard.data, said)
