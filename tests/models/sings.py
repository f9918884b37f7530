"""Sing a 440 Hz tone in awkward ways: rates, types, channels and chunk lengths that fit nothing."""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reactor_runtime import Audio, InputState, Output, ReactorPipeline, event

HZ = 440


class SingState(InputState):
    wrong: str = ""


class Voice16(Audio):
    sample_rate = 16_000


class Voice44(Audio):
    sample_rate = 44_100


class Sings16(Output):
    voice: Voice16


class Sings44(Output):
    voice: Voice44


class Sings48(Output):
    voice: Audio


class Singer(ReactorPipeline):
    state: SingState
    output_class: ClassVar[type[Output]]
    rate, channels, chunk = 48_000, 1, 960
    dtype: ClassVar[type] = np.int16
    buffer_size = 12  # a quarter of a second: the machine has other things to do

    @event
    def sing_wrong(self, what: str) -> None:
        self.state.wrong = what

    def inference(self) -> Iterator[Output]:
        sung = turn = 0
        while True:
            turn += 1
            if self.state.wrong:
                yield self.output_class(voice=WRONG[self.state.wrong])
            elif turn % 5 == 0:
                yield self.output_class(voice=self.wave(sung, 0))  # an empty one between
            else:
                yield self.output_class(voice=self.wave(sung, self.chunk))
                sung += self.chunk

    def wave(self, start: int, samples: int) -> NDArray[np.generic]:
        """(channels, samples); int16 has the range of int16, float32 that of [-1, 1]."""
        wave = 0.3 * np.sin(2 * np.pi * HZ * (start + np.arange(samples)) / self.rate)
        sound = np.repeat(wave[None], self.channels, axis=0)
        return (sound * 32767).astype(np.int16) if self.dtype is np.int16 else sound.astype("f4")


WRONG = {
    "dtype": np.zeros((1, 960), np.complex64),
    "shape": np.zeros((960, 1, 1), np.int16),
}


class Int16At16(Singer):
    output_class, rate, chunk = Sings16, 16_000, 441


class FloatStereoAt44(Singer):
    output_class, rate, channels, chunk, dtype = Sings44, 44_100, 2, 1000, np.float32


class FloatSecondsAt48(Singer):
    output_class, rate, chunk, dtype = Sings48, 48_000, 48_000, np.float32
