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
    """One picture and the sound since the last one."""

    picture: NDArray[np.uint8]
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
        """Take the newest picture and all the sound; refuse the step while there is no picture."""
        frames = self.sources.camera.try_read()
        if frames is None:
            raise ApplicationError("no new picture yet")
        microphone = self.sources.microphone
        heard = microphone.try_read(microphone.available, mode=ReadMode.FIFO)
        sound = np.concatenate([f.data for f in heard], axis=1) if heard else SILENCE
        # Picture and sound come from two clocks: what piled up beyond a tenth of a second is late.
        return Moment(frames[0].data, sound[:, -SAMPLE_RATE // 10 :])

    def generate(self, moment: Moment) -> Returned:
        """Apply the effects."""
        picture, sound = moment
        state = self.state
        if state.effect != "none":
            picture = effects.VIDEO[state.effect](picture, state.strength)
        if state.voice != "none":
            sound = effects.AUDIO[state.voice](sound, state.strength, self.samples, SAMPLE_RATE)
        self.samples += sound.shape[1]
        return Returned(main_video=picture, main_audio=sound)

    def process_output(self, outcome: StepOutcome) -> Returned | None:
        """Show what came out; a failure is raised, which ends the session and says so."""
        return outcome.to_output()
