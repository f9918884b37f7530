"""AudioEncoding: the life of one audio track's encoder.

Opened by the first sound that meets a viewer, closed when nobody has been subscribed for a while.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.clock import Clock
from reactor_runtime.media.audio_encoder import AudioEncoder
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.fan_out import FanOut
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.tap import Tap
from reactor_runtime.media.timeline import Said
from reactor_runtime.media.track_figures import TrackFigures


class AudioEncoding:
    """Encodes the sound of one track. Used by the lane's thread alone.

    What was said of the sound may be forgotten by another: whoever touches it holds ``changed``.

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
        self._said = deque[Said]()
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

    def say(self, said: Said) -> None:
        """Note what the author said of its sound that begins; a tap gets it with that sound."""
        self._figures.metadata = said.metadata
        if self.tap is not None and self.tap.is_open:
            self._said.append(said)

    def take_said(self, until: float) -> Sequence[Said]:
        """Remove and return what was said of sound that begins before *until*, monotonic s."""
        taken = list[Said]()
        while self._said and self._said[0].time < until:
            taken.append(self._said.popleft())
        return taken

    def forget_said(self) -> None:
        """Forget what was said of sound that no tap will get."""
        self._said.clear()

    def tap_off(
        self, samples: NDArray[np.int16], presented_at: float, said: Sequence[Said]
    ) -> None:
        """Give its tap, if one is open, the packet of *samples* and what was said of it."""
        if self.tap is not None and self.tap.is_open:
            self.tap.sound(presented_at, samples, said)

    def close(self) -> None:
        """Close the encoder, if it is open."""
        self._encoder = None
        self._of_encoder.opened(False)
