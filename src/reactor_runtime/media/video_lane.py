"""VideoLane: shows the pictures of one track when their time comes.

Besides those it shows the last one again: at once as a key frame for a viewer who joins, and a few
times when the stream rests, so that a still picture becomes sharp.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from reactor_runtime.clock import Clock
from reactor_runtime.media.lane import Lane, Work
from reactor_runtime.media.pacer import Pacer
from reactor_runtime.media.picture import make_black
from reactor_runtime.media.tap import Tap
from reactor_runtime.media.timeline import Shown
from reactor_runtime.media.track_figures import TrackFigures
from reactor_runtime.media.video_encoding import VideoEncoding

_LATE_S = 0.01
_REST_S = 0.5
_SHARPEN_EVERY_S = 0.1
_SHARPEN_TIMES = 4


class VideoLane(Lane):
    """One thread for one video track and its encoders.

    Attributes:
        track: Name of the output track.
        tap: Who takes its pictures besides the viewers; set before the start.
    """

    def __init__(
        self,
        track: str,
        pacer: Pacer,
        encodings: Sequence[VideoEncoding],
        *,
        clock: Clock,
        figures: TrackFigures,
    ) -> None:
        super().__init__(f"video-{track}", pacer, encodings, clock)
        self.track = track
        self._encodings = encodings
        self._figures = figures
        self._last: Shown | None = None
        self._is_blackout = False
        self._sharpen_left = 0
        self._sharpen_at = 0.0
        self.tap: Tap | None = None

    def cut_to_black(self) -> None:
        """Show black at once, if anything was shown before."""
        with self._pacer.changed:
            self._is_blackout = self._last is not None
            self._pacer.changed.notify_all()

    def forget(self) -> None:
        """Forget the last picture, as for a new session."""
        with self._pacer.changed:
            self._last, self._is_blackout = None, False

    def take(self, now: float) -> Work | None:
        """Return the showing of black, of the picture that is due, or of the last one again."""
        shown = self._black(now) or self._due(now)
        if shown is not None:
            self._last = shown
            self._sharpen_left, self._sharpen_at = _SHARPEN_TIMES, now + _REST_S
            return partial(self._show_new, shown)
        return self._again(now)

    def dues(self) -> Sequence[float | None]:
        """Return when the next picture, key frame and repetition are due."""
        times = [self._pacer.timeline.due(self.track)]
        if self._last is not None:
            times += [encoding.fan_out.key_due for encoding in self._encodings]
            times.append(self._sharpen_at if self._sharpen_left else None)
        return times

    def _black(self, now: float) -> Shown | None:
        if not self._is_blackout or self._last is None:
            return None
        self._is_blackout = False
        return replace(self._last, picture=make_black(*self._last.picture.size), time=now)

    def _due(self, now: float) -> Shown | None:
        shown = self._pacer.timeline.take(self.track, now)
        if shown is not None:
            self._figures.shown(now, is_late=shown.late_s > _LATE_S)
            self._figures.dropped(shown.skipped, "late")
            if shown.picture.metadata is not None:
                self._figures.metadata = shown.picture.metadata
        return shown

    def _again(self, now: float) -> Work | None:
        if self._last is None:
            return None
        owing = [
            encoding
            for encoding in self._encodings
            if (due := encoding.fan_out.key_due) is not None and due <= now
        ]
        if owing:
            self._sharpen_left = _SHARPEN_TIMES
        elif self._sharpen_left and self._sharpen_at <= now:
            self._sharpen_left -= 1
            owing = list(self._encodings)
        else:
            return None
        self._sharpen_at = max(now + _SHARPEN_EVERY_S, self._last.time + _REST_S)
        return partial(self._show, replace(self._last, time=now), owing)

    def _show_new(self, shown: Shown, loop: asyncio.AbstractEventLoop) -> None:
        self._show(shown, self._encodings, loop)
        if self.tap is not None and self.tap.is_open:
            self.tap.picture(shown)

    def _show(
        self, shown: Shown, encodings: Sequence[VideoEncoding], loop: asyncio.AbstractEventLoop
    ) -> None:
        for encoding in encodings:
            frame = encoding.encode(shown, shown.time - self._pacer.epoch)
            if frame is not None:
                encoding.fan_out.post(frame, loop)
