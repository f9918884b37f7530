"""LateGate: how late a step may start so that its frame is fresh and still in time.

    step_at                                   put        deadline
       │◄── lead: a high mark of start→put ──►│◄─ margin ─►│  the queue runs dry here

The lead is the second longest of the last hundred steps: one long step in a hundred is bad luck and
costs one late frame, two are the model's nature and are waited for. What is rarer but comes back is
learned from its harm: a second late frame within two hundred steps sets a floor under the lead; it
holds for some steps, and longer each time it turns out to have been lifted too early.
"""

from collections import deque
from dataclasses import dataclass
from heapq import nlargest

_REMEMBERED_STEPS = 100
_MARGIN_S = 0.003
_HARMLESS_S = 0.001  # nobody sees a frame that is this late
_RECENT_STEPS = 200
_FIRST_HOLD = 64
_LONGEST_HOLD = 512
_FLOOR_DECAY = 0.98
_FLOOR_GONE_S = 0.001
_WAKE_UP_S = 0.05  # a step that starts later than this after its gate waited for something else


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReading:
    """What one queued chunk tells the gate.

    Attributes:
        started_at: Monotonic seconds at which its step began.
        queued_at: Monotonic seconds at which it was queued.
        late_s: Seconds by which the queue had run dry, 0 when it had not.
        horizon_s: Seconds that a full queue lasts: no lead beyond it helps.
    """

    started_at: float
    queued_at: float
    late_s: float
    horizon_s: float


class LateGate:
    """Learns how long steps take, and says when the next one may start."""

    def __init__(self) -> None:
        self._took: deque[float] = deque(maxlen=_REMEMBERED_STEPS)
        self._floor = 0.0
        self._hold = _FIRST_HOLD
        self._held = 0
        self._since_late = _RECENT_STEPS
        self._late_took = 0.0
        self._grant: float | None = None

    @property
    def lead(self) -> float:
        """Seconds a step is given."""
        usual = nlargest(2, self._took)[-1] if self._took else 0.0
        return max(usual, self._floor)

    def start_at(self, deadline: float, now: float) -> float:
        """Return when a step may start whose chunk is wanted at *deadline* (monotonic seconds)."""
        start = deadline - self.lead - _MARGIN_S
        if start > now:
            self._grant = start
        return start

    def withdraw(self) -> None:
        """Forget the last answer: the deadline it was made for is gone."""
        self._grant = None

    def note(self, reading: GateReading) -> None:
        """Learn from one queued chunk."""
        begun, gated = reading.started_at, False
        if self._grant is not None and self._grant <= begun <= self._grant + _WAKE_UP_S:
            begun, gated = self._grant, True
        self._grant = None
        took = min(reading.queued_at - begun, reading.horizon_s)
        self._took.append(took)
        self._since_late += 1
        if gated and reading.late_s > _HARMLESS_S:
            self._learn_from_harm(took)
        else:
            self._lower_floor()

    def _learn_from_harm(self, took: float) -> None:
        if self._floor:
            self._hold = min(2 * self._hold, _LONGEST_HOLD)
        if self._floor or self._since_late < _RECENT_STEPS:
            self._floor = max(self._floor, took, self._late_took)
            self._held = self._hold
        self._since_late, self._late_took = 0, took

    def _lower_floor(self) -> None:
        if self._held > 0:
            self._held -= 1
        elif self._floor > _FLOOR_GONE_S:
            self._floor *= _FLOOR_DECAY
        else:
            self._floor, self._hold = 0.0, _FIRST_HOLD
