"""Lane: a thread that waits for media time and sends what is due.

sleep on ``changed`` ──► take what is due (holding it) ──► encode and post (not holding it)
"""

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from reactor_runtime.clock import Clock
from reactor_runtime.log import get_logger
from reactor_runtime.media.pacer import Pacer

_JOIN_S = 2.0
_AFTER_FAILURE_S = 0.1

log = get_logger(__name__)

Work = Callable[[asyncio.AbstractEventLoop], None]


class Encoding(Protocol):
    """An encoder's life, as far as the thread that uses it looks after it."""

    @property
    def closes_at(self) -> float | None:
        """Monotonic seconds at which the encoder should close, ``None`` while it is of use."""
        ...

    def close(self) -> None:
        """Close the encoder, if it is open."""
        ...


class Lane(ABC):
    """One media thread. A life of its own: ``start``, ``tell_to_stop``, ``join``, once each."""

    def __init__(
        self, name: str, pacer: Pacer, encodings: Sequence[Encoding], clock: Clock
    ) -> None:
        self._pacer = pacer
        self._to_close = encodings
        self._clock = clock
        self._thread = threading.Thread(target=self._run, name=f"reactor-{name}", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_stopping = False

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the thread; what it makes is delivered on *loop*."""
        self._loop = loop
        self._thread.start()

    def tell_to_stop(self) -> None:
        """Let the thread end after what it does now."""
        with self._pacer.changed:
            self._is_stopping = True
            self._pacer.changed.notify_all()

    def join(self) -> None:
        """Wait, for two seconds at most, until the thread has ended."""
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)
        if self._thread.is_alive():
            log.error("media_thread_stuck", thread=self._thread.name)

    @abstractmethod
    def take(self, now: float) -> Work | None:
        """Return the work that is due, ``None`` if there is none. Called holding ``changed``."""

    @abstractmethod
    def dues(self) -> Sequence[float | None]:
        """Return when work will be due, ``None`` for what only a change can bring."""

    def wakes_at(self, now: float) -> float | None:
        """Close what is of no use any more; return when there will be something to do."""
        for encoding in self._to_close:
            if (closes_at := encoding.closes_at) is not None and closes_at <= now:
                encoding.close()
        closings = (encoding.closes_at for encoding in self._to_close)
        return min((at for at in (*self.dues(), *closings) if at is not None), default=None)

    def _run(self) -> None:
        assert self._loop is not None
        while not self._is_stopping:
            try:
                if (work := self._wait()) is not None:
                    work(self._loop)
            except Exception:  # top of a thread: one frame is lost, not all
                log.exception("media_work_failed", thread=self._thread.name)
                time.sleep(_AFTER_FAILURE_S)  # what failed may be due again at once
        for encoding in self._to_close:
            encoding.close()

    def _wait(self) -> Work | None:
        with self._pacer.changed:
            while not self._is_stopping:
                now = self._clock.now()
                work = self.take(now)
                room_at = self._pacer.announce_room(now)
                if work is not None:
                    return work
                times = [at for at in (self.wakes_at(now), room_at) if at is not None]
                self._pacer.changed.wait(max(0.0, min(times) - now) if times else None)
        return None
