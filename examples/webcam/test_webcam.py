"""The hooks alone, without network: push frames, step, look at the picture."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from webcam import EffectState, Webcam

from reactor_runtime import ApplicationError, InputFrame, StepOutcome


@pytest.fixture
def model() -> Webcam:
    model = Webcam()
    model.state = EffectState()
    return model


def gradient() -> np.ndarray:
    return np.tile(np.arange(64, dtype=np.uint8)[None, :, None], (48, 1, 3))


def step(model: Webcam) -> np.ndarray:
    model.sources.camera.push(InputFrame(gradient()))
    output = model.process_output(StepOutcome(result=model.generate(model.process_input())))
    assert output is not None
    (picture,) = output.main_video
    return picture


def test_without_a_picture_the_step_is_refused(model: Webcam) -> None:
    with pytest.raises(ApplicationError):
        model.process_input()


def test_mirror_swaps_left_and_right(model: Webcam) -> None:
    assert np.array_equal(step(model), gradient()[:, ::-1])


@pytest.mark.parametrize("effect", ["none", "invert", "pixelate", "edges"])
def test_effects_keep_the_size(model: Webcam, effect: str) -> None:
    model.state.effect = effect  # type: ignore[assignment]
    picture = step(model)
    assert picture.shape == (48, 64, 3)
    assert np.array_equal(picture, gradient()) == (effect == "none")


def test_all_the_sound_since_the_last_picture_is_returned(model: Webcam) -> None:
    for _ in range(3):
        model.sources.microphone.push(InputFrame(np.full((1, 960), 500, np.int16)))
    model.sources.camera.push(InputFrame(gradient()))
    moment = model.process_input()
    assert moment.sound.shape == (1, 2880)


def test_a_late_step_shows_all_the_pictures_it_missed(model: Webcam) -> None:
    for _ in range(2):
        model.sources.camera.push(InputFrame(gradient()))
    model.sources.camera.push(InputFrame(gradient()[:, :32]))
    model.sources.camera.push(InputFrame(gradient()[:, :32]))
    shown = model.generate(model.process_input()).main_video
    assert shown.shape == (2, 48, 32, 3)


@pytest.mark.parametrize("voice", ["robot", "loud"])
def test_voices_change_the_sound(model: Webcam, voice: str) -> None:
    model.state.voice = voice  # type: ignore[assignment]
    model.sources.microphone.push(InputFrame(np.full((1, 960), 9000, np.int16)))
    model.sources.camera.push(InputFrame(gradient()))
    sound = model.generate(model.process_input()).main_audio
    assert sound.dtype == np.int16
    assert not np.array_equal(sound, np.full((1, 960), 9000))
