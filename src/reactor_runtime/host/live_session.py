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
        steps_left: How many more steps it is to have; ``None`` for as many as come.
        refused: Steps that ``process_input`` refused.
    """

    session_id: str
    began: float
    steps_left: int | None = None
    next_step: int = 0
    refused: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether it has had all its steps."""
        return self.steps_left == 0

    def count_step(self) -> bool:
        """Count a step towards the limit, and return whether it was the last one."""
        if self.steps_left is None or self.is_complete:
            return False
        self.steps_left -= 1
        return self.is_complete


class Gate:
    """Open while a session with a client and steps left is live, and nothing is about to end it."""

    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self.occupancy = Occupancy()
        self.session: LiveSession | None = None
        self.is_stopping = False

    @property
    def is_open(self) -> bool:
        """Whether a step may run and an emission counts."""
        session = self.session  # asked several times in every turn: no property is called twice
        has_steps = session is None or session.steps_left != 0
        return has_steps and self.occupancy.is_open and not self.is_closing

    @property
    def is_closing(self) -> bool:
        """Whether what waits inside a step must give up: the end of its session is pending."""
        return self.is_stopping or self._queue.will_drop
