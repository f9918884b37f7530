"""Timeline: when everything a model emitted is shown. One for all tracks of an output.

    chunk 1 (2 frames)   chunk 2 (2 frames and sound)   │ late │ chunk 3
    ├────────┬──────────┼───────────┬──────────────────┤······├─────────
                                     sound: as long as its samples

A chunk begins where the one before ends, or now if that is past: the timeline shifts, nothing is
skipped and nothing is caught up. Pure: time comes in as an argument.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.media.picture import Picture

_NEVER = float("-inf")
_LATE_S = 0.01  # a frame later than this (or than its own length) moves the timeline
_VERY_LATE_S = 0.25  # a frame with sound later than this gives way to the next one


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Metadata of a sound whose time has come.

    Attributes:
        track: Whose sound it is.
        time: Monotonic seconds at which the sound begins.
        metadata: What the author attached to it.
    """

    track: str
    time: float
    metadata: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A picture whose time has come.

    Attributes:
        picture: What to show.
        time: Monotonic seconds it belongs at.
        length_s: Seconds it is shown.
        late_s: Seconds by which it missed the time it had been given.
        skipped: Pictures before it that gave way, to stay with their sound.
    """

    picture: Picture
    time: float
    length_s: float
    late_s: float
    skipped: int = 0


class QueuedChunk:
    """One chunk on the timeline: what is left of it, and where it lies.

    Attributes:
        sounds: Its sound, by track.
        said: The metadata of its sounds, by track.
        frames: The most pictures any track has in it.
        start: Monotonic seconds at which it begins.
        duration: Seconds it lasts.
        is_fixed: Its sound has been handed out: it cannot move any more.
    """

    def __init__(
        self,
        pictures: Mapping[str, Sequence[Picture]],
        sounds: Mapping[str, NDArray[np.int16]],
        said: Mapping[str, Any] = MappingProxyType({}),
        *,
        duration: float = 0.0,
    ) -> None:
        self._left = {track: deque(some) for track, some in pictures.items()}
        self._counts = {track: len(some) for track, some in pictures.items()}
        self.sounds, self.said = sounds, said
        self.frames = max(self._counts.values(), default=0)
        self.start = 0.0
        self.duration = duration
        self.is_fixed = False

    @property
    def end(self) -> float:
        """Monotonic seconds at which it is over."""
        return self.start + self.duration

    @property
    def frames_left(self) -> int:
        """Pictures not yet shown, on the track that has most."""
        return max((len(some) for some in self._left.values()), default=0)

    @property
    def is_spent(self) -> bool:
        """Whether nothing of it is left to hand out."""
        return not self.frames_left and (self.is_fixed or not self.sounds)

    def due(self, track: str, ahead: int = 0) -> float | None:
        """Return the time of the picture of *track* that is *ahead* of the next one."""
        left, count = len(self._left.get(track, ())), self._counts.get(track, 0)
        if ahead >= left:
            return None
        return self.start + (count - left + ahead) * self.duration / count

    def length(self, track: str) -> float:
        """Return the seconds one picture of *track* is shown."""
        return self.duration / self._counts[track]

    def take(self, track: str) -> Picture:
        """Remove and return the next picture of *track*."""
        return self._left[track].popleft()

    def dues(self) -> Iterator[float]:
        """Yield the times of what is left on the track that has most."""
        step = self.duration / max(1, self.frames)
        for ahead in range(self.frames_left):
            yield self.end - (self.frames_left - ahead) * step

    def repace(self, fps: float, next_due: float) -> None:
        """Show what is left at *fps*, beginning at *next_due*."""
        self.duration = self.frames / fps
        self.start = next_due - (self.frames - self.frames_left) / fps


class Unsaid:
    """Metadata of sounds that have not begun. It is due when they begin, whoever hears them."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[QueuedChunk, str, Any]] = deque()

    @property
    def due(self) -> float | None:
        """When the next of it is due, ``None`` when there is none."""
        return self._waiting[0][0].start if self._waiting else None

    def put(self, chunk: QueuedChunk) -> None:
        """Append that of *chunk*, which lies on the timeline."""
        self._waiting += [(chunk, track, metadata) for track, metadata in chunk.said.items()]

    def take(self, now: float) -> list[Said]:
        """Remove and return what is due."""
        begun = list[Said]()
        while (due := self.due) is not None and due <= now:
            _, track, metadata = self._waiting.popleft()
            begun.append(Said(track=track, time=due, metadata=metadata))
        return begun

    def clear(self) -> None:
        """Forget it all."""
        self._waiting.clear()


class Timeline:
    """The queue of chunks and the time of each picture and sound in it.

    Attributes:
        unsaid: The metadata of its sounds.
    """

    def __init__(self) -> None:
        self._chunks: deque[QueuedChunk] = deque()
        self.unsaid = Unsaid()
        self._end = _NEVER
        self._last_due = _NEVER
        self._ends_with_sound = False

    @property
    def frames(self) -> int:
        """Pictures that wait for their time."""
        return sum(chunk.frames_left for chunk in self._chunks)

    def end(self, now: float) -> float:
        """Return when everything queued will have been shown; *now* if it has."""
        return max(self._end, now)

    def put(self, chunk: QueuedChunk, now: float) -> float:
        """Append *chunk* and return the seconds by which it came too late, 0 for the first one."""
        chunk.start = max(self._end, now)
        late = now - self._end if _NEVER < self._end < now else 0.0
        self._chunks.append(chunk)
        self.unsaid.put(chunk)
        self._end, self._ends_with_sound = chunk.end, bool(chunk.sounds)
        return late

    def due(self, track: str) -> float | None:
        """Return the time of the next picture of *track*, ``None`` when there is none."""
        chunk = self._next(track)
        return chunk.due(track) if chunk else None

    def sound_due(self) -> float | None:
        """Return when the next sound begins, ``None`` when none waits."""
        return next((c.start for c in self._chunks if c.sounds and not c.is_fixed), None)

    def drained_at(self, left: int, now: float) -> float:
        """Return when at most *left* pictures will wait."""
        dues = [due for chunk in self._chunks for due in chunk.dues()]
        return dues[-left - 1] if len(dues) > left else now

    def take(self, track: str, now: float) -> Shown | None:
        """Remove and return the picture of *track* whose time has come, if there is one."""
        chunk = self._next(track)
        due = chunk.due(track) if chunk else None
        if chunk is None or due is None or due > now:
            return None
        late, skipped = now - due, 0
        if chunk.is_fixed or not self._shift(chunk, late, track):
            while late > _VERY_LATE_S and (later := chunk.due(track, ahead=1)) and later <= now:
                chunk.take(track)
                due, late, skipped = later, now - later, skipped + 1
        else:
            due = now
        picture = chunk.take(track)
        self._last_due = max(self._last_due, due)
        self._drop_spent()
        length = chunk.length(track)
        return Shown(picture=picture, time=due, length_s=length, late_s=late, skipped=skipped)

    def take_sounds(self, until: float) -> list[tuple[str, float, NDArray[np.int16]]]:
        """Hand out the sound of every chunk that begins by *until*, as (track, start, samples)."""
        begun = []
        for chunk in self._chunks:
            if chunk.start > until:
                break
            if chunk.sounds and not chunk.is_fixed:
                chunk.is_fixed = True
                begun += [(track, chunk.start, sound) for track, sound in chunk.sounds.items()]
        if begun:
            self._drop_spent()
        return begun

    def repace(self, fps: float, now: float) -> None:
        """Show what is queued, sound apart, at *fps* from the next picture on."""
        next_due = max(self._last_due + 1 / fps, now)
        if not self._chunks:
            if self._end > now and not self._ends_with_sound:
                self._end = next_due
            return
        head = self._chunks[0]
        if not head.sounds:
            head.repace(fps, next_due)
        for chunk in self._chunks:
            if chunk is not head and not chunk.sounds:
                chunk.repace(fps, 0.0)
        self._lay()

    def clear(self, now: float) -> None:
        """Drop everything queued; what comes next is shown at once."""
        self._chunks.clear()
        self.unsaid.clear()
        self._end = min(self._end, now)

    def forget(self) -> None:
        """Start over, as for a new session."""
        self._chunks.clear()
        self.unsaid.clear()
        self._end = self._last_due = _NEVER

    def _next(self, track: str) -> QueuedChunk | None:
        return next((c for c in self._chunks if c.due(track) is not None), None)

    def _shift(self, chunk: QueuedChunk, late: float, track: str) -> bool:
        """Move *chunk* and all after it, if it is too late and none of them is fixed."""
        if late <= min(max(_LATE_S, chunk.length(track)), 5 * _LATE_S):
            return False
        behind = list(self._chunks)[self._chunks.index(chunk) :]
        if any(each.is_fixed for each in behind):
            return False
        chunk.start += late
        self._lay()
        return True

    def _lay(self) -> None:
        """Let every chunk begin where the one before ends, but never move a fixed one."""
        for before, chunk in zip(self._chunks, list(self._chunks)[1:], strict=False):
            if not chunk.is_fixed:
                chunk.start = before.end
        self._end = self._chunks[-1].end

    def _drop_spent(self) -> None:
        while self._chunks and self._chunks[0].is_spent:
            self._chunks.popleft()
