"""Emitter: from an author's ``Output`` to the stream, in order, as fast as there is room."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from reactor_runtime.clock import Clock
from reactor_runtime.host.chunk_of import chunk_of, frames_in
from reactor_runtime.host.host_outlet import Chunk, HostOutlet
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.turn_watch import TurnWatch
from reactor_runtime.model.output import Output
from reactor_runtime.model.tracks import Track

DEFAULT_FPS = 30.0


class Emissions(Protocol):
    """What an author's outlet needs of where emissions go: in process, or on a rank.

    Attributes:
        frames: Frames of the last chunk, which the next one is expected to have.
        pinned_fps: The author's rate; ``None`` while the measured one is used.
    """

    frames: int
    pinned_fps: float | None

    async def emit(self, output: Output, *, compute_time: float | None, drop: bool) -> None:
        """Show *output*."""
        ...

    def begin(self) -> None:
        """Note that work on the next chunk begins."""
        ...

    def flush(self) -> None:
        """Drop what was emitted before this call."""
        ...

    def look_again(self) -> None:
        """Let an ``emit`` that waits look again."""
        ...


class Emitter:
    """Belongs to the model's loop; ``flush`` may be called from any thread.

    Attributes:
        frames: Frames of the last chunk that was shown, which the next one is expected to have.
        pinned_fps: The author's rate; ``None`` while the measured one is used.
    """

    def __init__(
        self,
        outlet: HostOutlet,
        tracks: Mapping[str, Track],
        *,
        gate: Gate,
        watch: TurnWatch,
        clock: Clock,
    ) -> None:
        self.frames = 1
        self.pinned_fps: float | None = None
        self._began, self._owed_s = clock.now(), 0.0
        self._outlet, self._tracks = outlet, tracks
        self._gate, self._watch, self._clock = gate, watch, clock
        self._line = EmitLine()

    async def emit(self, output: Output, *, compute_time: float | None, drop: bool) -> None:
        """Show *output*; see ``ReactorModel.emit``.

        Raises:
            FrameError: A value cannot be a frame of its track.
        """
        measured_s = self._clock.now() - self._began + self._owed_s
        chunk = chunk_of(
            output,
            self._tracks,
            started_at=self._began,
            compute_s=measured_s if compute_time is None else compute_time,
            pinned_fps=self.pinned_fps,
        )
        if chunk is None:
            return
        if not self._gate.is_open:
            # A loop of nothing but emit() must not spin while nobody looks. Where no session is, no
            # clock but the machine's is sure to move.
            await asyncio.sleep(1 / (self.pinned_fps or DEFAULT_FPS))
        elif drop and self._line.order.locked():
            self._outlet.dropped(chunk)
        else:
            flushes = self._line.flushes
            async with self._line.order:
                if await self._has_room(chunk, flushes, drop):
                    self._put(chunk, flushes)
        self._began = self._clock.now()

    def begin(self) -> None:
        """Note that work on the next chunk begins; what was idled away before is no part of it."""
        self._began = self._clock.now()

    def flush(self) -> None:
        """Drop what was emitted before this call, an ``emit`` that still waits included."""
        self._line.flushes += 1
        self._outlet.flush()

    def look_again(self) -> None:
        """Let an ``emit`` that waits see whether there is room, or no reason to wait any more."""
        self._line.room.set()

    def _put(self, chunk: Chunk, flushes: int) -> None:
        began = self._clock.now()
        self._outlet.put(chunk, lambda: self._line.flushes == flushes)
        # A step is not over before its frames are converted; the next chunk bears that time.
        self._owed_s = self._clock.now() - began
        self.frames = frames_in(chunk)
        self._watch.first_step_is_over = True

    async def _has_room(self, chunk: Chunk, flushes: int, drop: bool) -> bool:
        while self._gate.is_open and self._line.flushes == flushes:
            self._line.room.clear()
            if self._outlet.has_room(frames_in(chunk)):
                return True
            if drop:
                self._outlet.dropped(chunk)
                return False
            with self._watch.waiting():
                await self._line.room.wait()
        return False


class EmitLine:
    """Those who wait to emit, first come first served, and the flushes that send them away."""

    def __init__(self) -> None:
        self.order = asyncio.Lock()
        self.room = asyncio.Event()
        self.flushes = 0
