"""LiveSession and Gate: the session that is live, and whether the model may show things."""

from dataclasses import dataclass

from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.occupancy import Occupancy


@dataclass(slots=True, eq=False)
class LiveSession:
    """The session that is live.

    Attributes:
        session_id: Its id.
        began: Monotonic seconds.
        next_step: The number the next step takes.
        refused: Steps that ``process_input`` refused.
    """

    session_id: str
    began: float
    next_step: int = 0
    refused: int = 0


class Gate:
    """Open while a session is live, has a client, and nothing pending is about to end that."""

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self.occupancy = Occupancy()
        self.session: LiveSession | None = None
        self.is_stopping = False

    @property
    def is_open(self) -> bool:
        """Whether a step may run and an emission counts."""
        return self.occupancy.is_open and not self.is_closing

    @property
    def is_closing(self) -> bool:
        """Whether what waits inside a step must give up: the end of its session is pending."""
        return self.is_stopping or self._queue.will_drop
