"""AudioLane: sends the sound of every audio track in packets of 20 ms without a gap.

A packet leaves when its 20 ms are over: what was put in time for them is in it at its exact place,
and a pause is silence. Nobody subscribed: nothing is encoded, the sound passes by.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.clock import Clock
from reactor_runtime.media.audio_encoder import PACKET_SAMPLES
from reactor_runtime.media.audio_encoding import AudioEncoding
from reactor_runtime.media.lane import Lane, Work
from reactor_runtime.media.pacer import Pacer
from reactor_runtime.media.sample_line import RATE
from reactor_runtime.media.timeline import Said

_FAR_BEHIND = RATE // 2


class _Packet(NamedTuple):
    """The sound of one packet, and what was said of the sound that begins in it."""

    encoding: AudioEncoding
    samples: NDArray[np.int16]
    said: Sequence[Said]


class AudioLane(Lane):
    """One thread for all audio tracks: their packets share one rhythm.

    Attributes:
        encodings: One for each track.
    """

    def __init__(self, pacer: Pacer, encodings: Sequence[AudioEncoding], *, clock: Clock) -> None:
        super().__init__("audio", pacer, encodings, clock)
        self.encodings = encodings
        self._by_track = {encoding.track: encoding for encoding in encodings}
        self._position: int | None = None

    def forget(self) -> None:
        """Forget what was said of the last sound, as for a new session."""
        with self._pacer.changed:
            for encoding in self.encodings:
                encoding.forget_said()

    def take(self, now: float) -> Work | None:
        """Return the sending of one packet of every track somebody listens to."""
        for said in self._pacer.timeline.unsaid.take(now):
            self._by_track[said.track].say(said)
        heard = [encoding for encoding in self.encodings if encoding.is_heard]
        here = self._pacer.position(now)
        for encoding in self.encodings:
            if not encoding.is_heard:
                encoding.forget_said()
        if not heard:
            self._position = None
            return None
        if self._position is None or here - self._position > _FAR_BEHIND:
            self._position = here - here % PACKET_SAMPLES
        if here < self._position + PACKET_SAMPLES:
            return None
        position, self._position = self._position, self._position + PACKET_SAMPLES
        until = self._presented_at(self._position)
        packets = [
            _Packet(
                encoding,
                self._pacer.take_sound(encoding.track, position, PACKET_SAMPLES),
                encoding.take_said(until),
            )
            for encoding in heard
        ]
        return partial(self._send, packets, position)

    def dues(self) -> Sequence[float | None]:
        """Return when the next packet, or what was said of a sound, is due."""
        said_due = self._pacer.timeline.unsaid.due
        if self._position is None:
            return (said_due,)
        return (said_due, self._presented_at(self._position + PACKET_SAMPLES))

    def _presented_at(self, position: int) -> float:
        return self._pacer.epoch + position / RATE

    def _send(
        self, packets: Sequence[_Packet], position: int, loop: asyncio.AbstractEventLoop
    ) -> None:
        presented_at = self._presented_at(position)
        for encoding, samples, said in packets:
            frame = encoding.encode(samples, position, presented_at)
            if frame is not None:
                encoding.fan_out.post(frame, loop)
            encoding.tap_off(samples, presented_at, said)
