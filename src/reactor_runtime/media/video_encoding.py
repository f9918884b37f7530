"""VideoEncoding: the life of one rendition's encoder.

Opened when a picture meets the first viewer, reopened when the pictures' size or the wanted
bitrate changes, closed when nobody has been subscribed for a while.
"""

from reactor_runtime.clock import Clock
from reactor_runtime.errors import EncoderError
from reactor_runtime.log import get_logger
from reactor_runtime.media.encoded_frame import EncodedFrame
from reactor_runtime.media.fan_out import FanOut
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.picture import Picture
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.shrinker import Shrinker
from reactor_runtime.media.threads import threads_for
from reactor_runtime.media.timeline import Shown
from reactor_runtime.media.track_figures import TrackFigures
from reactor_runtime.media.video_encoder import VIDEO_RATE, VideoEncoder, VideoFormat

_REFERENCE_PIXELS, _REFERENCE_FPS = 1280 * 720, 24
_GROWTH = 0.75  # twice the pixels want less than twice the bits
# Outside, a rate says little about the bits a picture needs.
_SLOWEST_FPS, _FASTEST_FPS = 10.0, 60.0
_LEAST_BITRATE = 150_000
_LEAST_OF_ALL = 60_000  # of any rung
_REOPEN_RATIO = 1.5
_REOPEN_AFTER_S = 10.0

log = get_logger(__name__)


class VideoEncoding:
    """Encodes what its lane shows. Used by that lane's thread alone.

    Args:
        rendition: Which track, in VP8 or H264, and how well.
        fan_out: Who gets the frames.
        shrinker: Makes the pictures of lower rungs.
        settings: Bitrates and threads.
        clock: Monotonic time.
        figures: Where it counts.
    """

    def __init__(
        self,
        rendition: Rendition,
        fan_out: FanOut,
        *,
        shrinker: Shrinker,
        settings: MediaSettings,
        clock: Clock,
        figures: TrackFigures,
    ) -> None:
        self.fan_out = fan_out
        self._rendition = rendition
        self._shrinker = shrinker
        self._settings = settings
        self._clock = clock
        self._figures = figures
        self._opened: tuple[VideoEncoder, VideoFormat, float] | None = None
        self._number = 0
        self._last_timestamp = -1
        self._failed_size: tuple[int, int] | None = None

    @property
    def closes_at(self) -> float | None:
        """Monotonic seconds at which the encoder should close, ``None`` while it is of use."""
        return self.fan_out.idle_at(self._settings.encoder_idle_s) if self._opened else None

    def encode(self, shown: Shown, media_time: float) -> EncodedFrame | None:
        """Return the frame of a picture, ``None`` when nobody could take it.

        Args:
            shown: The picture and its time.
            media_time: That time in seconds since the stream's epoch.
        """
        if not self.fan_out.viewers:
            return None
        if self.fan_out.is_clogged:
            self._figures.dropped(1, "loop_stalled")
            return None
        try:
            return self._encode(shown, media_time)
        except EncoderError as error:
            self._give_up(error)
            return None

    def close(self) -> None:
        """Close the encoder, if it is open; the next picture opens another."""
        self._opened = None
        self._figures.of(self._rendition).opened(False)

    def _give_up(self, error: EncoderError) -> None:
        """Close the encoder: the next one begins with the key frame that may be owed."""
        self.close()
        self.fan_out.note_key()
        self._figures.dropped(1, "encoder_failed")
        if error.size != self._failed_size:  # one line, not one per picture
            log.error("encoder_failed", track=self._rendition.track, error=str(error))
        self._failed_size = error.size

    def _encode(self, shown: Shown, media_time: float) -> EncodedFrame:
        begun = self._clock.now()
        due = self.fan_out.key_due
        picture = self._shrinker.shrink(shown.picture, self._rendition.rung)
        encoder = self._encoder(shown, picture, begun)
        timestamp = max(round(media_time * VIDEO_RATE), self._last_timestamp + 1)
        made = encoder.encode(picture, timestamp, key=due is not None and due <= begun)
        frame = EncodedFrame(
            track=self._rendition.track,
            codec=self._rendition.codec,
            rung=self._rendition.rung,
            data=made.bitstream,
            timestamp=timestamp,
            presented_at=shown.time,
            is_key=made.is_key,
            number=self._number,
            metadata=shown.picture.metadata,
        )
        self._number += 1
        self._last_timestamp = timestamp
        if frame.is_key:
            self.fan_out.note_key()
        ended = self._clock.now()
        self._figures.of(self._rendition).encoded(frame, ended - begun, ended)
        return frame

    def _encoder(self, shown: Shown, picture: Picture, now: float) -> VideoEncoder:
        wanted = self._wanted(shown, picture)
        if self._opened is not None:
            encoder, had, opened_at = self._opened
            ratio = wanted.bitrate / had.bitrate
            fits = 1 / _REOPEN_RATIO < ratio < _REOPEN_RATIO or now - opened_at < _REOPEN_AFTER_S
            if (had.width, had.height) == (wanted.width, wanted.height) and fits:
                return encoder
        encoder = VideoEncoder(self._rendition.codec, wanted)
        self._opened = (encoder, wanted, now)
        self._figures.of(self._rendition).opened(True)
        return encoder

    def _wanted(self, shown: Shown, picture: Picture) -> VideoFormat:
        emitted, (width, height) = shown.picture.size, picture.size
        rate = 1 / shown.length_s if shown.length_s > 0 else _FASTEST_FPS
        fps = min(max(rate, _SLOWEST_FPS), _FASTEST_FPS)
        return VideoFormat(
            width=width,
            height=height,
            fps=fps,
            bitrate=self._bitrate(emitted[0] * emitted[1], fps),
            threads=self._settings.encoder_threads or threads_for(width * height),
        )

    def _bitrate(self, pixels: int, fps: float) -> int:
        """Return the bits per second of this rung, for pictures emitted with so many pixels."""
        share = self._rendition.rung.bitrate_share
        return max(int(share * bitrate_for(pixels, fps, self._settings)), _LEAST_OF_ALL)


def bitrate_for(pixels: int, fps: float, settings: MediaSettings) -> int:
    """Return the bits per second that pictures of this size and rate are given."""
    size = (pixels / _REFERENCE_PIXELS * fps / _REFERENCE_FPS) ** _GROWTH
    return min(max(int(settings.bitrate * size), _LEAST_BITRATE), settings.max_bitrate)
