"""LiveStream: everything between a model's chunks and encoded frames, for all its output tracks.

    model's thread            one lane per video track, one for sound        event loop
    put ─► convert ─► Pacer ──────────► due? ─► encode once ──────────────► FanOut ─► sinks

One timeline, one pacer, one encoder per rendition (track, codec, rung) while somebody needs it, one
delivery call per encoded frame on the event loop.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.errors import TrackError
from reactor_runtime.media.audio_encoding import AudioEncoding
from reactor_runtime.media.audio_lane import AudioLane
from reactor_runtime.media.chunk import Chunk
from reactor_runtime.media.chunk_converter import ChunkConverter
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.fan_out import FanOut, FrameSink
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import Pacer
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.media.shrinker import Shrinker
from reactor_runtime.media.subscription import Subscription
from reactor_runtime.media.tap import Tap
from reactor_runtime.media.track_figures import TrackFigures
from reactor_runtime.media.video_encoding import VideoEncoding
from reactor_runtime.media.video_lane import VideoLane
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind

_CODECS = {TrackKind.VIDEO: (Codec.VP8, Codec.H264), TrackKind.AUDIO: (Codec.OPUS,)}
_RUNGS = {TrackKind.VIDEO: tuple(Rung), TrackKind.AUDIO: (Rung.TOP,)}
_MOST_UNDELIVERED = {TrackKind.VIDEO: 8, TrackKind.AUDIO: 50}


class LiveStream:
    """Paces and encodes the output tracks of one model, once, for any number of viewers.

    ``put``, ``flush``, ``set_fps``, ``step_at`` and ``has_room`` may be called from any thread and
    never wait for a client or an encoder; ``subscribe`` and what it returns belong to the event
    loop. Before ``start`` and after ``stop`` there is always room and chunks vanish.

    Args:
        tracks: The model's tracks; those that flow out count.
        settings: Limits and choices.
        clock: Monotonic time.
        metrics: Where figures go.

    Attributes:
        converter: What copies the model's chunks.
        plays_until: Returns the monotonic time at which everything queued will have been shown.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        *,
        settings: MediaSettings,
        clock: Clock,
        metrics: Metrics | None = None,
    ) -> None:
        outputs = [track for track in tracks if track.direction is TrackDirection.OUT]
        metrics = metrics or Metrics()
        self._clock, self._is_running = clock, False
        self.converter = ChunkConverter(outputs, settings=settings, clock=clock)
        self._pacer = Pacer(
            self.converter.make_lines(),
            has_video=any(track.kind is TrackKind.VIDEO for track in outputs),
            settings=settings,
            clock=clock,
        )
        self.plays_until = partial(_end_of, self._pacer, clock)
        self._figures = {
            each.name: TrackFigures(each.name, renditions(each), metrics) for each in outputs
        }
        self._fan_outs = {
            rendition: FanOut(
                self._pacer.changed, clock=clock, most_undelivered=_MOST_UNDELIVERED[each.kind]
            )
            for each in outputs
            for rendition in renditions(each)
        }
        self._video = [
            self._video_lane(each, settings) for each in outputs if each.kind is TrackKind.VIDEO
        ]
        self._audio = self._audio_lanes(
            [each.name for each in outputs if each.kind is TrackKind.AUDIO], settings
        )
        metrics.stream_fps.set_function(partial(_fastest, self._figures.values(), clock))
        _publish(metrics, self._pacer, self._fan_outs)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the media threads; encoded frames are delivered on *loop*. Once per object."""
        self._is_running = True
        for lane in (*self._video, *self._audio):
            lane.start(loop)

    def stop(self) -> None:
        """End the media threads within a bound and close every encoder. Idempotent."""
        if not self._is_running:
            return
        self._is_running = False
        lanes = (*self._video, *self._audio)
        for lane in lanes:
            lane.tell_to_stop()
        for lane in lanes:
            lane.join()
        self._pacer.forget()

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        """Convert *chunk* and queue it. On return its arrays may be overwritten.

        It is queued even when there is no room: asking is the caller's part. *wanted* is asked in
        one step with the queueing; what is not wanted any more is converted for nothing.
        """
        if not self._is_running:
            return
        parts, origin = self.converter.convert(chunk)
        with self._pacer.changed:
            if wanted is not None and not wanted():
                return
            self._pacer.put(parts, origin)
        for name, frames in chunk.video.items():
            self._figures[name].emitted(len(frames))

    def note_dropped(self, chunk: Chunk) -> None:
        """Count the pictures of *chunk*, which found no room and whose author will not wait."""
        for name, frames in chunk.video.items():
            self._figures[name].dropped(len(frames), "no_room")

    def flush(self) -> None:
        """Drop everything queued and cut every video track to black at once."""
        self.converter.begin_anew()
        with self._pacer.changed:
            self._pacer.clear()
            _forget_metadata(self._figures.values())
            for lane in self._video:
                lane.cut_to_black()

    def reset(self) -> None:
        """Forget the session: queue, rate and last pictures go, nothing is shown."""
        self.converter.begin_anew()
        with self._pacer.changed:
            self._pacer.forget()
            _forget_metadata(self._figures.values())
            for lane in self._video:
                lane.forget()
            for sound in self._audio:
                sound.forget()

    def set_fps(self, fps: float) -> None:
        """Pin the rate (frames per second) and re-pace what is queued.

        Raises:
            ValueError: *fps* is not a positive number.
        """
        self._pacer.set_fps(fps)

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        """Return the monotonic time from which a step making *frames* may start.

        *coming* frames are on their way into the queue. ``None``: it has no room; the ``on_room``
        callbacks fire when it may have.
        """
        return self._pacer.step_at(frames, coming) if self._is_running else self._clock.now()

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now.

        When they do not, the ``on_room`` callbacks fire as soon as they may.
        """
        return not self._is_running or self._pacer.has_room(frames)

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback*, from any thread, whenever room may have appeared."""
        self._pacer.on_room(callback)

    def subscribe(
        self, rendition: Rendition, sink: FrameSink, *, urgent: bool = True
    ) -> Subscription:
        """Send the encoded frames of *rendition* to *sink*, on the event loop, from a key frame on.

        The first one is a key frame made at once from the last picture, if there is one; for
        somebody who has pictures, and is not *urgent*, when others' requests allow.

        Raises:
            TrackError: There is no output track of that name, or the codec cannot carry it.
        """
        fan_out = self._fan_outs.get(rendition)
        if fan_out is None:
            track, codec, _ = rendition
            known = track in self._figures
            raise TrackError(track, f"{codec} cannot carry it" if known else "no such output track")
        return fan_out.subscribe(sink, urgent=urgent)

    def give_to(self, tap: Tap, tracks: Collection[str]) -> None:
        """Let *tap* have the pictures and the sound of *tracks* too. Before ``start``, one tap.

        Raises:
            TrackError: One of them is no output track.
        """
        for name in tracks:
            if name not in self._figures:
                raise TrackError(name, "no such output track")
        for lane in self._video:
            if lane.track in tracks:
                lane.tap = tap
        for sound in (encoding for lane in self._audio for encoding in lane.encodings):
            if sound.track in tracks:
                sound.tap = tap

    def stats(self) -> Mapping[str, Any]:
        """Return figures for operators: the queue and, per track, rates, encoders and metadata.

        ``fps`` is the rate of what was shown, ``pacing_fps`` that at which the queue is to be.
        """
        now = self._clock.now()
        tracks: dict[str, dict[str, Any]] = {}
        for name, figures in self._figures.items():
            viewers = sum(_viewers(self._fan_outs, name, rung) for rung in Rung)
            tracks[name] = {"viewers": viewers, **figures.as_dict(now)}
        fps = _fastest(self._figures.values(), self._clock)
        return {"fps": fps, **self._pacer.stats(), "tracks": tracks}

    def _video_lane(self, track: Track, settings: MediaSettings) -> VideoLane:
        name, shrinker = track.name, Shrinker()
        figures = self._figures[name]
        encodings = [
            VideoEncoding(
                rendition,
                self._fan_outs[rendition],
                shrinker=shrinker,
                settings=settings,
                clock=self._clock,
                figures=figures,
            )
            for rendition in renditions(track)
        ]
        return VideoLane(name, self._pacer, encodings, clock=self._clock, figures=figures)

    def _audio_lanes(self, names: Sequence[str], settings: MediaSettings) -> list[AudioLane]:
        """Return one for all *names*; none without any, since each wakes with every picture."""
        if not names:
            return []
        encodings = [
            AudioEncoding(
                name,
                self._fan_outs[Rendition(name, Codec.OPUS)],
                settings=settings,
                clock=self._clock,
                figures=self._figures[name],
            )
            for name in names
        ]
        return [AudioLane(self._pacer, encodings, clock=self._clock)]


def renditions(track: Track) -> list[Rendition]:
    """Return what *track* may be encoded as, better rungs first: their viewers wait for nobody."""
    rungs, codecs = _RUNGS[track.kind], _CODECS[track.kind]
    return [Rendition(track.name, codec, rung) for rung in rungs for codec in codecs]


def _forget_metadata(figures: Iterable[TrackFigures]) -> None:
    for each in figures:
        each.metadata = None


def _publish(metrics: Metrics, pacer: Pacer, fan_outs: Mapping[Rendition, FanOut]) -> None:
    for track, codec, rung in fan_outs:
        metrics.queue_frames.labels(track).set_function(lambda: pacer.stats()["queue"])
        if codec.is_video:
            gauge = metrics.rung_viewers.labels(track, rung)
            gauge.set_function(partial(_viewers, fan_outs, track, rung))


def _fastest(figures: Iterable[TrackFigures], clock: Clock) -> float:
    now = clock.now()
    return max((each.fps(now) for each in figures), default=0.0)


def _viewers(fan_outs: Mapping[Rendition, FanOut], track: str, rung: Rung) -> int:
    outs = fan_outs.items()
    return sum(out.viewers for of, out in outs if (of.track, of.rung) == (track, rung))


def _end_of(pacer: Pacer, clock: Clock) -> float:
    with pacer.changed:
        return pacer.timeline.end(clock.now())
