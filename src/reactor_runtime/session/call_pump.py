"""CallPump: from the clients' queues to the host, in order, and no faster than each client may."""

from collections.abc import Callable

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.events import CommandCalled, ModelEvent
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.session.call_queue import CallQueue
from reactor_runtime.session.client import Client
from reactor_runtime.session.wiring import Wiring

_PUMP_S = 0.005


class CallPump:
    """Keeps a queue for each client that has called, and posts what they hold.

    Args:
        host: Where events are posted.
        wiring: Limits, time and tasks.
        on_refused: Called with the id of a command that the host does not take any more.
    """

    def __init__(self, host: ModelHost, wiring: Wiring, on_refused: Callable[[int], None]) -> None:
        self._host, self._wiring, self._on_refused = host, wiring, on_refused
        self._queues: dict[Client, CallQueue] = {}
        self._is_pumping = False

    def queue_of(self, client: Client) -> CallQueue:
        """Return the queue of *client*, a new one at its first call."""
        queue = self._queues.get(client)
        if queue is None:
            now = self._wiring.clock.now()
            queue = self._queues[client] = CallQueue(self._wiring.settings, now)
        return queue

    def find(self, client: Client) -> CallQueue | None:
        """Return the queue of *client*; ``None`` when it never called, has left, or it is over."""
        return self._queues.get(client)

    def advance(self, queue: CallQueue, *, is_free: bool = False) -> None:
        """Post what *queue* holds up to a place that is empty, as far as its client may.

        Args:
            queue: What one client waits for.
            is_free: Its client awaits no other answer, so that no bound holds its call back.
        """
        now = self._wiring.clock.now()
        while queue.has_next:
            if not queue.bucket.take(now) and not is_free:
                self._start()
                return
            if (event := queue.take_next()) is not None:
                self._post(event)

    def finish(self, client: Client) -> None:
        """Post what *client* has held and forget its queue.

        A place that is empty stays so: what was to come most likely went with its sender.
        """
        queue = self._queues.pop(client, None)
        for event in queue.take_rest() if queue else ():
            self._post(event)

    def clear(self) -> None:
        """Forget every queue."""
        self._queues.clear()

    def _post(self, event: ModelEvent) -> None:
        try:
            self._host.post(event)
        except HostClosedError:
            if isinstance(event, CommandCalled):
                self._on_refused(event.call_id)

    def _start(self) -> None:
        if not self._is_pumping:
            self._is_pumping = True
            self._wiring.tasks.spawn(self._pump(), "command_pump")

    async def _pump(self) -> None:
        try:
            while any(queue.has_next for queue in self._queues.values()):
                await self._wiring.clock.sleep_until(self._wiring.clock.now() + _PUMP_S)
                for queue in tuple(self._queues.values()):
                    self.advance(queue)
        finally:
            self._is_pumping = False
