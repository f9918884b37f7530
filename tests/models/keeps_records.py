"""Shows six pictures and their sound each step, and puts files and an error on record."""

import numpy as np
from tests.models.parts import flat

from reactor_runtime import (
    Audio,
    Idle,
    InputState,
    Output,
    ReactorModel,
    StepCompleted,
    StepOutcome,
    TrackPayload,
    Video,
)

FRAMES, FPS = 6, 24
SAMPLES = 48_000 * FRAMES // FPS


class Scene(Output):
    main_video: Video
    tone: Audio


class RecordState(InputState):
    is_idle: bool = False
    _step: int = 0


class KeepsRecords(ReactorModel):
    state: RecordState
    fps = FPS

    def generate(self, state: RecordState) -> object:
        if state.is_idle:
            return Idle
        state._step += 1
        level = 20 * state._step
        pictures = np.repeat(np.repeat(flat(level, frames=FRAMES), 30, axis=1), 30, axis=2)
        wave = 0.3 * np.sin(2 * np.pi * 440 * np.arange(SAMPLES) / 48_000)
        told = [{"level": level, "frame": n} for n in range(FRAMES)]
        return Scene(
            main_video=TrackPayload(pictures, metadata=told),
            tone=TrackPayload(wave[None].astype("f4"), metadata={"pitch": 440}),
        )

    def process_output(self, outcome: StepOutcome) -> object:
        if self.state.is_idle:
            return Idle
        number = self.state._step
        return StepCompleted(
            output=outcome.to_output(),
            files={"step number.txt": str(number).encode(), "page.html": b"<script>1</script>"},
            error="a little dark" if number == 1 else None,
        )
