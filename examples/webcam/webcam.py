"""Webcam and microphone in, effects applied, both back: the three step hooks."""

from typing import Literal, NamedTuple

import effects
import numpy as np
from numpy.typing import NDArray

from reactor_runtime import (
    ApplicationError,
    Audio,
    InputField,
    InputState,
    MediaInput,
    Output,
    ReactorModel,
    ReadMode,
    StepOutcome,
    Video,
)

FPS = 30
SAMPLE_RATE = 48_000
SILENCE = np.zeros((1, SAMPLE_RATE // FPS), np.int16)


class EffectState(InputState):
    """What a viewer chooses."""

    effect: Literal["none", "mirror", "invert", "pixelate", "edges"] = InputField(
        default="mirror", description="What happens to the picture."
    )
    voice: Literal["none", "robot", "loud"] = InputField(
        default="none", description="What happens to the sound."
    )
    strength: float = InputField(default=0.5, ge=0, le=1, description="How much of it.")


class Sources(MediaInput):
    """What the viewer sends."""

    camera: Video
    microphone: Audio


class Returned(Output):
    """What the viewer gets back."""

    main_video: Video
    main_audio: Audio


class Moment(NamedTuple):
    """What came in since the last step."""

    pictures: list[NDArray[np.uint8]]
    sound: NDArray[np.int16]


class Webcam(ReactorModel):
    """Applies the chosen effects to whatever comes in."""

    state: EffectState
    sources: Sources
    fps = FPS

    def __init__(self) -> None:
        """Start at the first sample."""
        self.samples = 0

    def process_input(self) -> Moment:
        """Take the pictures and the sound since the last step; refuse it while there is no picture.

        The output lasts as long as its sound and spreads its pictures over it. So a step that comes
        late takes all the pictures of that time too: with the newest one alone, the picture would
        slow down, and stay slow. What piled up beyond a tenth of a second is too late to show.
        """
        camera, microphone = self.sources.camera, self.sources.microphone
        seen = camera.try_read(camera.available, mode=ReadMode.FIFO)
        if not seen:
            raise ApplicationError("no new picture yet")
        heard = microphone.try_read(microphone.available, mode=ReadMode.FIFO)
        sound = np.concatenate([f.data for f in heard], axis=1) if heard else SILENCE
        # A camera may change its size; pictures of one step have the newest one's.
        pictures = [f.data for f in seen[-FPS // 10 :] if f.data.shape == seen[-1].data.shape]
        return Moment(pictures, sound[:, -SAMPLE_RATE // 10 :])

    def generate(self, moment: Moment) -> Returned:
        """Apply the effects."""
        pictures, sound = moment
        state = self.state
        if state.effect != "none":
            pictures = [effects.VIDEO[state.effect](one, state.strength) for one in pictures]
        if state.voice != "none":
            sound = effects.AUDIO[state.voice](sound, state.strength, self.samples, SAMPLE_RATE)
        self.samples += sound.shape[1]
        return Returned(main_video=np.stack(pictures), main_audio=sound)

    def process_output(self, outcome: StepOutcome) -> Returned | None:
        """Show what came out; a failure is raised, which ends the session and says so."""
        return outcome.to_output()
