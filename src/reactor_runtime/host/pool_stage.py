"""PoolStage: from what the ranks emitted to the stream, in order, as fast as there is room."""

import threading
from collections.abc import Sequence
from functools import partial

from reactor_runtime.clock import Clock
from reactor_runtime.distributed.call_result import CallResult
from reactor_runtime.host.chunk_assembly import assemble, outputs_of, place_of, stray_rank
from reactor_runtime.host.chunk_in_flight import ChunkInFlight
from reactor_runtime.host.chunk_of import frames_in
from reactor_runtime.host.host_outlet import Chunk, HostOutlet
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.rank_messages import Emitted, Place
from reactor_runtime.log import get_logger

log = get_logger(__name__)

_POLL_S = 1.0


class PoolStage:
    """Shows Outputs on the pump's thread; flushes and rates come from any.

    The last Output of a step is converted while the next step runs.

    Args:
        outlet: Where chunks go.
        gate: Whether anybody sees them.
        clock: The time.
        in_flight: What is on its way into the queue.

    Attributes:
        frames: Frames of the last chunk that was shown, which the next one is expected to have.
        pinned_fps: The author's rate; ``None`` while the measured one is used.
        in_flight: The same.
    """

    def __init__(
        self, outlet: HostOutlet, gate: Gate, clock: Clock, in_flight: ChunkInFlight
    ) -> None:
        self.frames = 1
        self.pinned_fps: float | None = None
        self.in_flight = in_flight
        self._outlet, self._gate, self._clock = outlet, gate, clock
        self._room = threading.Event()
        self._flushed_until: Place = (0, 0)
        self._owed_s = 0.0
        self._has_warned = False

    def show(self, result: CallResult, started_at: float) -> float:
        """Show what the ranks emitted in a call that began at *started_at*.

        Returns:
            Seconds spent waiting for room.

        Raises:
            RankDesync: The ranks' Outputs do not belong together.
            FrameError: The parts do not make a whole picture.
        """
        outputs = outputs_of(result)
        room_s = 0.0
        if not outputs:
            return room_s
        took_s = self._clock.now() - started_at + self._owed_s
        self._owed_s = 0.0
        self.in_flight.settle()
        # A step and the conversion of the chunk before run side by side: the slower sets the pace.
        measured_s = max(took_s, self.in_flight.took_s)
        for emitted in outputs:
            self._warn_of_stray(emitted)
            chunk = assemble(
                emitted,
                result,
                started_at=started_at,
                compute_s=measured_s / len(outputs),
                pinned_fps=self.pinned_fps,
            )
            place = place_of(emitted)
            if chunk is None or not self._is_wanted(place):
                continue
            self._settle_first()
            drop = emitted[0] is not None and emitted[0].drop
            began = self._clock.now()
            has_room = self._has_room(chunk, place, drop)
            room_s += self._clock.now() - began
            if has_room:
                self.frames = frames_in(chunk)
                self.in_flight.take(chunk, partial(self._is_wanted, place))
        return room_s

    def flush(self, until: Place) -> None:
        """Drop every Output of a place before *until*, from any thread."""
        self._flushed_until = max(self._flushed_until, until)
        self._outlet.flush()
        self.look_again()

    def set_fps(self, fps: float) -> None:
        """Pin the rate, from any thread."""
        self.pinned_fps = fps
        self._outlet.set_fps(fps)

    def look_again(self) -> None:
        """Let a chunk that waits for room look again, from any thread."""
        self._room.set()

    def _has_room(self, chunk: Chunk, place: Place, drop: bool) -> bool:
        while self._is_wanted(place):
            self._room.clear()
            if self._outlet.has_room(frames_in(chunk)):
                return True
            if drop:
                self._outlet.dropped(chunk)
                return False
            self._room.wait(_POLL_S)
        return False

    def _settle_first(self) -> None:
        """Wait for an Output of the same step; the next chunk bears the time."""
        began = self._clock.now()
        self.in_flight.settle()
        self._owed_s += self._clock.now() - began

    def _is_wanted(self, place: Place) -> bool:
        return self._gate.is_open and place >= self._flushed_until

    def _warn_of_stray(self, emitted: Sequence[Emitted | None]) -> None:
        if not self._has_warned and (rank := stray_rank(emitted)) is not None:
            self._has_warned = True
            advice = "emit it on the leader (self.is_leader), or as a Shard"
            log.warning("array_of_another_rank_dropped", rank=rank, advice=advice)
