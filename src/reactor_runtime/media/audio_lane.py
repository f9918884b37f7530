"""AudioLane: sends the sound of every audio track in packets of 20 ms without a gap.

A packet leaves when its 20 ms are over: what was put in time for them is in it at its exact place,
and a pause is silence. Nobody subscribed: nothing is encoded, the sound passes by.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.clock import Clock
from reactor_runtime.media.audio_encoder import PACKET_SAMPLES, AudioEncoder
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.fan_out import FanOut
from reactor_runtime.media.lane import Lane, Work
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import Pacer
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.sample_line import RATE
from reactor_runtime.media.tap import Tap
from reactor_runtime.media.track_figures import TrackFigures

_FAR_BEHIND = RATE // 2


class AudioEncoding:
    """The life of one audio track's encoder. Used by the lane's thread alone.

    Attributes:
        track: Name of the output track.
        fan_out: Who gets the packets.
        tap: Who takes its sound besides the viewers; set before the start.
    """

    def __init__(
        self,
        track: str,
        fan_out: FanOut,
        *,
        settings: MediaSettings,
        clock: Clock,
        figures: TrackFigures,
    ) -> None:
        self.track = track
        self.fan_out = fan_out
        self._settings = settings
        self._clock = clock
        self._figures = figures
        self._of_encoder = figures.of(Rendition(track, Codec.OPUS))
        self._encoder: AudioEncoder | None = None
        self._number = 0
        self.tap: Tap | None = None

    @property
    def is_heard(self) -> bool:
        """Whether anybody takes its sound."""
        return bool(self.fan_out.viewers) or (self.tap is not None and self.tap.is_open)

    @property
    def closes_at(self) -> float | None:
        """Monotonic seconds at which the encoder should close, ``None`` while it is of use."""
        return self.fan_out.idle_at(self._settings.encoder_idle_s) if self._encoder else None

    def encode(
        self, samples: NDArray[np.int16], position: int, presented_at: float
    ) -> EncodedFrame | None:
        """Return the packet of *samples*, ``None`` when nobody could take it."""
        if not self.fan_out.viewers:
            return None
        if self.fan_out.is_clogged:
            self._figures.dropped(1, "loop_stalled")
            return None
        begun = self._clock.now()
        if self._encoder is None:
            self._encoder = AudioEncoder(self._settings.audio_bitrate)
            self._of_encoder.opened(True)
        frame = EncodedFrame(
            track=self.track,
            codec=Codec.OPUS,
            data=self._encoder.encode(samples, position),
            timestamp=position,
            presented_at=presented_at,
            is_key=True,
            number=self._number,
        )
        self._number += 1
        ended = self._clock.now()
        self._of_encoder.encoded(frame, ended - begun, ended)
        return frame

    def close(self) -> None:
        """Close the encoder, if it is open."""
        self._encoder = None
        self._of_encoder.opened(False)


class AudioLane(Lane):
    """One thread for all audio tracks: their packets share one rhythm.

    Attributes:
        encodings: One for each track.
    """

    def __init__(self, pacer: Pacer, encodings: Sequence[AudioEncoding], *, clock: Clock) -> None:
        super().__init__("audio", pacer, clock)
        self.encodings = encodings
        self._position: int | None = None

    def take(self, now: float) -> Work | None:
        """Return the sending of one packet of every track somebody listens to."""
        heard = [encoding for encoding in self.encodings if encoding.is_heard]
        here = self._pacer.position(now)
        if not heard:
            self._position = None
            return None
        if self._position is None or here - self._position > _FAR_BEHIND:
            self._position = here - here % PACKET_SAMPLES
        if here < self._position + PACKET_SAMPLES:
            return None
        position, self._position = self._position, self._position + PACKET_SAMPLES
        packets = [
            (encoding, self._pacer.take_sound(encoding.track, position, PACKET_SAMPLES))
            for encoding in heard
        ]
        return partial(self._send, packets, position)

    def wakes_at(self, now: float) -> float | None:
        """Return when the next packet or closing is due."""
        for encoding in self.encodings:
            if (closes_at := encoding.closes_at) is not None and closes_at <= now:
                encoding.close()
        times = [encoding.closes_at for encoding in self.encodings]
        if self._position is not None:
            times.append(self._pacer.epoch + (self._position + PACKET_SAMPLES) / RATE)
        return min((at for at in times if at is not None), default=None)

    def close(self) -> None:
        """Close the encoders."""
        for encoding in self.encodings:
            encoding.close()

    def _send(
        self,
        packets: Sequence[tuple[AudioEncoding, NDArray[np.int16]]],
        position: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        presented_at = self._pacer.epoch + position / RATE
        for encoding, samples in packets:
            frame = encoding.encode(samples, position, presented_at)
            if frame is not None:
                encoding.fan_out.post(frame, loop)
            if encoding.tap is not None and encoding.tap.is_open:
                encoding.tap.sound(presented_at, samples)
