"""Occupancy: which session is live and who is in it, as far as a row of events has told."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from reactor_runtime.host.events import (
    MAX_MESSAGE_BYTES,
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
        clients: Its clients by id, each with the largest frame it takes, in bytes.
    """

    session_id: str | None = None
    clients: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether a session is live and has a client."""
        return self.session_id is not None and bool(self.clients)

    def takes_bytes(self, client_id: str | None) -> int:
        """Return the largest frame that *client_id* takes, or of all clients the most patient."""
        if client_id is None:
            return max(self.clients.values(), default=MAX_MESSAGE_BYTES)
        return self.clients.get(client_id, MAX_MESSAGE_BYTES)

    def without_clients(self) -> "Occupancy":
        """Return the same session with nobody in it."""
        return replace(self, clients={})

    def after(self, event: ModelEvent) -> "Occupancy":
        """Return the occupancy after *event*; itself where the event does not touch it."""
        match event:
            case SessionStarted(session_id=session_id):
                return Occupancy(session_id=session_id)
            case SessionEnded(session_id=session_id) if session_id == self.session_id:
                return Occupancy()
            case ClientJoined(client_id=client_id) if self.session_id is not None:
                return replace(self, clients={**self.clients, client_id: event.max_message_bytes})
            case ClientLeft(client_id=client_id) if client_id in self.clients:
                left = {who: size for who, size in self.clients.items() if who != client_id}
                return replace(self, clients=left)
        return self

    def drops_at(self, event: ModelEvent) -> bool:
        """Whether *event* ends the session or takes its last client."""
        return self.is_open and not self.after(event).is_open
