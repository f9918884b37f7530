"""HostTurn: whose turn it is, the model's or the test's; and what the model waits for.

    the test lets go ──► the host asks, computes, emits … ──► it says what time it waits for
           ▲                                                                │
           └──────────── the test moves the clock there ◄───────────────────┘

A host that has nothing to do but wait says so by the questions it asks of its outlet: when may a
step start, is there room. A body that takes no turns may ask nothing at all.
"""

import threading

from reactor_runtime.host.host_settings import IDLE_PAUSE_S


class HostTurn:
    """Written by the host's threads, read by the test's loop.

    Attributes:
        is_stepping: A step runs.
        wants_at: Monotonic seconds the host waits for; ``None`` where no time helps, or where it
            has not said.
        has_spoken: It has said what it waits for since it was let go.
        takes_turns: It has asked for a step in this session, or nobody knows yet.
    """

    def __init__(self) -> None:
        self.is_stepping = self.has_spoken = False
        self.takes_turns = True
        self.wants_at: float | None = None
        self._lock = threading.Lock()
        self._is_open = self._may_step = self._was_offered = False

    def let_go(self, *, may_step: bool) -> None:
        """Let the host go on; what it said before counts no more."""
        with self._lock:
            self._is_open, self._may_step = True, may_step
            self.has_spoken, self.wants_at = False, None

    def hold(self) -> None:
        """Let no further step begin."""
        with self._lock:
            self._is_open = False

    def reset(self) -> None:
        """Forget the session."""
        with self._lock:
            self.is_stepping = self._was_offered = False
            self.takes_turns = True
            self.wants_at = None

    def ask_to_step(self, at: float, now: float) -> bool:
        """Note that the host would begin a step, as early as *at*; returns whether it may."""
        with self._lock:
            self.takes_turns = True
            if not self._is_open:
                return False
            self.has_spoken = True
            was_offered, self._was_offered = self._was_offered, False
            if not self._may_step:
                return False
            if at > now:
                self.wants_at = at
            elif was_offered:  # it could have, and asks again: it pauses
                self.wants_at = now + IDLE_PAUSE_S
            else:
                self.has_spoken, self._was_offered = False, True
            return True

    def wait_for_room(self, at: float | None) -> None:
        """Note that an emission waits until *at*."""
        with self._lock:
            self.has_spoken, self.wants_at = True, at

    def emit(self) -> None:
        """Note that something was emitted; what emits outside a step takes no turns."""
        with self._lock:
            self.has_spoken, self.wants_at = False, None
            self.takes_turns = self.takes_turns and self.is_stepping

    def begin_step(self) -> None:
        """Note that a step runs."""
        with self._lock:
            self.is_stepping, self._was_offered = True, False

    def end_step(self) -> None:
        """Note that none runs."""
        with self._lock:
            self.is_stepping = False
