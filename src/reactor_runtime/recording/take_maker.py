"""TakeMaker: opens the takes of one recording, all of them alike.

The first picture decides size and rate: every take must be playable behind the same head.
"""

from collections.abc import Callable

from reactor_runtime.media.threads import threads_for
from reactor_runtime.recording.mp4_writer import AudioTrack, VideoTrack
from reactor_runtime.recording.recording_settings import RecordingSettings
from reactor_runtime.recording.take import Take
from reactor_runtime.recording.tape import PictureShown, SoundHeard

_SLOWEST_FPS, _FASTEST_FPS = 10.0, 60.0

OpenTake = Callable[..., Take]


class TakeMaker:
    """Not for two threads at a time.

    Args:
        settings: What is recorded, and how.
        open_take: Opens the encoders: ``Take``, or what stands for it.
    """

    def __init__(self, settings: RecordingSettings, open_take: OpenTake = Take) -> None:
        self._settings, self._open_take = settings, open_take
        self._video: VideoTrack | None = None

    def may_begin_with(self, item: PictureShown | SoundHeard) -> bool:
        """Whether a take can begin with *item*: with a picture, where there are pictures."""
        return isinstance(item, PictureShown) or self._settings.video_track is None

    def make(self, first: PictureShown | SoundHeard) -> Take:
        """Return a take that begins with *first*."""
        settings = self._settings
        if self._video is None and isinstance(first, PictureShown):
            self._video = _video_track(first, settings)
        audio = AudioTrack(codec=settings.audio_codec, bitrate=settings.audio_bitrate)
        return self._open_take(
            first.at_s,
            chunk_s=settings.chunk_s,
            video=self._video,
            audio=None if settings.audio_track is None else audio,
        )


def _video_track(first: PictureShown, settings: RecordingSettings) -> VideoTrack:
    width, height = first.picture.size
    rate = 1 / first.length_s if first.length_s > 0 else _FASTEST_FPS
    return VideoTrack(
        size=(width, height),
        fps=min(max(rate, _SLOWEST_FPS), _FASTEST_FPS),
        crf=settings.crf,
        max_bitrate=settings.max_bitrate,
        threads=threads_for(width * height),
    )
