"""Tally: the counters that every frame and command moves, looked up once."""

from reactor_runtime.metrics import Metrics
from reactor_runtime.wire.channel import Channel

_OUTCOMES = (
    "ok",
    "message",
    "coalesced",
    "invalid_command",
    "unresolved_upload",
    "internal_error",
    "superseded",
    "overloaded",
    "session_ended",
)
_AUTHORS_OWN = "refused_by_author"


class Tally:
    """Counts what passes between clients and a session.

    Looking a labelled counter up costs more than decoding a command; a flood pays it ten thousand
    times a second.

    Args:
        metrics: The figures of this server.
    """

    def __init__(self, metrics: Metrics) -> None:
        self.sent = {c: metrics.messages_sent.labels(c.value) for c in Channel}
        self.received = {c: metrics.messages_received.labels(c.value) for c in Channel}
        self._answered = {o: metrics.commands.labels(o) for o in (*_OUTCOMES, _AUTHORS_OWN)}
        self._dropped = metrics.messages_dropped

    def answered(self, outcome: str) -> None:
        """Count one answered command; the codes that authors choose count as one."""
        self._answered.get(outcome, self._answered[_AUTHORS_OWN]).inc()

    def dropped(self, reason: str) -> None:
        """Count one frame or message that went nowhere."""
        self._dropped.labels(reason).inc()
