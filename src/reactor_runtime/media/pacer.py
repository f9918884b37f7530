"""Pacer: the one timeline of a model's output, shared by the threads that fill and empty it.

The model's thread puts chunks in and asks when to make the next one; the lanes (one thread per
video track, one for all sound) take out what is due and sleep on ``changed`` in between. Nothing
here converts, encodes or waits for either.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.clock import Clock
from reactor_runtime.media.frame_rate import FrameRate
from reactor_runtime.media.late_gate import GateReading, LateGate
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.room import Room
from reactor_runtime.media.sample_line import RATE, SampleLine
from reactor_runtime.media.timeline import QueuedChunk, Timeline

_KEPT_SOUND_S = 1.0
_LATE_S = 0.01
_NEW_RATE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOrigin:
    """How one chunk came to be.

    Attributes:
        started_at: Monotonic seconds at which its step began.
        compute_s: Seconds of compute it stands for.
        pinned_fps: The author's fps, if any.
        sound_s: Seconds of sound in it.
        arrived_at: Monotonic seconds at which its conversion began.
    """

    started_at: float
    arrived_at: float
    compute_s: float
    pinned_fps: float | None
    sound_s: float


class Pacer:
    """Decides when each picture and sound is shown, and when the next step may start.

    Args:
        lines: Where the sound of each audio track goes.
        has_video: Whether the model has a video track; else room is measured in sound.
        settings: Its limits on rate and queue.
        clock: Monotonic time.

    Attributes:
        changed: Held for every look at the timeline; notified whenever it changed.
        timeline: When everything queued is shown.
        epoch: Monotonic seconds at which media time is 0.
    """

    def __init__(
        self,
        lines: Mapping[str, SampleLine],
        *,
        has_video: bool,
        settings: MediaSettings,
        clock: Clock,
    ) -> None:
        self.changed = threading.Condition()
        self.epoch = clock.now()
        self._lines = lines
        self._clock = clock
        self._rate = FrameRate(settings.max_fps)
        self._gate = LateGate()
        self.timeline = Timeline()
        self._room = Room(self.timeline, bound=settings.buffer_frames, has_video=has_video)
        self._refused_at: float | None = None
        self._late_chunks = 0

    # --- the model's side ---

    def put(self, parts: QueuedChunk, origin: ChunkOrigin) -> None:
        """Queue one converted chunk; one without pictures and sound is ignored."""
        if not parts.frames and not origin.sound_s:
            return
        with self.changed:
            now = self._clock.now()
            self._learn_rate(parts, origin, now)
            parts.duration = origin.sound_s or parts.frames / self._rate.fps
            late = self.timeline.put(parts, now)
            self._late_chunks += late > _LATE_S
            self._gate.note(
                GateReading(
                    started_at=origin.started_at,
                    queued_at=self._ready(origin, now),
                    late_s=late,
                    horizon_s=self._room.horizon(parts),
                )
            )
            self._refused_at = None
            self._hand_out_sound(now)
            self.changed.notify_all()

    def clear(self) -> None:
        """Drop everything queued; what comes next is shown at once."""
        with self.changed:
            now = self._clock.now()
            self.timeline.clear(now)
            self._gate.withdraw()
            for line in self._lines.values():
                line.cut(self.position(now))
            self.changed.notify_all()
        self._room.tell()

    def forget(self) -> None:
        """Start over, as for a new session; how long steps take is remembered."""
        with self.changed:
            self.timeline.forget()
            self._rate.forget()
            self._gate.withdraw()
            for line in self._lines.values():
                line.cut(self.position(self._clock.now()))
            self.changed.notify_all()
        self._room.tell()

    def set_fps(self, fps: float) -> None:
        """Pin the rate and re-pace what is queued.

        Raises:
            ValueError: *fps* is not a positive number.
        """
        with self.changed:
            self._rate.pin(fps)
            self.timeline.repace(self._rate.fps, self._clock.now())
            self._gate.withdraw()
            self.changed.notify_all()
        self._room.tell()

    def step_at(self, frames: int, coming: int = 0) -> float:
        """Return the monotonic time from which a step making *frames* may start.

        Args:
            frames: What it will make.
            coming: Frames that are on their way into the queue, and will last as long as usual.
        """
        with self.changed:
            now = self._clock.now()
            dry_at = self.timeline.end(now) + coming / self._rate.fps
            roomy = self._room.free_at(frames, now, coming, 1 / self._rate.fps) - self._gate.lead
            return max(self._gate.start_at(dry_at, now), roomy)

    def has_room(self, frames: int) -> bool:
        """Return whether *frames* more frames fit the queue now."""
        with self.changed:
            now = self._clock.now()
            if self._room.ask(frames, now):
                return True
            if self._refused_at is None:
                self._refused_at = now
            self.changed.notify_all()  # a lane must look again in time
            return False

    def on_room(self, callback: Callable[[], None]) -> None:
        """Call *callback* whenever room may have appeared."""
        self._room.on_room(callback)

    def ask_again(self) -> None:
        """Have whoever waits for room, or for the time of a step, ask again."""
        self._room.tell()

    def stats(self) -> Mapping[str, Any]:
        """Return the rate, the queue and what the late gate has learned."""
        with self.changed:
            return {
                "pacing_fps": self._rate.fps,
                "queue": self.timeline.frames,
                "lead_ms": 1000 * self._gate.lead,
                "late_chunks": self._late_chunks,
            }

    # --- the lanes' side; they hold ``changed`` ---

    def take_sound(self, track: str, position: int, count: int) -> NDArray[np.int16]:
        """Remove and return *count* samples of *track* from *position* on."""
        self._hand_out_sound(self.epoch + (position + count) / RATE)
        return self._lines[track].take(position, count)

    def position(self, when: float) -> int:
        """Return *when* (monotonic seconds) in samples of 48 kHz."""
        return round((when - self.epoch) * RATE)

    def announce_room(self, now: float) -> float | None:
        """Tell whoever was refused room if there is some now, else return when to look again."""
        return self._room.announce(now)

    def _learn_rate(self, parts: QueuedChunk, origin: ChunkOrigin, now: float) -> None:
        before = self._rate.fps
        self._rate.note(parts.frames, origin.compute_s, origin.pinned_fps)
        if abs(self._rate.fps / before - 1) > _NEW_RATE:  # a first step may have measured badly
            self.timeline.repace(self._rate.fps, now)

    def _ready(self, origin: ChunkOrigin, now: float) -> float:
        """Return when the chunk could have been queued had there been room: waiting is no work."""
        if self._refused_at is None or self._refused_at < origin.started_at:
            return now
        return self._refused_at + now - origin.arrived_at

    def _hand_out_sound(self, until: float) -> None:
        for track, start, sound in self.timeline.take_sounds(until):
            self._lines[track].append(self.position(start), sound)
        for line in self._lines.values():
            line.drop_before(self.position(until - _KEPT_SOUND_S))
