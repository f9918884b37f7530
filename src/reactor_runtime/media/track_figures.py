"""TrackFigures: what one output track did, for operators; kept here and in the metrics."""

from collections.abc import Iterable, Mapping
from typing import Any

from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.meter import Meter
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.json_value import brief_json

_MOST_TOLD = 1024  # characters of metadata


class EncoderFigures:
    """The figures of one encoder of one track."""

    def __init__(self, rendition: Rendition, metrics: Metrics) -> None:
        self._bits, self._frames, self._seconds = Meter(), Meter(), Meter()
        self._keys = 0
        self._encode_seconds = metrics.encode_seconds.labels(*rendition)
        self._encoded_bytes = metrics.encoded_bytes.labels(*rendition)
        self._key_frames = metrics.key_frames.labels(*rendition)
        self._open = metrics.encoders.labels(*rendition)

    def opened(self, is_open: bool) -> None:
        """Note whether there is an encoder now."""
        self._open.set(is_open)

    def encoded(self, frame: EncodedFrame, took_s: float, now: float) -> None:
        """Note one encoded frame that took *took_s* seconds."""
        size = len(frame.data)
        self._bits.add(8 * size, now)
        self._frames.add(1, now)
        self._seconds.add(took_s, now)
        self._encode_seconds.observe(took_s)
        self._encoded_bytes.inc(size)
        if frame.is_key:
            self._keys += 1
            self._key_frames.inc()

    def as_dict(self, now: float) -> Mapping[str, Any]:
        """Return the figures."""
        rate = self._frames.per_second(now)
        return {
            "fps": rate,
            "bitrate": self._bits.per_second(now),
            "encode_ms": 1000 * self._seconds.per_second(now) / rate if rate else 0.0,
            "frames": int(self._frames.total),
            "key_frames": self._keys,
        }


class TrackFigures:
    """The figures of one track and of its encoders.

    Attributes:
        metadata: The newest the author attached to what was shown or heard, ``None`` for none in
            this session or since the last cut to black.
    """

    def __init__(self, track: str, renditions: Iterable[Rendition], metrics: Metrics) -> None:
        self._track, self._metrics = track, metrics
        self._encoders = {each: EncoderFigures(each, metrics) for each in renditions}
        self._is_sound = any(each.codec is Codec.OPUS for each in self._encoders)
        self._shown = Meter()
        self.metadata: Any = None
        self._late = self._dropped = 0
        self._late_ticks = metrics.late_ticks.labels(track)

    def of(self, rendition: Rendition) -> EncoderFigures:
        """Return the figures of one encoder."""
        return self._encoders[rendition]

    def emitted(self, frames: int) -> None:
        """Note frames that came from the model."""
        # Not in __init__: a sound track has no frames, and no such figure.
        self._metrics.frames_emitted.labels(self._track).inc(frames)

    def shown(self, now: float, *, is_late: bool) -> None:
        """Note a frame whose time had come."""
        self._shown.add(1, now)
        if is_late:
            self._late += 1
            self._late_ticks.inc()

    def fps(self, now: float) -> float:
        """Return how many frames per second were shown in the last two whole seconds."""
        return self._shown.per_second(now)

    def dropped(self, frames: int, reason: str) -> None:
        """Note frames that were never encoded."""
        if frames:
            self._dropped += frames
            self._metrics.frames_dropped.labels(self._track, reason).inc(frames)

    def as_dict(self, now: float) -> Mapping[str, Any]:
        """Return the figures of the track.

        A sound has no pictures: what is said of those is left out. Those of its encoders are under
        ``codecs``: by codec, and lower rungs, once somebody needed them, by ``codec/rung``.
        ``metadata``, if there is some, is JSON text, cut with ``…`` after 1024 characters.
        """
        metadata = self.metadata
        encoders = {
            str(each.codec) if each.rung is Rung.TOP else f"{each.codec}/{each.rung}": found
            for each, figures in self._encoders.items()
            if (found := figures.as_dict(now))["frames"] or each.rung is Rung.TOP
        }
        shown = {"fps": self.fps(now), "frames": int(self._shown.total), "late": self._late}
        return {
            **({} if self._is_sound else shown),
            "dropped": self._dropped,
            "codecs": encoders,
            **({} if metadata is None else {"metadata": brief_json(metadata, _MOST_TOLD)}),
        }
