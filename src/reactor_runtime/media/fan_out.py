"""FanOut: the encoded frames of one rendition of a track, and who gets them.

    lane's thread ── post ──► one call on the event loop ──► every sink

The lane encodes only while somebody is subscribed and the loop keeps up. It stops *before* the
encoder when it does not, so the stream stays whole: nobody needs a key frame afterwards.
"""

import asyncio
import threading
from collections.abc import Callable

from reactor_runtime.clock import Clock
from reactor_runtime.loop_calls import call_soon
from reactor_runtime.media.encoded_frame import EncodedFrame
from reactor_runtime.media.key_requests import KeyRequests
from reactor_runtime.media.subscription import Subscription

FrameSink = Callable[[EncodedFrame], None]


class FanOut:
    """Subscriptions come and go on the event loop; a lane posts from its thread.

    Args:
        changed: The pacer's condition: guards the key requests, wakes the lane.
        clock: Monotonic time.
        most_undelivered: Frames the event loop may be behind; then no more are made.
    """

    def __init__(
        self, changed: threading.Condition, *, clock: Clock, most_undelivered: int = 8
    ) -> None:
        self._changed = changed
        self._clock = clock
        self._keys = KeyRequests()
        self._sinks: dict[Subscription, FrameSink] = {}
        self._waiting: set[Subscription] = set()
        self._left_at: float | None = None
        self._most_undelivered = most_undelivered
        self._posted = 0
        self._delivered = 0

    # --- the event loop's side ---

    @property
    def viewers(self) -> int:
        """How many are subscribed."""
        return len(self._sinks)

    def subscribe(self, sink: FrameSink, *, urgent: bool = True) -> Subscription:
        """Send frames to *sink* from the next key frame on, which is asked for at once.

        Not *urgent*: it has pictures, and waits as one that sends a PLI.
        """
        subscription = Subscription(self._request_key, self._close)
        self._sinks[subscription] = sink
        self._waiting.add(subscription)
        self._request_key(subscription, urgent)
        return subscription

    def _request_key(self, who: Subscription, urgent: bool) -> None:
        if who not in self._sinks:
            return
        with self._changed:
            self._keys.ask(who, self._clock.now(), urgent=urgent)
            self._changed.notify_all()

    def _close(self, who: Subscription) -> None:
        if self._sinks.pop(who, None) is None:
            return
        self._waiting.discard(who)
        with self._changed:
            self._keys.forget(who)
            if not self._sinks:
                self._left_at = self._clock.now()
            self._changed.notify_all()

    def _deliver(self, frame: EncodedFrame) -> None:
        was_clogged = self.is_clogged
        self._delivered += 1
        if was_clogged:
            with self._changed:  # a key frame that was owed can be made now
                self._changed.notify_all()
        if frame.is_key and self._waiting:
            with self._changed:
                for who in self._waiting:
                    self._keys.settle(who)
            self._waiting.clear()
        for who, sink in list(self._sinks.items()):
            if who not in self._waiting:
                sink(frame)

    # --- the lane's side ---

    @property
    def key_due(self) -> float | None:
        """Monotonic seconds at which a key frame is owed.

        ``None`` when nobody asked, or while none can be made.
        """
        with self._changed:
            return self._keys.due if self._sinks and not self.is_clogged else None

    @property
    def is_clogged(self) -> bool:
        """Whether the event loop is behind by so many frames that no more may be made."""
        return self._posted - self._delivered >= self._most_undelivered

    def idle_at(self, idle_s: float) -> float | None:
        """Return when its encoder may close, ``None`` while somebody is subscribed."""
        return None if self._sinks or self._left_at is None else self._left_at + idle_s

    def note_key(self) -> None:
        """Note that a key frame was made: all who asked are served by it."""
        with self._changed:
            self._keys.made(self._clock.now())

    def post(self, frame: EncodedFrame, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver *frame* by one call on *loop*; a closed loop gets nothing."""
        self._posted += 1
        call_soon(loop, self._deliver, frame)
