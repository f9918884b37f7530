"""Occupancy: which session is live and who is in it, as far as a row of events has told."""

from dataclasses import dataclass, replace

from reactor_runtime.host.events import (
    ClientJoined,
    ClientLeft,
    ModelEvent,
    SessionEnded,
    SessionStarted,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """The state that events lead to; steps run only where ``is_open``.

    Attributes:
        session_id: The live session.
        clients: The ids of its clients.
    """

    session_id: str | None = None
    clients: frozenset[str] = frozenset()

    @property
    def is_open(self) -> bool:
        """Whether a session is live and has a client."""
        return self.session_id is not None and bool(self.clients)

    def without_clients(self) -> "Occupancy":
        """Return the same session with nobody in it."""
        return replace(self, clients=frozenset())

    def after(self, event: ModelEvent) -> "Occupancy":
        """Return the occupancy after *event*; itself where the event does not touch it."""
        match event:
            case SessionStarted(session_id=session_id):
                return Occupancy(session_id=session_id)
            case SessionEnded(session_id=session_id) if session_id == self.session_id:
                return Occupancy()
            case ClientJoined(client_id=client_id) if self.session_id is not None:
                return replace(self, clients=self.clients | {client_id})
            case ClientLeft(client_id=client_id) if client_id in self.clients:
                return replace(self, clients=self.clients - {client_id})
        return self

    def drops_at(self, event: ModelEvent) -> bool:
        """Whether *event* ends the session or takes its last client."""
        return self.is_open and not self.after(event).is_open
