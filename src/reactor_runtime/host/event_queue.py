"""EventQueue: what was posted and not begun, in the order of posting, and who awaits an answer."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.events import CommandCalled, ModelEvent
from reactor_runtime.host.occupancy import Occupancy


class EventQueue:
    """Posted to from any thread, taken from by the model's own.

    A command counts as unanswered from its posting until it is withdrawn or ``settle`` is called
    for it, which is true exactly once: whoever gets ``True`` answers.

    Args:
        on_post: Called, on the posting thread, after each post.
    """

    def __init__(self, on_post: Callable[[], None]) -> None:
        self._on_post = on_post
        self._lock = threading.Lock()
        self._pending: OrderedDict[int, ModelEvent] = OrderedDict()
        self._calls: dict[int, tuple[int, CommandCalled]] = {}
        self._posted = 0
        self._expected = Occupancy()
        self._drops: set[int] = set()
        self._closed: str | None = None

    @property
    def mark(self) -> int:
        """The number of the newest event; what is posted later has a higher one."""
        return self._posted

    @property
    def will_drop(self) -> bool:
        """Whether an event is pending that ends the session or takes its last client."""
        return bool(self._drops)

    @property
    def expects_clients(self) -> bool:
        """Whether, once everything pending is applied, a session has a client."""
        return self._expected.is_open

    def __len__(self) -> int:
        return len(self._pending)

    def post(self, event: ModelEvent) -> bool:
        """Append *event* and return whether it ends the session or takes its last client.

        Raises:
            HostClosedError: The queue is closed.
        """
        with self._lock:
            if self._closed is not None:
                raise HostClosedError(self._closed)
            self._posted += 1
            self._pending[self._posted] = event
            if isinstance(event, CommandCalled):
                self._calls[event.call_id] = (self._posted, event)
            is_drop = self._expected.drops_at(event)
            if is_drop:
                self._drops.add(self._posted)
            self._expected = self._expected.after(event)
        self._on_post()
        return is_drop

    def take(self, mark: int) -> ModelEvent | None:
        """Take the oldest event up to *mark*; ``None`` when none is left."""
        with self._lock:
            number = next(iter(self._pending), None)
            if number is None or number > mark:
                return None
            self._drops.discard(number)
            return self._pending.pop(number)

    def withdraw(self, call_id: int) -> bool:
        """Take back a command; ``True`` when it had not begun, so that nobody answers it."""
        with self._lock:
            number, _ = self._calls.get(call_id, (0, None))
            if self._pending.pop(number, None) is None:
                return False
            del self._calls[call_id]
            return True

    def settle(self, call_id: int) -> bool:
        """Note that a command is being answered; ``False`` when it was already, or withdrawn."""
        with self._lock:
            return self._calls.pop(call_id, None) is not None

    def close(self, reason: str) -> list[CommandCalled]:
        """Refuse further events, forget the pending ones; settle and return unanswered calls."""
        with self._lock:
            self._closed = self._closed or reason
            self._pending.clear()
            self._drops.clear()
            unanswered = [call for _, call in self._calls.values()]
            self._calls.clear()
            return unanswered
