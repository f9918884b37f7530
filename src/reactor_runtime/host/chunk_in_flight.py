"""ChunkInFlight: the one chunk that is converted while the ranks make the next."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from reactor_runtime.clock import Clock
from reactor_runtime.host.chunk_of import frames_in
from reactor_runtime.host.host_outlet import Chunk, HostOutlet


class ChunkInFlight:
    """Belongs to the thread that calls the ranks. Until a chunk has landed its slot is held.

    A chunk waits for its conversion until the ranks know what to do next: a core that is busy with
    it when they wake would not take one of them, and two ranks would share another for a while.

    Args:
        outlet: Where chunks go.
        clock: The time.
        on_landed: Called, on another thread, when a chunk is in the queue or will never be.
        is_beside: Whether it is; else it lands before ``take`` returns.

    Attributes:
        took_s: Seconds that the last conversion took.
    """

    def __init__(
        self,
        outlet: HostOutlet,
        clock: Clock,
        on_landed: Callable[[], None],
        *,
        is_beside: bool = True,
    ) -> None:
        self._outlet, self._clock, self._on_landed = outlet, clock, on_landed
        self._is_beside = is_beside
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="convert")
        self._waiting: Callable[[], float] | None = None
        self._landing: Future[float] | None = None
        self._frames = 0
        self.took_s = self._spent_s = 0.0

    @property
    def frames(self) -> int:
        """Frames that are on their way into the queue."""
        is_over = self._landing is None or self._landing.done()
        return 0 if is_over and self._waiting is None else self._frames

    def take(self, chunk: Chunk, wanted: Callable[[], bool]) -> None:
        """Let the one before land, and keep *chunk* for ``start``."""
        self.settle()
        self._frames = frames_in(chunk)
        self._waiting = partial(self._land, chunk, wanted)
        if not self._is_beside:
            self.settle()

    def start(self) -> None:
        """Convert the chunk that waits, and queue it if it is wanted still; idempotent."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._landing = self._thread.submit(waiting)
            self._landing.add_done_callback(lambda _: self._on_landed())

    def settle(self) -> None:
        """Return once nothing is in flight.

        Raises:
            Exception: What the conversion raised.
        """
        self.start()
        landing, self._landing = self._landing, None
        if landing is not None:
            self.took_s = landing.result()
            self._spent_s += self.took_s

    def take_seconds(self) -> float:
        """Return, and forget, the seconds that conversions took which are over."""
        if self._landing is not None and self._landing.done():
            self.settle()
        spent_s, self._spent_s = self._spent_s, 0.0
        return spent_s

    def close(self) -> None:
        """Let what is in flight land, and end the thread. Idempotent."""
        self.start()
        self._thread.shutdown()

    def _land(self, chunk: Chunk, wanted: Callable[[], bool]) -> float:
        began = self._clock.now()
        self._outlet.put(chunk, wanted)
        return self._clock.now() - began
